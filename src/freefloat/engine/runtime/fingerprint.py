"""A hash of everything that a function's meaning depends on, found without calling or tracing it.

Data goes by its bytes, the user's functions and classes by their code, defaults, closures and the globals that they
name, installed packages by their version and this one by its source. What cannot be seen through (a clock, a file, a
random generator, a C object) raises `Unseen`: such code is traced again each time.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import hashlib
import struct
import sys
import sysconfig
import types
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

OWN_PACKAGE = __name__.partition(".")[0]
# Of the standard library: modules whose functions depend on nothing but their arguments.
_PURE_MODULES = {
    *("abc", "builtins", "cmath", "collections", "contextlib", "copy", "copyreg", "dataclasses", "enum", "fractions"),
    *("functools", "itertools", "math", "numbers", "operator", "statistics", "string", "types", "typing", "warnings"),
    *("weakref", "__future__"),
}
_IMPURE_BUILTINS = {"open", "input", "eval", "exec", "compile", "globals", "locals", "vars", "__import__", "id"}


_HEAP_TYPE = 1 << 9  # flag of classes that were made at run time, as Python's own are
_PLAIN = {type(None), bool, int, str, bytes, complex}


class Unseen(Exception):
    """Something that a function depends on and that cannot be seen through; says what."""


def fingerprint(*things: Any) -> str:
    """A hash of functions, classes and data with all that they reach."""
    walk = _Walk()
    walk.add("python", sys.version_info[:3], *(f"{name} {_version_of(name)}" for name in ("jax", "numpy")))
    for thing in things:
        walk.see(thing)
    return walk.digest.hexdigest()


@cache
def package_source() -> str:
    """A hash of this package's own source."""
    digest, root = hashlib.sha256(), Path(sys.modules[OWN_PACKAGE].__file__ or __file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@cache
def _version_of(package: str) -> str:
    """What a package's content is known by; raises Unseen for one without a version."""
    if package == OWN_PACKAGE:
        return package_source()
    module = sys.modules.get(package)
    version = getattr(module, "__version__", None)
    if not isinstance(version, str):
        from importlib import metadata

        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise Unseen(f"package '{package}', which has no version") from None
    return version


@cache
def _site_directories() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({paths["purelib"], paths["platlib"]} | {p for p in sys.path if p.endswith("-packages")})


@cache
def _is_installed(module: str) -> bool:
    """Whether a module is part of this package, or of an installed one: then its version stands for its code."""
    package = module.partition(".")[0]
    if package == OWN_PACKAGE:
        return True
    where = getattr(sys.modules.get(package), "__file__", None) or getattr(sys.modules.get(module), "__file__", None)
    if where is None:  # a package without a file of its own
        where = next(iter(getattr(sys.modules.get(package), "__path__", ())), "")
    return where.startswith(_site_directories())


@lru_cache(maxsize=4096)
def _names_in(code: types.CodeType) -> tuple[tuple[str, ...], ...]:
    """Dotted names of globals that code reads, such as ('np', 'linalg', 'solve'); inner functions included."""
    found: dict[tuple[str, ...], None] = {}
    chain: tuple[str, ...] = ()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            if chain:
                found[chain] = None
            chain = (str(step.argval),)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain:
            chain = (*chain, str(step.argval))
        elif step.opname not in ("CACHE", "PUSH_NULL", "EXTENDED_ARG", "RESUME"):
            if chain:
                found[chain] = None
            chain = ()
        if step.opname == "IMPORT_NAME":
            found["__import__", str(step.argval)] = None
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= dict.fromkeys(_names_in(inner))
    return tuple(found)


class _Walk:
    """Follows references and digests what it meets; what it has met before is named by its number."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._met: dict[int, tuple[int, Any]] = {}

    def add(self, *words: Any) -> None:
        """Digest words, each told apart from the next."""
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            self.digest.update(struct.pack("q", len(data)) + data)

    def see(self, x: Any) -> None:
        """Digest anything."""
        if type(x) in _PLAIN:
            self.add(type(x).__name__, x)
        elif type(x) is float:
            self.add("float", struct.pack("d", x))
        elif isinstance(x, (np.ndarray, np.generic)):
            self._array(x)
        elif type(x) in (tuple, list):
            self._sequence(x)
        elif id(x) in self._met:
            self.add("met", self._met[id(x)][0])
        else:
            self._met[id(x)] = len(self._met), x  # kept: a number must stay that of the same thing
            self._compound(x)

    def _sequence(self, x: Sequence[Any]) -> None:
        self.add(type(x).__name__, len(x))
        for entry in x:
            self.see(entry)

    def _array(self, x: Any) -> None:
        array = np.asarray(x)
        if array.dtype.hasobject:
            raise Unseen("an array of Python objects")
        self.add("array", array.dtype.str, array.shape, array.tobytes())

    def _compound(self, x: Any) -> None:
        if isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, type):
            self._class(x)
        elif isinstance(x, (dict, types.MappingProxyType)):
            self.add("dict", len(x))
            for key, value in x.items():
                self.see(key)
                self.see(value)
        elif isinstance(x, (set, frozenset)):
            self.add("set", *sorted(fingerprint(entry) for entry in x))
        elif isinstance(x, types.ModuleType):
            self._whole_module(x)
        elif isinstance(x, enum.Enum):
            self.see(type(x))
            self.add(x.name)
        elif isinstance(x, (types.BuiltinFunctionType, np.ufunc)):
            self._builtin(x)
        elif isinstance(x, np.dtype):
            self.add("dtype", x.str)
        elif isinstance(x, (range, slice, type(Ellipsis), type(NotImplemented))):
            self.add(repr(x))
        elif parts := _wrapped(x):
            self.add(type(x).__qualname__)
            for part in parts:
                self.see(part)
        else:
            self._instance(x)

    # ---- code

    def _function(self, f: types.FunctionType) -> None:
        code, module = f.__code__, f.__module__ or ""
        self.add("function", f.__qualname__)
        if _is_installed(module):
            self._package(module)
            if "<l" not in f.__qualname__:  # neither a lambda nor made inside another function: its version says all
                return
            self.add(code.co_firstlineno)  # lambdas share their names
        elif module in sys.stdlib_module_names:
            self._standard(module)
        else:
            self._code(code)
            for name in _names_in(code):
                self._global(f, name)
        self.see(f.__defaults__)
        self.see(f.__kwdefaults__)
        for cell in f.__closure__ or ():
            try:
                self.see(cell.cell_contents)
            except ValueError:  # not filled yet
                self.add("empty cell")

    def _code(self, code: types.CodeType) -> None:
        self.add(code.co_code, code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        self.add(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self.see(constant)

    def _global(self, f: types.FunctionType, name: tuple[str, ...]) -> None:
        """A global that code reads, through modules down to what is read of them."""
        first, *rest = name
        if first == "__import__":
            if rest[0] not in sys.modules:
                raise Unseen(f"`import {rest[0]}` inside {f.__qualname__}; import at the top of the file")
            self._whole_module(sys.modules[rest[0]])
            return
        if first in f.__globals__:
            x = f.__globals__[first]
        elif hasattr(__import__("builtins"), first):
            if first in _IMPURE_BUILTINS:
                raise Unseen(f"{first}(), which {f.__qualname__} calls")
            return
        else:
            self.add("no global", first)
            return
        while isinstance(x, types.ModuleType) and rest:
            attribute = rest.pop(0)
            if not hasattr(x, attribute):
                self.add("no attribute", attribute)
                return
            x = getattr(x, attribute)
        self.add("global", *name)
        try:
            self.see(x)
        except Unseen as why:
            raise Unseen(f"{'.'.join(name)} in {f.__qualname__}: {why}") from None

    def _whole_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        if _is_installed(name):
            self._package(name)
        elif name in sys.stdlib_module_names:
            self._standard(name)
        else:
            raise Unseen(f"module '{name}', which is handed about as a whole")

    def _builtin(self, f: Any) -> None:
        owner = getattr(f, "__self__", None)
        module = getattr(f, "__module__", None) or (owner.__name__ if isinstance(owner, types.ModuleType) else "")
        if isinstance(owner, types.ModuleType) or owner is None:
            if module in sys.stdlib_module_names or module.partition(".")[0] in sys.stdlib_module_names:
                self._standard(module)
            self.add("builtin", module, f.__name__)
        else:
            self.add("method", f.__name__)
            self.see(owner)

    def _standard(self, module: str) -> None:
        if module.partition(".")[0].lstrip("_") not in _PURE_MODULES and module not in _PURE_MODULES:
            raise Unseen(f"module '{module}', which may answer differently each time")
        self.add("standard", module)

    def _package(self, module: str) -> None:
        package = module.partition(".")[0]
        self.add("package", module, _version_of(package))

    # ---- classes and what is made of them

    def _class(self, cls: type) -> None:
        module = cls.__module__
        self.add("class", module if module != "__main__" else "", cls.__qualname__)
        if _is_installed(module):
            self._package(module)
            return
        if module in sys.stdlib_module_names:
            self._standard(module)
            return
        for base in cls.__bases__:
            self.see(base)
        for name, (kind, static) in _fields(cls).items():
            self.add("field", name, kind, static)
        for name, value in cls.__dict__.items():
            if not _is_generated(name, value):
                self.add(name)
                self.see(value)

    def _instance(self, x: Any) -> None:
        own = getattr(x, "__fingerprint__", None)
        if isinstance(own, str):
            self.add("known", own)
            return
        kind = type(x)
        if kind.__module__.partition(".")[0] in ("jaxlib", "jax") and hasattr(x, "__array__"):
            self._jax_array(x)
            return
        state = _state_of(x)
        if state is None:
            raise Unseen(f"an object of {kind.__module__}.{kind.__qualname__}, whose content cannot be seen")
        self.see(kind)
        if isinstance(x, (tuple, list)):
            self._sequence(x)
        elif isinstance(x, dict):
            self.see(dict(x))
        self.add("state", len(state))
        for name, value in state.items():
            self.add(name)
            self.see(value)

    def _jax_array(self, x: Any) -> None:
        try:
            self._array(np.asarray(x))
        except Exception as error:
            raise Unseen(f"a value that JAX is tracing ({type(error).__name__})") from None


def _wrapped(x: Any) -> tuple[Any, ...]:
    """What makes up a wrapper around functions."""
    if isinstance(x, types.MethodType):
        return x.__func__, x.__self__
    if isinstance(x, functools.partial):
        return x.func, x.args, x.keywords
    if isinstance(x, (staticmethod, classmethod)):
        return (x.__func__,)
    if isinstance(x, property):
        return (x.fget, x.fset)
    if isinstance(x, functools.cached_property):
        return (x.func,)
    if type(x).__name__ in ("_lru_cache_wrapper", "PjitFunction"):
        return (x.__wrapped__,)
    if isinstance(x, (types.GenericAlias, types.UnionType)) or type(x).__module__ == "typing":
        return ("type", repr(x))
    return ()


def _is_generated(name: str, value: Any) -> bool:
    """Whether Python put this into a class, rather than somebody who wrote it; dataclasses make functions too."""
    if isinstance(value, types.FunctionType):
        return value.__code__.co_filename == "<string>"
    return name == "_abc_impl" or (name.startswith("__") and name.endswith("__"))


def _fields(cls: type) -> Mapping[str, tuple[str, bool]]:
    """Fields of a dataclass: how they are typed, and whether they are static."""
    if not dataclasses.is_dataclass(cls):
        return {}
    return {f.name: (str(f.type), bool(f.metadata.get("static"))) for f in dataclasses.fields(cls)}


def _state_of(x: Any) -> dict[str, Any] | None:
    """What an object holds, without what it computes from that and keeps; None if some of it is out of sight in C."""
    classes = [cls for cls in type(x).__mro__ if cls not in (object, tuple, list, dict)]
    slots = [cls.__dict__["__slots__"] for cls in classes if "__slots__" in cls.__dict__]
    if not all(cls.__flags__ & _HEAP_TYPE for cls in classes) or not (hasattr(x, "__dict__") or slots):
        return None
    names = [name for some in slots for name in ((some,) if isinstance(some, str) else some)]
    held = {name: getattr(x, name) for name in names if hasattr(x, name) and name not in ("__dict__", "__weakref__")}
    held |= getattr(x, "__dict__", {})
    return {name: value for name, value in held.items() if name not in _computed(type(x))}


@cache
def _computed(kind: type) -> frozenset[str]:
    """Names of what a class computes once from the rest, and keeps."""
    kept = (functools.cached_property,)
    return frozenset(name for cls in kind.__mro__ for name, value in cls.__dict__.items() if isinstance(value, kept))
