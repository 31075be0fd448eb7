"""Names of a package that are loaded when they are first used: its stub `__init__.pyi` lists them."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from freefloat.renamed import RENAMED, renamed_names


def lazy_names(
    package: str, file: str, *, calls: int = 3
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose names stand in the stub beside its `__init__.py`."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    get_renamed = renamed_names(package, calls=calls)

    def get(name: str) -> Any:
        if name in homes:
            home = homes[name]
            return import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
        if f"{package}.{name}".removeprefix("freefloat.") in RENAMED:
            return get_renamed(name)
        raise AttributeError(f"{package} has no '{name}'. Names: {', '.join(sorted(homes))}.")

    return get, lambda: sorted(homes), sorted(homes)
