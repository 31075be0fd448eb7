"""Names of a package that are loaded when they are first used: its stub `__init__.pyi` lists them."""

import ast
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from freefloat.renamed import RENAMED, renamed_names


def close_name(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'simulate'?` with a space in front, or nothing where no known name is like it."""
    import difflib

    by_lower = {entry.lower(): entry for entry in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f" Did you mean '{by_lower[close[0]]}'?" if close else ""


def unknown_names(package: str, known: Iterable[str]) -> Callable[[str], Any]:
    """`__getattr__` of a package whose names are all there: an unknown one is answered by those that are."""

    def get(name: str) -> Any:
        if name.startswith("__"):  # Python and its tools ask for names that a package need not have
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        raise AttributeError(f"{package} has no '{name}'.{close_name(name, known)} Names: {', '.join(sorted(known))}.")

    return get


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
        raise AttributeError(f"{package} has no '{name}'.{close_name(name, homes)} Names: {', '.join(sorted(homes))}.")

    return get, lambda: sorted(homes), sorted(homes)
