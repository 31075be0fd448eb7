"""A hash of everything that a function's meaning depends on, found without calling or tracing it.

The hash contains the bytes of data; code, defaults, closures and named globals of the user's functions and classes; the
version of packages of mathematics; and the source of this package. What cannot be inspected (a clock, a file, a random
generator, a C object) raises an error: such code is traced again each time.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import hashlib
import struct
import sys
import types
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .objects import attributes_of, content_of, field_facts, has_computed, is_frozen, is_public, wrapped_parts
from .origins import (
    IMPURE_BUILTINS,
    InspectionError,
    is_known,
    is_standard,
    may_change,
    require_pure,
    require_repeatable,
    version_of,
)
from .texts import READERS, constants_of, texts_of

_PLAIN = {type(None), bool, int, bytes, complex}
# Attributes that Python itself puts into a class, or that change no result unless code reads them.
_BOOKKEEPING = {
    *("__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__qualname__", "__weakref__"),
    *("__abstractmethods__", "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__orig_bases__"),
    *("__parameters__", "__slotnames__", "__slots__", "__static_attributes__", "_abc_impl"),
}
_CHECKERS = ("jaxtyping", "beartype")  # they check types, and change no result


@dataclasses.dataclass
class ReachedObjects:
    """Objects that a fingerprint reached: the user's own functions and classes, and those that cache results."""

    functions: list[types.FunctionType] = dataclasses.field(default_factory=list)
    classes: list[type] = dataclasses.field(default_factory=list)
    caches: list[Any] = dataclasses.field(default_factory=list)  # of functools
    jitted: list[Any] = dataclasses.field(default_factory=list)
    keepers: list[Any] = dataclasses.field(default_factory=list)  # frozen records with cached values


def fingerprint(*things: Any) -> str:
    """Hash of functions, classes and data with all objects that they reach."""
    return fingerprint_and_reach(*things)[0]


def fingerprint_and_reach(*things: Any) -> tuple[str, ReachedObjects]:
    """Hash of functions, classes and data, and the user's own objects among those that they reach."""
    found = full_fingerprint(*things)
    return found.digest, found.reached


@dataclasses.dataclass
class FingerprintResult:
    """A hash, the user's own objects that it covers, and the quiet parts that were left out (see `quiet`)."""

    digest: str
    reached: ReachedObjects
    parts: list[Any]


def full_fingerprint(*things: Any, quiet: bool = False) -> FingerprintResult:
    """Hash of objects, without quiet parts in classes that permit it (`__quiet_inside__`) or, with `quiet`, in all."""
    walk = _FingerprintWalk(quiet)
    walk.add("python", sys.version_info[:3], *(f"{name} {version_of(name)}" for name in ("jax", "numpy")))
    try:
        for thing in things:
            walk.add_value(thing)
        walk.finish()
    except InspectionError:
        raise
    except Exception as error:  # an object that raises errors when inspected, or is nested too deeply
        raise InspectionError(f"something that cannot be looked at ({type(error).__name__}: {error})") from None
    return FingerprintResult(walk.digest.hexdigest(), walk.reached, walk.parts)


@lru_cache(maxsize=4096)
def _names_in(code: types.CodeType) -> tuple[tuple[str, ...], ...]:
    """Dotted names of globals that code and its inner functions read, such as ('np', 'linalg', 'solve')."""
    found: dict[tuple[str, ...], None] = {}
    chain: tuple[str, ...] = ()
    level: Any = 0
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
        if step.opname == "LOAD_CONST" and isinstance(step.argval, int):
            level = step.argval  # of an import that may come next: how many dots
        if step.opname == "IMPORT_NAME":
            found["__import__", "." * level + str(step.argval), *may_change(code.co_names)] = None
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= dict.fromkeys(_names_in(inner))
    return tuple(found)


class _FingerprintWalk:
    """Follows references and digests the objects reached; an object reached before is represented by its number."""

    def __init__(self, quiet: bool = False) -> None:
        self.digest = hashlib.sha256()
        self.reached = ReachedObjects()
        self.parts: list[Any] = []  # quiet parts that were left out
        self._quiet = quiet  # whether quiet parts are left out here
        self._met: dict[tuple[int, bool], tuple[int, Any]] = {}
        self._described: list[Any] = []  # functions and classes with texts that code may read
        self._reads_texts = False

    def add(self, *words: Any) -> None:
        """Digest words, each with its length to separate it from the next."""
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            self.digest.update(struct.pack("q", len(data)) + data)

    def finish(self) -> None:
        """Digest docstrings and annotations of all objects reached, if one of these reads such texts."""
        described = 0
        while self._reads_texts and described < len(self._described):  # texts may lead to further classes
            self.add_value(texts_of(self._described[described]))
            described += 1

    def add_value(self, x: Any) -> None:
        """Digest a value with all objects that it refers to."""
        if type(x) is str:
            self.add("str", x)
            self._reads_texts |= x in READERS
        elif type(x) in _PLAIN:
            self.add(type(x).__name__, x)
        elif type(x) is float:
            self.add("float", struct.pack("d", x))
        elif type(x) is np.ndarray or isinstance(x, np.generic):
            self._array(x)
        elif type(x) in (tuple, list):
            self._sequence(x)
        elif (key := (id(x), self._quiet)) in self._met:
            self.add("met", self._met[key][0])
        else:
            self._met[key] = len(self._met), x  # kept so that no other object gets its identity
            self._compound(x)

    def _sequence(self, x: Sequence[Any]) -> None:
        self.add(type(x).__name__, len(x))
        for entry in x:
            self.add_value(entry)

    def _array(self, x: Any) -> None:
        array = np.asarray(x)
        if array.dtype.hasobject:
            raise InspectionError("an array of Python objects")
        self.add("array", repr(array.dtype), array.shape, array.tobytes())

    def _compound(self, x: Any) -> None:
        if isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, type):
            self._class(x)
        elif type(x) in (dict, types.MappingProxyType, OrderedDict, defaultdict):
            self.add(type(x).__name__, len(x))
            self.add_value(getattr(x, "default_factory", None))
            for key, value in x.items():
                self.add_value(key)
                self.add_value(value)
        elif type(x) in (set, frozenset):
            self.add("set", *sorted(fingerprint(entry) for entry in x))
        elif isinstance(x, types.ModuleType):
            self._whole_module(x)
        elif isinstance(x, enum.Enum):
            self.add_value(type(x))
            self.add(x.name)
        elif isinstance(x, (types.BuiltinFunctionType, np.ufunc)):
            self._builtin(x)
        elif isinstance(x, np.dtype):
            self.add("dtype", x.str)
        elif type(x) is object or isinstance(x, (range, slice, type(Ellipsis), type(NotImplemented))):
            self.add("object" if type(x) is object else repr(x))  # a bare object has no content
        elif parts := wrapped_parts(x):
            self._note_cache(x)
            self.add_value(type(x))
            for part in parts:
                self.add_value(part)
            self.add_value(attributes_of(x))
        else:
            self._instance(x)

    # ---- code

    def _note_cache(self, x: Any) -> None:
        """Note the user's functions that cache results."""
        if is_known(getattr(x, "__module__", None) or ""):
            return
        if type(x).__name__ == "PjitFunction":
            self.reached.jitted.append(x)
        elif type(x).__name__ == "_lru_cache_wrapper":
            self.reached.caches.append(x)

    def _function(self, f: types.FunctionType) -> None:
        code, home = f.__code__, str(f.__globals__.get("__name__") or "")
        self.add("function", code.co_qualname, f.__name__)
        self._reads_texts |= code.co_name in READERS
        if home.startswith(_CHECKERS) and "__wrapped__" in f.__dict__:
            self.add_value(f.__dict__["__wrapped__"])
            return
        if is_known(home):
            self._package(home)
            if "<l" not in code.co_qualname:  # neither a lambda nor an inner function: the version is enough
                return
            if is_public(f):
                self._package(f.__module__)
                self.add(f.__qualname__)
                return
            self.add(code.co_firstlineno)  # lambdas share their names
        elif is_standard(home):
            self._standard(home)
        else:
            self.reached.functions.append(f)
            self._code(code)
            for name in _names_in(code):
                self._global(f, name)
        self._described.append(f)
        self.add_value(f.__defaults__)
        self.add_value(f.__kwdefaults__)
        copied = getattr(f.__dict__.get("__wrapped__"), "__dict__", {})
        self.add_value({k: v for k, v in f.__dict__.items() if k not in copied and not k.startswith("__")})
        for cell in f.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not filled yet
                self.add("empty cell")
                continue
            if isinstance(content, types.ModuleType) and (names := may_change(code.co_names)):
                raise InspectionError(f"{content.__name__}.{names[0]}, which {f.__qualname__} may call")
            self.add_value(content)

    def _code(self, code: types.CodeType) -> None:
        self.add(code.co_code, code.co_exceptiontable, code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        self.add(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._reads_texts |= not READERS.isdisjoint(code.co_names)
        for constant in constants_of(code):
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self.add_value(constant)

    def _global(self, f: types.FunctionType, name: tuple[str, ...]) -> None:
        """Digest a global that code reads; of modules only the attribute that is read."""
        first, *rest = name
        if first == "__import__":
            if rest[0] not in sys.modules or len(rest) > 1:
                raise InspectionError(f"`import {rest[0]}` inside {f.__qualname__}; import at the top of the file")
            self._whole_module(sys.modules[rest[0]])
            return
        if first in f.__globals__:
            x = f.__globals__[first]
        elif hasattr(__import__("builtins"), first):
            if first in IMPURE_BUILTINS:
                raise InspectionError(f"{first}(), which {f.__qualname__} calls")
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
            require_repeatable(x, name)
            self.add_value(x)
        except InspectionError as why:
            raise InspectionError(f"{'.'.join(name)} in {f.__qualname__}: {why}") from None

    def _whole_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        if is_known(name):
            self._package(name)
        elif is_standard(name):
            self._standard(name)
        else:
            raise InspectionError(f"module '{name}', which is handed about as a whole")

    def _builtin(self, f: Any) -> None:
        owner = getattr(f, "__self__", None)
        module = getattr(f, "__module__", None) or (owner.__name__ if isinstance(owner, types.ModuleType) else "")
        if isinstance(owner, types.ModuleType) or owner is None:
            if is_standard(module):
                self._standard(module)
            elif not is_known(module):
                raise InspectionError(f"{module}.{f.__name__}, which is not written in Python")
            self.add("builtin", module, f.__name__)
        else:
            self.add("method", f.__name__)
            self.add_value(owner)

    def _standard(self, module: str) -> None:
        require_pure(module)
        self.add("standard", module)

    def _package(self, module: str) -> None:
        self.add("package", module, version_of(module.partition(".")[0]))

    # ---- classes and what is made of them

    def _class(self, cls: type) -> None:
        module = cls.__module__
        self.add("class", module if module != "__main__" else "", cls.__qualname__)
        if is_known(module):
            self._package(module)
            if "<l" not in cls.__qualname__:
                return
        elif is_standard(module):
            self._standard(module)
            return
        self.reached.classes.append(cls)
        self._described.append(cls)
        self.add_value(type(cls))
        for base in cls.__bases__:
            self.add_value(base)
        for name, facts in field_facts(cls).items():
            self.add("field", name)
            self.add_value(facts)
        for name, value in cls.__dict__.items():
            if name not in _BOOKKEEPING:
                self.add(name)
                self.add_value(value)

    def _instance(self, x: Any) -> None:
        """Digest an object, or leave it out if it is a quiet part."""
        kind, before = type(x), self._quiet
        if before and hasattr(kind, "__quiet__"):
            self.add_value(kind)
            self.parts.append(x)
            return
        opens = is_frozen(kind) or not has_computed(x)  # whether tracing opens the fields behind its results
        self._quiet = (before or getattr(kind, "__quiet_inside__", False)) and opens
        try:
            self._content(x, kind)
        finally:
            self._quiet = before

    def _content(self, x: Any, kind: type) -> None:
        if hasattr(kind, "__fingerprint__"):  # its class defines its content
            self.add_value(kind)
            self.add_value(x.__fingerprint__())
            return
        if kind.__module__.partition(".")[0] in ("jaxlib", "jax") and hasattr(x, "__array__"):
            self._jax_array(x)
            return
        held = content_of(x)
        if held is None:
            raise InspectionError(f"an object of {kind.__module__}.{kind.__qualname__}, whose content cannot be seen")
        self.add_value(kind)
        if isinstance(x, (tuple, list)):
            self._sequence(x)
        elif isinstance(x, dict):
            self.add_value(dict(x))
        state = held.state
        if held.kept and is_frozen(kind):
            self.reached.keepers.append(x)  # computed again before tracing, from the fields digested here
        elif held.kept:  # the fields may have changed since: code will read the cached values
            state = state | held.kept
        self.add("state", len(state))
        for name, value in state.items():
            self.add(name)
            self.add_value(value)

    def _jax_array(self, x: Any) -> None:
        try:
            self._array(np.asarray(x))
        except Exception as error:
            raise InspectionError(f"a value that JAX is tracing ({type(error).__name__})") from None
