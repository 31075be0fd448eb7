"""Functions that run compiled when they are called with numbers, and stay JAX when they are traced.

Which compiler that is, is known to `values.compiler` alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, ref

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from freefloat.values.compiler import compile_function, is_searching
from freefloat.values.errors import ModelError
from freefloat.values.quiet_fields import report_all
from freefloat.values.tracing import once

_AT_ONCE = 4096  # rows that JAX handles together: bounds the memory
P = ParamSpec("P")
R = TypeVar("R")


def over_rows(function: Callable[..., Any], record: Any, *shared: Any, rows: np.ndarray) -> np.ndarray:
    """`function(record, *shared, row)` for each row of an array, compiled where that is possible."""
    program: Any = compile_function(function, record, *shared, rows[0])
    if program is not None:
        return program.batch(*shared, rows, in_axes=(*[None] * len(shared), 0))
    some = min(_AT_ONCE, len(rows))
    every = jax.jit(lambda all_rows: jax.lax.map(lambda row: function(record, *shared, row), all_rows, batch_size=some))
    return np.asarray(every(rows))


def compiled_on_call(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function of a record (or a tuple of records) and numbers run compiled when all of them are known.

    NumPy in, NumPy out; JAX arrays in, JAX arrays out. Code is compiled once for each record and shape of arguments,
    and found again by later processes. The record's arrays become read-only: the code relies on their numbers.
    Check numbers before the call: the function itself sees no values while it is traced.
    """
    programs: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
    shared = once(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        asked = _Arguments(args, kwargs)
        if asked.traced or not is_searching():
            return shared(*args, **kwargs)
        known = programs.get(asked.records[0])
        if known is None:
            known = programs[asked.records[0]] = {}
        key = tuple(asked.key)
        if key not in known:
            readable = all(map(_freeze, asked.records))
            asked_for = asked.with_words(function)
            try:
                known[key] = compile_function(asked_for, args[0], *asked.numbers) if readable else None
            except ModelError:
                return function(*args, **kwargs)  # raises the error again, without what JAX adds while it traces
        program = known[key]
        if program is None:
            return function(*args, **kwargs)
        report_all()  # it was traced before, and the quiet fields that it opened then are not known here
        result = program(*asked.numbers)
        return jax.tree.map(jnp.asarray, result) if asked.jax_arrays else result

    return call


class _Arguments:
    """The arguments of a call, sorted: the records that come first, numbers that vary, and words that choose."""

    __slots__ = ("_words", "jax_arrays", "key", "names", "numbers", "records", "traced")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.numbers: list[Any] = []
        self.key: list[Any] = []
        self.names: list[str | int] = []
        self._words: dict[str | int, Any] = {}
        self.records: tuple[Any, ...] = args[:1] if not args or type(args[0]) is not tuple else args[0]
        self.traced = not self.records or not all(map(dataclasses.is_dataclass, self.records))
        self.jax_arrays = False
        if self.traced:
            return
        if len(self.records) > 1:
            self.key += map(ref, self.records[1:])
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
        elif isinstance(x, Tracer):
            self.traced = True
        elif kind is float or isinstance(x, (jax.Array, np.generic)):
            self.jax_arrays |= isinstance(x, jax.Array)
            self._number(name, x)
        elif kind in (list, tuple) or dataclasses.is_dataclass(x):
            self._several(name, x)
        else:
            self.traced = True  # nothing that compiled code can take

    def _number(self, name: str | int, x: Any) -> None:
        try:
            number = np.asarray(x)
        except (TypeError, ValueError):  # rows of different length: the function itself raises the error
            self.traced = True
            return
        if number.dtype.kind not in "fiub":
            self.traced = True
            return
        self.names.append(name)
        self.numbers.append(number if number.dtype in (np.float64, bool) else np.asarray(number, dtype=float))
        self.key.append((name, number.shape, number.dtype.kind == "b"))

    def _several(self, name: str | int, x: Any) -> None:
        """Sort an argument that is a record, a sequence of numbers, or a sequence of arrays and records."""
        leaves, tree = jax.tree.flatten(x)
        self.traced |= not all(_is_number(leaf) for leaf in leaves)
        if self.traced:
            return
        self.jax_arrays |= any(isinstance(leaf, jax.Array) for leaf in leaves)
        if _is_plain(x):
            self._number(name, x)
            return
        self.names.append(name)
        self.numbers.append(x)
        self.key.append((name, tree, tuple((np.shape(leaf), getattr(leaf, "dtype", type(leaf))) for leaf in leaves)))

    def with_words(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its words filled in: a function of the record and the numbers alone."""
        return partial(_call_with_words, function, tuple(self.names), self._words)


def _call_with_words(
    function: Callable[..., Any], names: tuple[str | int, ...], words: dict[str | int, Any], record: Any, *numbers: Any
) -> Any:
    given = dict(zip(names, numbers, strict=True)) | words
    places = sorted(name for name in given if isinstance(name, int))
    named = {name: value for name, value in given.items() if isinstance(name, str)}
    return function(record, *(given[place] for place in places), **named)


def _is_words(x: Any) -> bool:
    return type(x) is tuple and all(type(entry) is str or _is_words(entry) for entry in x)


def _is_plain(x: Any) -> bool:
    """Whether these are numbers written as a list or a tuple, of any depth."""
    scalar = isinstance(x, (float, int, np.generic))
    return scalar or (type(x) in (list, tuple) and all(map(_is_plain, x)))


def _is_number(leaf: Any) -> bool:
    """Whether a leaf is known, and a number or an array of numbers."""
    return isinstance(leaf, (np.ndarray, np.generic, jax.Array, float, int)) and not isinstance(leaf, Tracer)


def _freeze(record: Any) -> bool:
    """Make the arrays of a record, and those that they are views of, read-only; False if some are not known."""
    leaves = jax.tree.leaves(record)
    if not all(_is_number(leaf) for leaf in leaves):
        return False
    for leaf in leaves:
        while isinstance(leaf, np.ndarray):
            leaf.flags.writeable = False
            leaf = leaf.base
    return True
