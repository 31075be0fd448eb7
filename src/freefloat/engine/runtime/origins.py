"""Origin of code: packages known by their version, the standard library, or the user's own code."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

OWN_PACKAGE = __name__.partition(".")[0]
# Packages of mathematics: their version represents their code. All others are inspected, as the user's own are.
KNOWN_PACKAGES = {
    *(OWN_PACKAGE, "jax", "jaxlib", "numpy", "scipy", "ml_dtypes", "opt_einsum", "jaxtyping", "beartype", "equinox"),
    *("diffrax", "lineax", "optimistix", "optax"),
}
# Modules of the standard library whose functions depend only on their arguments.
_PURE_MODULES = {
    *("abc", "builtins", "cmath", "collections", "contextlib", "copy", "copyreg", "dataclasses", "enum", "fractions"),
    *("functools", "itertools", "math", "numbers", "operator", "statistics", "string", "types", "typing", "warnings"),
    *("weakref", "__future__"),
}
IMPURE_BUILTINS = {"open", "input", "eval", "exec", "compile", "globals", "locals", "vars", "__import__", "id"}
_READERS = (
    "read",
    "load",
    "open",
    "fromfile",
    "fromregex",
    "genfromtxt",
    "memmap",
)  # first part of names of functions that read files


class InspectionError(Exception):
    """Raised for something that a function depends on and that cannot be inspected; the message names it."""


@cache
def package_source() -> str:
    """Hash of this package's source, as it was when this module was imported."""
    return _source_now()


def _source_root() -> Path:
    return Path(sys.modules[OWN_PACKAGE].__file__ or __file__).parent


def _source_now() -> str:
    """Hash of this package's source as it is on disk."""
    digest, root = hashlib.sha256(), _source_root()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _file_stamps() -> tuple[Any, ...]:
    """Path, times and size of each of this package's files; they change with any change of a file."""
    found, folders = [], [os.fspath(_source_root())]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    f = entry.stat()
                    found.append((entry.path, f.st_mtime_ns, f.st_ctime_ns, f.st_ino, f.st_size))
                elif entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
    return tuple(sorted(found))


_seen_stamps = _file_stamps()  # before the hash: a file that changes in between is found later
_AT_IMPORT = package_source()


def is_source_unchanged() -> bool:
    """Whether the package on disk is still the one that was imported: an upgrade or an edit may have come since."""
    global _seen_stamps
    try:
        if (stamps := _file_stamps()) == _seen_stamps:
            return True
        if _source_now() != _AT_IMPORT:
            return False
    except OSError:  # a file that has just gone
        return False
    _seen_stamps = stamps  # the files have new times, and the same content
    return True


@cache
def version_of(package: str) -> str:
    """Version that represents a package's content; raises an error for a package without one."""
    if package == OWN_PACKAGE:
        return package_source()
    module = sys.modules.get(package)
    version = getattr(module, "__version__", None)
    if not isinstance(version, str):
        from importlib import metadata

        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise InspectionError(f"package '{package}', which has no version") from None
    return version


@cache
def _site_directories() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {paths["purelib"], paths["platlib"]} | {p for p in sys.path if p.endswith("-packages")}
    return tuple(os.path.join(place, "") for place in found)  # noqa: PTH118


@cache
def is_known(module: str) -> bool:
    """Whether a module is part of this package, or of an installed one whose version represents its code."""
    package = module.partition(".")[0]
    if package == OWN_PACKAGE:
        return True
    if package not in KNOWN_PACKAGES:
        return False
    where = getattr(sys.modules.get(package), "__file__", None) or getattr(sys.modules.get(module), "__file__", None)
    if where is None:  # a package without a file of its own
        where = next(iter(getattr(sys.modules.get(package), "__path__", ())), "")
    return where.startswith(_site_directories())


def is_standard(module: str) -> bool:
    """Whether a module is part of the standard library."""
    return module in sys.stdlib_module_names or module.partition(".")[0] in sys.stdlib_module_names


def require_pure(module: str) -> None:
    """Raise an error for a module of the standard library whose results may differ from call to call."""
    if module.partition(".")[0].lstrip("_") not in _PURE_MODULES and module not in _PURE_MODULES:
        raise InspectionError(f"module '{module}', which may answer differently each time")


def may_change(names: tuple[str, ...]) -> list[str]:
    """Names of functions that read files or draw random numbers, among names that code uses of a known package."""
    return [name for name in names if name == "random" or name.startswith(_READERS)]


def require_repeatable(x: Any, names: tuple[str, ...]) -> None:
    """Raise an error for an object of a known package that reads files or draws random numbers of its own."""
    module = x.__name__ if hasattr(x, "__path__") else str(getattr(x, "__module__", None) or "")
    if module.startswith("numpy.random"):
        raise InspectionError("random numbers of NumPy; use jax.random with a key")
    if is_known(module) and (found := [name for name in may_change(names) if name != "random"]):
        raise InspectionError(f"{found[0]}, which may read a file")
