"""Names of a package that are loaded when they are first used, and names of the version before, which warn."""

import ast
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(
    package: str, file: str, renamed: Mapping[str, str] | None = None, *, calls: int = 3
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose names stand in the stub beside its `__init__.py`."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    get_renamed = renamed_names(package, renamed or {}, calls=calls)

    def get(name: str) -> Any:
        if name in (renamed or {}):
            return get_renamed(name)
        if name not in homes:
            raise AttributeError(f"{package} has no '{name}'. Names: {', '.join(sorted(homes))}.")
        home = homes[name]
        return import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)

    return get, lambda: sorted(homes), sorted(homes)


def renamed_names(package: str, renamed: Mapping[str, str], *, calls: int = 2) -> Callable[[str], Any]:
    """`__getattr__` of a package whose names of the version before work for one version, and warn.

    `renamed` maps them to the dotted names, without `freefloat.`, that they have now; `calls`: how far up the user is.
    """

    def get(name: str) -> Any:
        if name not in renamed:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        home, _, new = f"freefloat.{renamed[name]}".rpartition(".")
        warnings.warn(f"{package}.{name} is now {home}.{new}.", FutureWarning, stacklevel=calls)
        return getattr(import_module(home), new)

    return get
