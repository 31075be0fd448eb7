"""The rollout kernel: each block of lanes keeps its states in registers from the first step to the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl

from freefloat.engine.graph import Graph

from .functions import DTYPES
from .lanes import Lanes

# Truth values travel through memory as 32-bit integers.
STORED = {**DTYPES, "bool": "int32"}


@dataclass(frozen=True)
class Shape:
    """How a rollout is cut up: instances per block of lanes, warps that share a block."""

    lanes: int = 128
    warps: int = 4
    interpret: bool = False


@dataclass(frozen=True)
class Rows:
    """Scalars of one type, gathered as rows of one array: which of the flat scalars they are."""

    dtype: str
    numbers: tuple[int, ...]


def group(dtypes: list[str]) -> list[Rows]:
    """One array of rows per type."""
    kinds = dict.fromkeys(dtypes)
    return [Rows(kind, tuple(k for k, d in enumerate(dtypes) if d == kind)) for kind in kinds]


def rollout_kernel(graph: Graph, steps: int, every: int, shape: Shape) -> Callable[..., Any]:
    """``f(states, helds) -> (states, records)`` over lists of (rows, instances) arrays, one per type.

    Records have shape (steps // every, rows, instances). The number of instances must be a multiple
    of ``shape.lanes``.
    """
    size = graph.signature.state_size
    dtypes = [n.dtype for n in graph.block.ins]
    state_rows, held_rows = group(dtypes[:size]), group(dtypes[size:])
    count = steps // every if every else 0

    def kernel(*refs: Any) -> None:
        states, rest = refs[: len(state_rows)], refs[len(state_rows) :]
        helds, rest = rest[: len(held_rows)], rest[len(held_rows) :]
        finals, records = rest[: len(state_rows)], rest[len(state_rows) :]
        held = _read(held_rows, helds, len(dtypes) - size)
        lanes = Lanes((shape.lanes,))

        def advance(state: tuple[Any, ...], number: int) -> tuple[Any, ...]:
            step = _once(graph, lanes, held)
            return lax.fori_loop(jnp.int32(0), jnp.int32(number), lambda _, s: step(s), state)

        def row(k: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            state = advance(state, every)
            _write_row(state_rows, records, state, k)
            return state

        state = _read(state_rows, states, size)
        state = lax.fori_loop(jnp.int32(0), jnp.int32(count), row, state) if count else state
        state = advance(state, steps - count * every) if steps > count * every else state
        _write(state_rows, finals, state)

    def launch(states: list[Any], helds: list[Any]) -> Any:
        return _launch(kernel, (state_rows, held_rows), count, shape, states, helds)

    return launch


def _once(graph: Graph, lanes: Lanes, held: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(lanes.run(graph.block, [*state, *held]))

    return step


def _read(rows: list[Rows], refs: Any, size: int) -> tuple[Any, ...]:
    """All scalars of several row arrays, in their flat order."""
    values: list[Any] = [None] * size
    for part, ref in zip(rows, refs, strict=True):
        for k, number in enumerate(part.numbers):
            lane = ref[k, :]
            values[number] = lane != 0 if part.dtype == "bool" else lane
    return tuple(values)


def _write(rows: list[Rows], refs: Any, values: tuple[Any, ...]) -> None:
    for part, ref in zip(rows, refs, strict=True):
        for k, number in enumerate(part.numbers):
            ref[k, :] = values[number].astype(STORED[part.dtype])


def _write_row(rows: list[Rows], refs: Any, values: tuple[Any, ...], place: Any) -> None:
    for part, ref in zip(rows, refs, strict=True):
        for k, number in enumerate(part.numbers):
            ref[place, k, :] = values[number].astype(STORED[part.dtype])


def _launch(
    kernel: Callable[..., None],
    rows: tuple[list[Rows], list[Rows]],
    count: int,
    shape: Shape,
    states: list[Any],
    helds: list[Any],
) -> Any:
    """One grid step per block of lanes."""
    instances = states[0].shape[1]
    state_rows, held_rows = rows

    def flat(part: Rows) -> Any:
        return pl.BlockSpec((len(part.numbers), shape.lanes), lambda i: (0, i))

    def deep(part: Rows) -> Any:
        return pl.BlockSpec((count, len(part.numbers), shape.lanes), lambda i: (0, 0, i))

    def result(part: Rows, *lead: int) -> Any:
        return jax.ShapeDtypeStruct((*lead, len(part.numbers), instances), STORED[part.dtype])

    recorded = state_rows if count else []
    out = pl.pallas_call(
        kernel,
        out_shape=[*(result(p) for p in state_rows), *(result(p, count) for p in recorded)],
        grid=(instances // shape.lanes,),
        in_specs=[*map(flat, state_rows), *map(flat, held_rows)],
        out_specs=[*map(flat, state_rows), *map(deep, recorded)],
        **_compiler_options(shape),
    )(*states, *helds)
    return out[: len(state_rows)], out[len(state_rows) :]


def _compiler_options(shape: Shape) -> dict[str, Any]:
    if shape.interpret:
        return {"interpret": True}
    from jax.experimental.pallas import triton

    return {"compiler_params": triton.CompilerParams(num_warps=shape.warps, num_stages=1)}
