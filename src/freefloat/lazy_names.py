"""Names of a package that are loaded when they are first used: the stub beside its `__init__.py` lists them, once."""

import ast
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(
    package: str, file: str, renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the imports in its `__init__.pyi`.

    `renamed` maps names of the version before to dotted names within the package: they work, and warn.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    before = dict(renamed or {})

    def get(name: str) -> Any:
        home = homes.get(name)
        if home == package:
            return import_module(f"{package}.{name}")
        if home is not None:
            return getattr(import_module(home), name)
        if name in before:
            new = f"{package}.{before[name]}"
            warnings.warn(f"{package}.{name} is now {new}.", FutureWarning, stacklevel=2)
            found: Any = import_module(package)
            for word in before[name].split("."):
                found = getattr(found, word)
            return found
        raise AttributeError(f"{package} has no '{name}'. Names: {', '.join(sorted(homes))}.")

    return get, lambda: sorted(homes), sorted(homes)
