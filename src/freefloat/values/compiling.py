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
from weakref import WeakKeyDictionary, ref

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from freefloat.values.errors import ModelError
from freefloat.values.quiet_fields import report_all
from freefloat.values.tracing import once

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
    """Make a function of a record (or a tuple of records) and numbers run compiled when all of them are known.

    NumPy in, NumPy out; JAX arrays in, JAX arrays out. Code is compiled once for each record and shape of arguments,
    and found again by later processes. The record's arrays can no longer be written to: the code knows their numbers.
    Numbers that the function checks must be checked before: it sees no values.
    """
    programs: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
    shared = once(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        asked = _Arguments(args, kwargs)
        if asked.traced or not _is_searching():
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
                return function(*args, **kwargs)  # says it again, without what JAX adds while it traces
        program = known[key]
        if program is None:
            return function(*args, **kwargs)
        report_all()  # it was traced before, and what it opened then is not known here
        result = program(*asked.numbers)
        return jax.tree.map(jnp.asarray, result) if asked.jax_arrays else result

    return call


class _Arguments:
    """The arguments, sorted: the records that come first, numbers that vary, and words that choose."""

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
        except (TypeError, ValueError):  # rows of different length: the function itself says what it thinks of them
            self.traced = True
            return
        if number.dtype.kind not in "fiub":
            self.traced = True
            return
        self.names.append(name)
        self.numbers.append(number if number.dtype in (np.float64, bool) else np.asarray(number, dtype=float))
        self.key.append((name, number.shape, number.dtype.kind == "b"))

    def _several(self, name: str | int, x: Any) -> None:
        """A record, a sequence of numbers, or a sequence of arrays and records."""
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
    return type(x) is tuple and all(type(entry) is str or _is_words(entry) for entry in x)


def _is_plain(x: Any) -> bool:
    """Whether these are numbers written as a list or a tuple, of any depth."""
    scalar = isinstance(x, (float, int, np.generic))
    return scalar or (type(x) in (list, tuple) and all(map(_is_plain, x)))


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
