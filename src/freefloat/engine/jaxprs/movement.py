"""Rules of operations that only move elements, to places known while tracing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array, is_symbolic
from .interpreter import Tracer
from .rules import rule


def _unify_arrays(tracer: Tracer, arrays: tuple[Array, ...]) -> list[Array]:
    """Convert all arrays to arrays of nodes if one of them holds nodes."""
    return [tracer.nodes(a) for a in arrays] if any(map(is_symbolic, arrays)) else list(arrays)


@rule("iota")
def _(tracer: Tracer, eqn: Any) -> Array:
    shape, dimension = eqn.params["shape"], eqn.params["dimension"]
    line = np.arange(shape[dimension], dtype=eqn.params["dtype"])
    return np.broadcast_to(line.reshape([-1 if d == dimension else 1 for d in range(len(shape))]), shape)


@rule("reshape")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    order = eqn.params.get("dimensions")
    return (x if order is None else x.transpose(order)).reshape(eqn.params["new_sizes"])


@rule("transpose")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    return x.transpose(eqn.params["permutation"])


@rule("squeeze", "expand_dims")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    return x.reshape(eqn.outvars[0].aval.shape)


@rule("broadcast_in_dim")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    shape, places = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    aligned = [1] * len(shape)
    for axis, place in enumerate(places):
        aligned[place] = x.shape[axis]
    return np.broadcast_to(x.reshape(aligned), shape)


@rule("concatenate")
def _(tracer: Tracer, eqn: Any, *xs: Array) -> Array:
    return np.concatenate(_unify_arrays(tracer, xs), eqn.params["dimension"])


@rule("stack")
def _(tracer: Tracer, eqn: Any, *xs: Array) -> Array:
    return np.stack(_unify_arrays(tracer, xs), eqn.params.get("axis", 0))


@rule("unstack")
def _(tracer: Tracer, eqn: Any, x: Array) -> list[Array]:
    axis = eqn.params.get("axis", 0)
    parts = np.moveaxis(x, axis, 0)
    return [parts[k, ...] for k in range(x.shape[axis])]


@rule("slice")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    p = eqn.params
    strides = p["strides"] or (1,) * x.ndim
    cuts = zip(p["start_indices"], p["limit_indices"], strides, strict=True)
    return x[tuple(slice(*cut) for cut in cuts)]


@rule("rev")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    return np.flip(x, eqn.params["dimensions"])


@rule("split")
def _(tracer: Tracer, eqn: Any, x: Array) -> list[Array]:
    return np.split(x, np.cumsum(eqn.params["sizes"])[:-1], eqn.params["axis"])


@rule("tile")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    return np.tile(x, eqn.params["reps"])


@rule("pad")
def _(tracer: Tracer, eqn: Any, x: Array, fill: Array) -> Array:
    """Rule for padding, which may be negative (cuts) and interior (between elements)."""
    x, fill = _unify_arrays(tracer, (x, fill))
    for axis, (low, high, interior) in enumerate(eqn.params["padding_config"]):
        size = x.shape[axis]
        spread = size + max(size - 1, 0) * interior
        shape = list(x.shape)
        shape[axis] = spread + max(low, 0) + max(high, 0)
        wide = np.full(shape, fill[()], x.dtype)
        places = max(low, 0) + np.arange(size) * (interior + 1)
        np.moveaxis(wide, axis, 0)[places] = np.moveaxis(x, axis, 0)
        keep = slice(max(-low, 0), shape[axis] - max(-high, 0))
        x = np.moveaxis(np.moveaxis(wide, axis, 0)[keep], 0, axis)
    return x
