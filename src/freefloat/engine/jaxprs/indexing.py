"""Rules for gather, scatter and dynamic slices.

An index known while tracing selects an element without any operation. An index computed at run time
becomes a load from (or store to) a table in memory, clamped or dropped exactly as in JAX.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Node

from .arrays import Array, object_array
from .interpreter import Tracer
from .refusals import unsupported_error
from .rules import rule


@dataclass(frozen=True)
class Window:
    """Flat start position of one slice, and whether all of it lies inside the array."""

    position: Node
    inside: Node


def place_window(b: Builder, starts: list[Node], sizes: tuple[int, ...], shape: tuple[int, ...]) -> Window:
    """Window of a slice; its position is moved so that all of it lies inside the array."""
    position, inside = b.constant(0, "i64"), b.true
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    for start, size, extent, stride in zip(starts, sizes, shape, strides, strict=True):
        zero, last = b.constant(0, "i64"), b.constant(extent - size, "i64")
        fits = b.both(b.compare("le", zero, start), b.compare("le", start, last))
        inside = b.both(inside, fits)
        clamped = b.integer("imin", b.integer("imax", start, zero), last)
        position = b.integer("iadd", position, b.integer("imul", clamped, b.constant(int(stride), "i64")))
    return Window(position, inside)


def offsets(sizes: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """Flat distances of a slice's elements from its start, in row-major order."""
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    return [int(np.dot(k, strides)) if shape else 0 for k in np.ndindex(*sizes)]


def pick_element(b: Builder, elements: Array, position: Node, offset: int) -> Node:
    """Node of one element of a flat array."""
    if position.op == "const":
        return elements[position.value + offset]
    return b.lookup(b.table(tuple(elements)), b.integer("iadd", position, b.constant(offset, "i64")))


def replace_elements(
    b: Builder, elements: Array, position: Node, updates: list[tuple[int, Node]], guard: Node
) -> Array:
    """Copy of a flat array with elements replaced where the guard is true."""
    if position.op == "const":
        result = elements.copy()
        for offset, value in updates:
            place = position.value + offset
            result[place] = b.select(guard, value, result[place])
        return result
    table = b.table(tuple(elements))
    for offset, value in updates:
        index = b.integer("iadd", position, b.constant(offset, "i64"))
        kept = value if guard is b.true else b.select(guard, value, b.lookup(table, index))
        table = b.update(table, index, kept)
    return object_array([b.lookup(table, b.constant(k, "i64")) for k in range(len(elements))], elements.shape)


def _start_nodes(tracer: Tracer, indices: tuple[Array, ...]) -> list[Node]:
    return [tracer.b.convert(tracer.nodes(np.asarray(i))[()], "i64") for i in indices]


@rule("dynamic_slice")
def _(tracer: Tracer, eqn: Any, x: Array, *indices: Array) -> Array:
    b, sizes = tracer.b, tuple(eqn.params["slice_sizes"])
    window = place_window(b, _start_nodes(tracer, indices), sizes, x.shape)
    flat = tracer.nodes(x).ravel()
    return object_array([pick_element(b, flat, window.position, k) for k in offsets(sizes, x.shape)], sizes)


@rule("dynamic_update_slice")
def _(tracer: Tracer, eqn: Any, x: Array, update: Array, *indices: Array) -> Array:
    b = tracer.b
    window = place_window(b, _start_nodes(tracer, indices), update.shape, x.shape)
    values = zip(offsets(update.shape, x.shape), tracer.nodes(update).ravel(), strict=True)
    return replace_elements(b, tracer.nodes(x).ravel(), window.position, list(values), b.true).reshape(x.shape)


@dataclass(frozen=True)
class IndexLayout:
    """How the dimensions of operand, index array and result (or update) correspond."""

    window_dims: tuple[int, ...]  # of the result, spanning one slice
    dropped: tuple[int, ...]  # operand dimensions of size one that the result leaves out
    indexed: tuple[int, ...]  # operand dimension of each component of an index
    operand_batch: tuple[int, ...]
    index_batch: tuple[int, ...]

    def windows(self, tracer: Tracer, indices: Array, operand_shape: tuple[int, ...]) -> Iterator[Any]:
        """Place of every index in the index array, with the start of its slice in the operand."""
        nodes = tracer.nodes(indices)
        b = tracer.b
        for place in np.ndindex(*indices.shape[:-1]):
            starts = [b.constant(0, "i64")] * len(operand_shape)
            for component, dimension in enumerate(self.indexed):
                starts[dimension] = b.convert(nodes[(*place, component)], "i64")
            for dimension, axis in zip(self.operand_batch, self.index_batch, strict=True):
                starts[dimension] = b.constant(place[axis], "i64")
            yield place, starts

    def result_index(self, place: tuple[int, ...], within: tuple[int, ...], ndim: int) -> tuple[int, ...]:
        """Index in the result of the element ``within`` the slice at ``place``."""
        kept = [k for d, k in enumerate(within) if d not in self.dropped and d not in self.operand_batch]
        index = [0] * ndim
        batch, window = iter(place), iter(kept)
        for d in range(ndim):
            index[d] = next(window) if d in self.window_dims else next(batch)
        return tuple(index)


def _ints(numbers: Iterable[Any]) -> tuple[int, ...]:
    """Numbers as Python integers: JAX mixes its own and NumPy's."""
    return tuple(int(n) for n in numbers)


def _index_mode(eqn: Any) -> str:
    return str(eqn.params["mode"]).rsplit(".", maxsplit=1)[-1].upper()


@rule("gather")
def _(tracer: Tracer, eqn: Any, x: Array, indices: Array) -> Array:
    b, p, sizes = tracer.b, eqn.params, tuple(eqn.params["slice_sizes"])
    d = p["dimension_numbers"]
    layout = IndexLayout(
        _ints(d.offset_dims),
        _ints(d.collapsed_slice_dims),
        _ints(d.start_index_map),
        _ints(d.operand_batching_dims),
        _ints(d.start_indices_batching_dims),
    )
    fills = _index_mode(eqn).startswith("FILL")
    fill = _fill_value(tracer, eqn) if fills else b.zero
    flat, shape = tracer.nodes(x).ravel(), eqn.outvars[0].aval.shape
    result = np.empty(shape, object)
    for place, starts in layout.windows(tracer, indices, x.shape):
        window = place_window(b, starts, sizes, x.shape)
        for within, offset in zip(np.ndindex(*sizes), offsets(sizes, x.shape), strict=True):
            value = pick_element(b, flat, window.position, offset)
            value = b.select(window.inside, value, fill) if fills else value
            result[layout.result_index(place, within, len(shape))] = value
    return result


def _fill_value(tracer: Tracer, eqn: Any) -> Node:
    """Value that an index outside the array reads: NaN, the lowest signed or highest unsigned number."""
    dtype = np.dtype(eqn.outvars[0].aval.dtype)
    value = eqn.params.get("fill_value")
    if value is None:
        default = {"f": np.nan, "b": True}
        value = default.get(dtype.kind)
        if value is None:
            value = np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return tracer.nodes(np.asarray(value, dtype))[()]


def _combine(b: Builder, name: str, old: Node, new: Node) -> Node:
    integer = old.dtype != "f64"
    if name == "scatter_add":
        return b.integer("iadd", old, new) if integer else b.add(old, new)
    if name == "scatter_sub":
        return b.integer("isub", old, new) if integer else b.sub(old, new)
    if name == "scatter_mul":
        return b.integer("imul", old, new) if integer else b.mul(old, new)
    op = name.removeprefix("scatter_")
    return b.integer("i" + op, old, new) if integer else b.extreme(op, old, new)


@rule("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max")
@rule("scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")
def _(tracer: Tracer, eqn: Any, x: Array, indices: Array, updates: Array) -> Array:
    b, name = tracer.b, eqn.primitive.name.replace("-", "_")
    d = eqn.params["dimension_numbers"]
    layout = IndexLayout(
        _ints(d.update_window_dims),
        _ints(d.inserted_window_dims),
        _ints(d.scatter_dims_to_operand_dims),
        _ints(d.operand_batching_dims),
        _ints(d.scatter_indices_batching_dims),
    )
    if _index_mode(eqn).startswith("ONE_HOT"):
        raise unsupported_error(tracer, eqn, remedy="Use .at[i].set with the default mode.")
    drops = not _index_mode(eqn).startswith("CLIP")
    sizes = _update_sizes(layout, updates.shape, x.ndim)
    flat, new = tracer.nodes(x).ravel(), tracer.nodes(updates)
    for place, starts in layout.windows(tracer, indices, x.shape):
        window = place_window(b, starts, sizes, x.shape)
        values: list[tuple[int, Node]] = []
        for within, offset in zip(np.ndindex(*sizes), offsets(sizes, x.shape), strict=True):
            value = new[layout.result_index(place, within, updates.ndim)]
            if name != "scatter":
                value = _combine(b, name, pick_element(b, flat, window.position, offset), value)
            values.append((offset, value))
        flat = replace_elements(b, flat, window.position, values, window.inside if drops else b.true)
    return flat.reshape(x.shape)


def _update_sizes(layout: IndexLayout, shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Size of one updated slice along every operand dimension."""
    window = iter(shape[d] for d in layout.window_dims)
    return tuple(1 if d in layout.dropped or d in layout.operand_batch else next(window) for d in range(ndim))
