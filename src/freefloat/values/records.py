"""Immutable records that JAX can trace through: numbers are leaves, topology is static."""

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar, dataclass_transform

import jax

from freefloat.values.quiet_fields import passed_on, quiet, quiet_names, seal_quiet_fields
from freefloat.values.short_text import record_text

T = TypeVar("T")


def static(default: Any = dataclasses.MISSING, *, kw_only: bool = False) -> Any:
    """Mark a field of a record as topology: it is compared and hashed, never traced."""
    return dataclasses.field(default=default, metadata={"static": True}, kw_only=kw_only)


@dataclass_transform(frozen_default=True, field_specifiers=(static, quiet, dataclasses.field))
def record(cls: type[T]) -> type[T]:
    """Make a frozen dataclass and register it as a pytree.

    Rebuilding a record from leaves bypasses `__init__`, because JAX also puts placeholders into leaves. Quiet
    fields are passed on sealed. Its `repr` is one line without arrays, unless the class has one of its own.
    """
    cls = seal_quiet_fields(dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls))
    if cls.__repr__ is object.__repr__:
        cls.__repr__ = record_text
    fields = dataclasses.fields(cls)  # pyright: ignore[reportArgumentType]
    leaves = tuple(f.name for f in fields if not f.metadata.get("static"))
    sealed = quiet_names(cls)
    statics = tuple(f.name for f in fields if f.metadata.get("static") and f.name not in sealed)
    keys = tuple(jax.tree_util.GetAttrKey(name) for name in leaves)

    def static_values(self: Any) -> tuple[Any, ...]:
        return (*(getattr(self, n) for n in statics), *(passed_on(self, n) for n in sealed))

    def flatten(self: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(getattr(self, n) for n in leaves), static_values(self)

    def flatten_with_keys(self: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        children, aux = flatten(self)
        return tuple(zip(keys, children, strict=True)), aux

    def unflatten(aux: tuple[Any, ...], children: Iterable[Any]) -> Any:
        self = object.__new__(cls)
        for name, value in zip(leaves + statics + sealed, tuple(children) + tuple(aux), strict=True):
            object.__setattr__(self, name, value)
        return self

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls
