"""Caches of JAX, functools and records, which go by identity and not by content: stale where something has changed.

JAX traces a named function (a branch of `lax.cond`, the body of `lax.scan`, a `jax.jit`) only once. If something that
it reads has changed since, tracing again still gives the old code.
"""

from __future__ import annotations

import sys
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from .fingerprint import ReachedObjects, fingerprint
from .objects import content_of
from .origins import InspectionError

_traced: WeakSet[Any] = WeakSet()  # functions and classes that JAX may have cached
_answers: WeakKeyDictionary[Any, str] = (
    WeakKeyDictionary()
)  # fingerprints of functions with a cache, taken when it was empty


def clear_jax_caches(reached: ReachedObjects | None = None) -> None:
    """Clear the caches of JAX before tracing, if they may contain an object that was reached (None: they may)."""
    ours = () if reached is None else (*reached.functions, *reached.classes, *reached.jitted)
    known = reached is None or any(own in _traced for own in ours) or any(f._cache_size() for f in reached.jitted)
    _traced.update(ours)
    if known and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


def clear_record_caches(reached: ReachedObjects) -> None:
    """Clear the cached values of frozen records before tracing, so that they follow from the fields in the fingerprint.

    A frozen record can still be changed, by `object.__setattr__` or in one of its arrays.
    """
    for record in reached.keepers:
        held = content_of(record)
        for name in held.kept if held else ():
            record.__dict__.pop(name, None)


def require_fresh_answers(reached: ReachedObjects) -> None:
    """Raise an error for functions under `functools.cache` whose cached results may be those of other code."""
    for function in reached.caches:
        now = fingerprint(function.__wrapped__)
        if function.cache_info().currsize == 0:
            _answers[function] = now
        if _answers.get(function) != now:
            raise InspectionError(
                f"{function.__qualname__}, whose cached answers may be from before; call its cache_clear()"
            )
