"""What JAX, functools and records remember, by who they are and not by what they say: old where something has changed.

JAX traces a function that it is given by name (a branch of `lax.cond`, the body of `lax.scan`, a `jax.jit`) once. If
something that it reads has changed since, tracing again still gives the old code.
"""

from __future__ import annotations

import sys
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from .fingerprint import Reached, fingerprint
from .objects import held_by
from .origins import Unseen

_traced: WeakSet[Any] = WeakSet()  # functions and classes that JAX may remember
_answers: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # functions with a cache: what they were when it was empty


def let_jax_forget(reached: Reached | None = None) -> None:
    """Before tracing: let JAX forget everything, if it may remember something of what was reached (None: it may)."""
    ours = () if reached is None else (*reached.functions, *reached.classes, *reached.jitted)
    known = reached is None or any(one in _traced for one in ours) or any(one._cache_size() for one in reached.jitted)
    _traced.update(ours)
    if known and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


def let_records_forget(reached: Reached) -> None:
    """Before tracing: let frozen records compute again what they keep, from the fields that their fingerprint saw.

    A frozen record can still be changed, by `object.__setattr__` or in one of its arrays.
    """
    for record in reached.keepers:
        held = held_by(record)
        for name in held.kept if held else ():
            record.__dict__.pop(name, None)


def require_fresh_answers(reached: Reached) -> None:
    """Refuse functions under `functools.cache` whose kept answers may be those of other code."""
    for one in reached.caches:
        now = fingerprint(one.__wrapped__)
        if one.cache_info().currsize == 0:
            _answers[one] = now
        if _answers.get(one) != now:
            raise Unseen(f"{one.__qualname__}, whose cached answers may be from before; call its cache_clear()")
