"""Functions that run compiled when they are called with numbers, and stay JAX when they are traced.

What compiles them is found when it is first needed: the physics does not know it, and does without it where it is
missing.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

_COMPILER = "freefloat.engine"
_AT_ONCE = 4096  # rows that JAX handles together: bounds the memory
P = ParamSpec("P")
R = TypeVar("R")


def compile_function(function: Callable[..., Any], record: Any, *example: Any) -> Callable[..., Any] | None:
    """`function(record, *args)` compiled with the numbers of the record as inputs; None if it cannot be.

    The function must not close over the record.
    """
    engine: Any = importlib.import_module(_COMPILER)
    try:
        return engine.compile_varied(function, record, *example)
    except Exception as error:
        if engine.needs_numbers(error) or isinstance(error, engine.EngineError):
            return None
        raise


def over_rows(function: Callable[..., Any], record: Any, *shared: Any, rows: np.ndarray) -> np.ndarray:
    """`function(record, *shared, row)` for each row of an array, compiled where that is possible."""
    program: Any = compile_function(function, record, *shared, rows[0])
    if program is not None:
        return program.batch(*shared, rows, in_axes=(*[None] * len(shared), 0))
    some = min(_AT_ONCE, len(rows))
    every = jax.jit(lambda all_rows: jax.lax.map(lambda row: function(record, *shared, row), all_rows, batch_size=some))
    return np.asarray(every(rows))


def compiled_on_call(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function of a record and numbers run compiled when all of them are known.

    NumPy in, NumPy out; JAX arrays in, JAX arrays out. Code is compiled once for each record and shape of arguments,
    and found again by later processes. The record's arrays can no longer be written to: the code knows their numbers.
    """
    programs: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        asked = _Arguments(args, kwargs)
        if asked.traced or not args or not _is_searching():
            return function(*args, **kwargs)
        if not dataclasses.is_dataclass(args[0]):
            return function(*args, **kwargs)
        known = programs.get(args[0])
        if known is None:
            if not _freeze(args[0]):
                return function(*args, **kwargs)
            known = programs[args[0]] = {}
        key = tuple(asked.key)
        if key not in known:
            known[key] = compile_function(asked.with_words(function), args[0], *asked.numbers)
        program = known[key]
        if program is None:
            return function(*args, **kwargs)
        result = program(*asked.numbers)
        return jax.tree.map(jnp.asarray, result) if asked.jax_arrays else result

    return call


class _Arguments:
    """The arguments after the first, sorted: numbers that vary, and words that choose."""

    __slots__ = ("_words", "jax_arrays", "key", "names", "numbers", "traced")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.numbers: list[Any] = []
        self.key: list[Any] = []
        self.names: list[str | int] = []
        self._words: dict[str | int, Any] = {}
        self.traced = self.jax_arrays = False
        for place in range(1, len(args)):
            self._sort(place, args[place])
        for name, value in kwargs.items():
            self._sort(name, value)

    def _sort(self, name: str | int, x: Any) -> None:
        kind = type(x)
        if kind is np.ndarray:
            self._number(name, x)
        elif x is None or kind in (str, bool, int) or _is_words(x):
            self._words[name] = x
            self.key.append((name, kind, x))
        elif isinstance(x, (Tracer, list, tuple)) and not all(map(_is_number, jax.tree.leaves(x))):
            self.traced = True
        elif kind in (float, list, tuple) or isinstance(x, (jax.Array, np.generic)):
            self.jax_arrays |= any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(x))
            self._number(name, x)
        elif dataclasses.is_dataclass(x):
            self._record(name, x)
        else:
            self.traced = True  # nothing that compiled code can take

    def _number(self, name: str | int, x: Any) -> None:
        try:
            number = np.asarray(x)
        except (TypeError, ValueError):  # rows of different length: the function itself says what it thinks of them
            self.traced = True
            return
        if number.dtype.kind not in "fiu":
            self.traced = True
            return
        self.names.append(name)
        self.numbers.append(number if number.dtype == np.float64 else np.asarray(number, dtype=float))
        self.key.append((name, number.shape))

    def _record(self, name: str | int, x: Any) -> None:
        leaves, tree = jax.tree.flatten(x)
        self.traced |= not all(_is_number(leaf) for leaf in leaves)
        if self.traced:
            return
        self.jax_arrays |= any(isinstance(leaf, jax.Array) for leaf in leaves)
        self.names.append(name)
        self.numbers.append(x)
        self.key.append((name, tree, tuple((np.shape(leaf), getattr(leaf, "dtype", type(leaf))) for leaf in leaves)))

    def with_words(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the record and the numbers alone."""
        return partial(_call, function, tuple(self.names), self._words)


def _call(
    function: Callable[..., Any], names: tuple[str | int, ...], words: dict[str | int, Any], record: Any, *numbers: Any
) -> Any:
    given = dict(zip(names, numbers, strict=True)) | words
    places = sorted(name for name in given if isinstance(name, int))
    named = {name: value for name, value in given.items() if isinstance(name, str)}
    return function(record, *(given[place] for place in places), **named)


def _is_words(x: Any) -> bool:
    return type(x) is tuple and all(type(entry) is str for entry in x)


def _is_number(leaf: Any) -> bool:
    """Whether a leaf is known, and a number or an array of numbers."""
    return isinstance(leaf, (np.ndarray, np.generic, jax.Array, float, int)) and not isinstance(leaf, Tracer)


def _is_searching() -> bool:
    """Whether compiled code may be used at present: see ``engine.traced_anew``."""
    lookup: Any = sys.modules.get(f"{_COMPILER}.runtime.lookup")
    return lookup is None or lookup.is_searching()


def _freeze(record: Any) -> bool:
    """Make the arrays of a record read-only, and those that they are parts of; False if some are not known."""
    leaves = jax.tree.leaves(record)
    if not all(_is_number(leaf) for leaf in leaves):
        return False
    for leaf in leaves:
        while isinstance(leaf, np.ndarray):
            leaf.flags.writeable = False
            leaf = leaf.base
    return True
