"""Content of objects: the functions inside wrappers, the fields of classes, the state of instances."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .origins import is_known

_HEAP_TYPE = 1 << 9  # flag of classes that were made at run time, as Python's own are
_NO_SLOTS = ("__dict__", "__weakref__")
_DESCRIPTORS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)


def wrapped_parts(x: Any) -> tuple[Any, ...]:
    """Parts of a wrapper around functions; empty for any other object."""
    if isinstance(x, types.MethodType):
        return x.__func__, x.__self__
    if isinstance(x, functools.partial):
        return x.func, x.args, x.keywords
    if isinstance(x, (staticmethod, classmethod)):
        return (x.__func__,)
    if isinstance(x, property):
        return (x.fget, x.fset, x.fdel)
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


def attributes_of(wrapper: Any) -> dict[str, Any]:
    """Attributes set on a wrapper or by its class, without those copied from the function inside."""
    if type(wrapper) is functools.cached_property:
        return {}
    inner = getattr(getattr(wrapper, "__wrapped__", None), "__dict__", {})
    outer = getattr(wrapper, "__dict__", None) or {}
    hidden = "_" if type(wrapper).__name__ == "PjitFunction" else "__"  # JAX keeps its own data there
    return {name: x for name, x in outer.items() if not name.startswith(hidden) and inner.get(name) is not x}


def is_public(f: types.FunctionType) -> bool:
    """Whether a decorated function is the one that a known package has under its name."""
    if not is_known(f.__module__ or ""):
        return False
    named: Any = sys.modules.get(f.__module__)
    for name in f.__qualname__.split("."):
        named = getattr(named, name, None)
    return named is f


def field_facts(cls: type) -> Mapping[str, tuple[Any, ...]]:
    """Fields that a dataclass declares, each with its type, its settings and its metadata."""
    fields = cls.__dict__.get("__dataclass_fields__", {})
    return {name: (str(f.type), f.init, f.kw_only, f.default, dict(f.metadata)) for name, f in fields.items()}


@dataclass
class ObjectContent:
    """Content of an object: its slots and attributes, and the cached values computed from them."""

    state: dict[str, Any]
    kept: dict[str, Any]


def content_of(x: Any) -> ObjectContent | None:
    """Content of an object; None if some of it cannot be inspected, in C or in hidden slots."""
    classes = [cls for cls in type(x).__mro__ if cls not in (object, tuple, list, dict)]
    if not all(cls.__flags__ & _HEAP_TYPE for cls in classes):
        return None
    slotted = [cls for cls in classes if "__slots__" in cls.__dict__]
    if not (hasattr(x, "__dict__") or slotted):
        return None
    held = ObjectContent({}, {})
    for cls in slotted:
        slots = {name: slot for name, slot in cls.__dict__.items() if isinstance(slot, types.MemberDescriptorType)}
        if any(name not in slots for name in _slot_names(cls)):
            return None
        for name, slot in slots.items():
            with contextlib.suppress(AttributeError):  # nothing is in it
                held.state[f"{cls.__qualname__}.{name}"] = slot.__get__(x)
    for name, value in getattr(x, "__dict__", {}).items():
        (held.kept if _is_computed(type(x), name) else held.state)[name] = value
    return held


def _slot_names(cls: type) -> list[str]:
    """Names of the slots of a class; Python puts the class's name before private ones."""
    slots = cls.__dict__["__slots__"]
    prefix = "_" + stripped if (stripped := cls.__name__.lstrip("_")) else ""
    names = [name for name in ((slots,) if isinstance(slots, str) else slots) if name not in _NO_SLOTS]
    return [prefix + name if name.startswith("__") and not name.endswith("__") else name for name in names]


def _is_computed(kind: type, name: str) -> bool:
    """Whether an attribute is a cached value that the class computes from others."""
    if name in getattr(kind, "__dataclass_fields__", ()):
        return False
    first = next((cls.__dict__[name] for cls in kind.__mro__ if name in cls.__dict__), None)
    return isinstance(first, functools.cached_property)


def is_frozen(kind: type) -> bool:
    """Whether a class is a frozen dataclass by its own decorator, so that its objects should not change."""
    return "__dataclass_params__" in kind.__dict__ and kind.__dict__["__dataclass_params__"].frozen


def has_computed(x: Any) -> bool:
    """Whether an object keeps cached values, which may come from earlier data."""
    return any(_is_computed(type(x), name) for name in getattr(x, "__dict__", ()))
