"""A hash of everything that a function's meaning depends on, found without calling or tracing it.

Data goes by its bytes, the user's functions and classes by their code, defaults, closures and the globals that they
name, packages of mathematics by their version and this one by its source. What cannot be seen through (a clock, a file,
a random generator, a C object) raises `Unseen`: such code is traced again each time.
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

from .objects import attributes_of, field_facts, has_computed, held_by, is_frozen, is_public, wrapped_parts
from .origins import (
    IMPURE_BUILTINS,
    Unseen,
    is_known,
    is_standard,
    may_change,
    require_pure,
    require_repeatable,
    version_of,
)
from .texts import READERS, constants_of, texts_of

_PLAIN = {type(None), bool, int, bytes, complex}
# What Python puts into a class without anybody having written it, or what changes no answer unless code reads it.
_BOOKKEEPING = {
    *("__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__qualname__", "__weakref__"),
    *("__abstractmethods__", "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__orig_bases__"),
    *("__parameters__", "__slotnames__", "__slots__", "__static_attributes__", "_abc_impl"),
}
_CHECKERS = ("jaxtyping", "beartype")  # they look at types, and change no answer


@dataclasses.dataclass
class Reached:
    """What a fingerprint came by on its way: the user's own functions and classes, and those that remember answers."""

    functions: list[types.FunctionType] = dataclasses.field(default_factory=list)
    classes: list[type] = dataclasses.field(default_factory=list)
    caches: list[Any] = dataclasses.field(default_factory=list)  # of functools
    jitted: list[Any] = dataclasses.field(default_factory=list)
    keepers: list[Any] = dataclasses.field(default_factory=list)  # frozen records that keep what they have computed


def fingerprint(*things: Any) -> str:
    """A hash of functions, classes and data with all that they reach."""
    return fingerprint_and_reach(*things)[0]


def fingerprint_and_reach(*things: Any) -> tuple[str, Reached]:
    """The hash, and what of the user's own was met."""
    found = look_at(*things)
    return found.digest, found.reached


@dataclasses.dataclass
class Print:
    """A hash, what of the user's own was met, and the quiet parts that were left out (see `quiet`)."""

    digest: str
    reached: Reached
    parts: list[Any]


def look_at(*things: Any, quiet: bool = False) -> Print:
    """A hash of things, without quiet parts inside what permits it (`__quiet_inside__`), or everywhere."""
    walk = _Walk(quiet)
    walk.add("python", sys.version_info[:3], *(f"{name} {version_of(name)}" for name in ("jax", "numpy")))
    try:
        for thing in things:
            walk.see(thing)
        walk.finish()
    except Unseen:
        raise
    except Exception as error:  # an object that does not want to be looked at, or is nested too deeply
        raise Unseen(f"something that cannot be looked at ({type(error).__name__}: {error})") from None
    return Print(walk.digest.hexdigest(), walk.reached, walk.parts)


@lru_cache(maxsize=4096)
def _names_in(code: types.CodeType) -> tuple[tuple[str, ...], ...]:
    """Dotted names of globals that code reads, such as ('np', 'linalg', 'solve'); inner functions included."""
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


class _Walk:
    """Follows references and digests what it meets; what it has met before is named by its number."""

    def __init__(self, quiet: bool = False) -> None:
        self.digest = hashlib.sha256()
        self.reached = Reached()
        self.parts: list[Any] = []  # quiet ones, left out
        self._quiet = quiet  # whether they are, here
        self._met: dict[tuple[int, bool], tuple[int, Any]] = {}
        self._described: list[Any] = []  # functions and classes with texts that code may read
        self._reads_texts = False

    def add(self, *words: Any) -> None:
        """Digest words, each told apart from the next."""
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            self.digest.update(struct.pack("q", len(data)) + data)

    def finish(self) -> None:
        """Digest docstrings and annotations of all that was met, if something that was met reads such."""
        described = 0
        while self._reads_texts and described < len(self._described):  # texts may lead to further classes
            self.see(texts_of(self._described[described]))
            described += 1

    def see(self, x: Any) -> None:
        """Digest anything."""
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
            self._met[key] = len(self._met), x  # kept: a number must stay that of the same thing
            self._compound(x)

    def _sequence(self, x: Sequence[Any]) -> None:
        self.add(type(x).__name__, len(x))
        for entry in x:
            self.see(entry)

    def _array(self, x: Any) -> None:
        array = np.asarray(x)
        if array.dtype.hasobject:
            raise Unseen("an array of Python objects")
        self.add("array", repr(array.dtype), array.shape, array.tobytes())

    def _compound(self, x: Any) -> None:
        if isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, type):
            self._class(x)
        elif type(x) in (dict, types.MappingProxyType, OrderedDict, defaultdict):
            self.add(type(x).__name__, len(x))
            self.see(getattr(x, "default_factory", None))
            for key, value in x.items():
                self.see(key)
                self.see(value)
        elif type(x) in (set, frozenset):
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
        elif type(x) is object or isinstance(x, (range, slice, type(Ellipsis), type(NotImplemented))):
            self.add("object" if type(x) is object else repr(x))  # a bare object is a mark, and says nothing
        elif parts := wrapped_parts(x):
            self._remembers(x)
            self.see(type(x))
            for part in parts:
                self.see(part)
            self.see(attributes_of(x))
        else:
            self._instance(x)

    # ---- code

    def _remembers(self, x: Any) -> None:
        """Note functions that keep answers."""
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
            self.see(f.__dict__["__wrapped__"])
            return
        if is_known(home):
            self._package(home)
            if "<l" not in code.co_qualname:  # neither a lambda nor made inside another function: its version says all
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
        self.see(f.__defaults__)
        self.see(f.__kwdefaults__)
        copied = getattr(f.__dict__.get("__wrapped__"), "__dict__", {})
        self.see({k: v for k, v in f.__dict__.items() if k not in copied and not k.startswith("__")})
        for cell in f.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not filled yet
                self.add("empty cell")
                continue
            if isinstance(content, types.ModuleType) and (names := may_change(code.co_names)):
                raise Unseen(f"{content.__name__}.{names[0]}, which {f.__qualname__} may call")
            self.see(content)

    def _code(self, code: types.CodeType) -> None:
        self.add(code.co_code, code.co_exceptiontable, code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        self.add(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._reads_texts |= not READERS.isdisjoint(code.co_names)
        for constant in constants_of(code):
            if isinstance(constant, types.CodeType):
                self._code(constant)
            else:
                self.see(constant)

    def _global(self, f: types.FunctionType, name: tuple[str, ...]) -> None:
        """A global that code reads, through modules down to what is read of them."""
        first, *rest = name
        if first == "__import__":
            if rest[0] not in sys.modules or len(rest) > 1:
                raise Unseen(f"`import {rest[0]}` inside {f.__qualname__}; import at the top of the file")
            self._whole_module(sys.modules[rest[0]])
            return
        if first in f.__globals__:
            x = f.__globals__[first]
        elif hasattr(__import__("builtins"), first):
            if first in IMPURE_BUILTINS:
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
            require_repeatable(x, name)
            self.see(x)
        except Unseen as why:
            raise Unseen(f"{'.'.join(name)} in {f.__qualname__}: {why}") from None

    def _whole_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        if is_known(name):
            self._package(name)
        elif is_standard(name):
            self._standard(name)
        else:
            raise Unseen(f"module '{name}', which is handed about as a whole")

    def _builtin(self, f: Any) -> None:
        owner = getattr(f, "__self__", None)
        module = getattr(f, "__module__", None) or (owner.__name__ if isinstance(owner, types.ModuleType) else "")
        if isinstance(owner, types.ModuleType) or owner is None:
            if is_standard(module):
                self._standard(module)
            elif not is_known(module):
                raise Unseen(f"{module}.{f.__name__}, which is not written in Python")
            self.add("builtin", module, f.__name__)
        else:
            self.add("method", f.__name__)
            self.see(owner)

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
        self.see(type(cls))
        for base in cls.__bases__:
            self.see(base)
        for name, facts in field_facts(cls).items():
            self.add("field", name)
            self.see(facts)
        for name, value in cls.__dict__.items():
            if name not in _BOOKKEEPING:
                self.add(name)
                self.see(value)

    def _instance(self, x: Any) -> None:
        kind, before = type(x), self._quiet
        if before and hasattr(kind, "__quiet__"):
            self.see(kind)
            self.parts.append(x)
            return
        tells = is_frozen(kind) or not has_computed(x)  # whether tracing opens what its answer was made from
        self._quiet = (before or getattr(kind, "__quiet_inside__", False)) and tells
        try:
            self._content(x, kind)
        finally:
            self._quiet = before

    def _content(self, x: Any, kind: type) -> None:
        if hasattr(kind, "__fingerprint__"):  # says itself what it consists of
            self.see(kind)
            self.see(x.__fingerprint__())
            return
        if kind.__module__.partition(".")[0] in ("jaxlib", "jax") and hasattr(x, "__array__"):
            self._jax_array(x)
            return
        held = held_by(x)
        if held is None:
            raise Unseen(f"an object of {kind.__module__}.{kind.__qualname__}, whose content cannot be seen")
        self.see(kind)
        if isinstance(x, (tuple, list)):
            self._sequence(x)
        elif isinstance(x, dict):
            self.see(dict(x))
        state = held.state
        if held.kept and is_frozen(kind):
            self.reached.keepers.append(x)  # computed anew before tracing, from the fields that are seen here
        elif held.kept:  # the fields may have changed since: code will read what is kept
            state = state | held.kept
        self.add("state", len(state))
        for name, value in state.items():
            self.add(name)
            self.see(value)

    def _jax_array(self, x: Any) -> None:
        try:
            self._array(np.asarray(x))
        except Exception as error:
            raise Unseen(f"a value that JAX is tracing ({type(error).__name__})") from None
