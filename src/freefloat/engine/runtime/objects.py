"""What objects are made of: the functions inside wrappers, the fields of classes, the state of instances."""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections.abc import Mapping
from functools import cache
from typing import Any

from .origins import is_known

_HEAP_TYPE = 1 << 9  # flag of classes that were made at run time, as Python's own are
_DESCRIPTORS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)


def wrapped_parts(x: Any) -> tuple[Any, ...]:
    """What makes up a wrapper around functions."""
    if isinstance(x, types.MethodType):
        return x.__func__, x.__self__
    if isinstance(x, functools.partial):
        return x.func, x.args, x.keywords
    if isinstance(x, (staticmethod, classmethod)):
        return (x.__func__,)
    if isinstance(x, property):
        return (x.fget, x.fset)
    if isinstance(x, _DESCRIPTORS):
        return x.__objclass__.__qualname__, x.__name__
    if type(x).__name__ == "_tuplegetter":
        return x.__reduce__()[1]
    if isinstance(x, functools.cached_property):
        return (x.func,)
    if type(x).__name__ in ("_lru_cache_wrapper", "PjitFunction"):
        return (x.__wrapped__,)
    if isinstance(x, (types.GenericAlias, types.UnionType)) or type(x).__module__ == "typing":
        return ("type", repr(x))
    return ()


def is_public(f: types.FunctionType) -> bool:
    """Whether a decorated function is what a known package itself offers under its name."""
    if not is_known(f.__module__ or ""):
        return False
    found: Any = sys.modules.get(f.__module__)
    for name in f.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is f


def field_facts(cls: type) -> Mapping[str, tuple[str, bool]]:
    """Fields of a dataclass: how they are typed, and whether they are static."""
    if not dataclasses.is_dataclass(cls):
        return {}
    return {f.name: (str(f.type), bool(f.metadata.get("static"))) for f in dataclasses.fields(cls)}


def state_of(x: Any) -> dict[str, Any] | None:
    """What an object holds, without what it computes from that and keeps; None if some of it is out of sight in C."""
    classes = [cls for cls in type(x).__mro__ if cls not in (object, tuple, list, dict)]
    slots = [cls.__dict__["__slots__"] for cls in classes if "__slots__" in cls.__dict__]
    if not all(cls.__flags__ & _HEAP_TYPE for cls in classes) or not (hasattr(x, "__dict__") or slots):
        return None
    names = [name for some in slots for name in ((some,) if isinstance(some, str) else some)]
    held = {name: getattr(x, name) for name in names if hasattr(x, name) and name not in ("__dict__", "__weakref__")}
    held |= getattr(x, "__dict__", {})
    return {name: value for name, value in held.items() if name not in _computed(type(x))}


def has_computed(x: Any) -> bool:
    """Whether an object keeps something that it has computed, from data that may have been others."""
    return not _computed(type(x)).isdisjoint(getattr(x, "__dict__", ()))


@cache
def _computed(kind: type) -> frozenset[str]:
    """Names of what a class computes once from the rest, and keeps."""
    kept = (functools.cached_property,)
    return frozenset(name for cls in kind.__mro__ for name, value in cls.__dict__.items() if isinstance(value, kept))
