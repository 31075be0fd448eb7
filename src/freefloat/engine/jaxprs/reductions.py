"""Rules for sums, products, extremes, contractions, cumulative operations, argmax and sorting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Node

from .arrays import Array, is_symbolic, object_array
from .elementwise import TABLE
from .interpreter import Tracer
from .refusals import unsupported_error
from .rules import RULES, rule

SORT_LIMIT = 64  # [elements] an exchange network grows with the square


def _merge_axes(x: Array, axes: Sequence[Any]) -> Array:
    """Move the reduced axes to the end and merge them into one."""
    kept = [d for d in range(x.ndim) if d not in axes]
    return x.transpose(kept + list(axes)).reshape([*(x.shape[d] for d in kept), -1])


def _reduction(operation: str, known: Any, empty: Any) -> Callable[..., Array]:
    def reduce(tracer: Tracer, eqn: Any, x: Array) -> Array:
        axes = tuple(eqn.params["axes"])
        if not is_symbolic(x) and known is not None:
            with np.errstate(all="ignore"):
                return np.asarray(known(x, axis=axes)).astype(eqn.outvars[0].aval.dtype)
        rows = _merge_axes(tracer.nodes(x), axes)
        if rows.shape[-1] == 0:
            return np.full(rows.shape[:-1], empty, eqn.outvars[0].aval.dtype)
        result = rows[..., 0]
        combine = TABLE[operation](tracer.b)
        for k in range(1, rows.shape[-1]):
            result = tracer.map(combine, result, rows[..., k])
        return np.asarray(result) if not isinstance(result, Node) else object_array([result], ())

    return reduce


RULES["reduce_sum"] = _reduction("add", np.sum, 0)
RULES["reduce_prod"] = _reduction("mul", np.prod, 1)
RULES["reduce_max"] = _reduction("max", None, -np.inf)  # numpy does not distinguish -0.0 from 0.0
RULES["reduce_min"] = _reduction("min", None, np.inf)
RULES["reduce_and"] = _reduction("and", np.all, True)
RULES["reduce_or"] = _reduction("or", np.any, False)
RULES["reduce_xor"] = _reduction("xor", np.bitwise_xor.reduce, 0)


def _cumulative(operation: str) -> Callable[..., Array]:
    def accumulate(tracer: Tracer, eqn: Any, x: Array) -> Array:
        axis, reverse = eqn.params["axis"], eqn.params["reverse"]
        rows = np.moveaxis(tracer.nodes(x), axis, 0)
        combine = TABLE[operation](tracer.b)
        result = np.empty(rows.shape, object)
        places = list(range(len(rows)))[:: -1 if reverse else 1]
        for before, k in zip([None, *places], places, strict=False):
            row = rows[k, ...]
            result[k, ...] = row if before is None else tracer.map(combine, result[before, ...], row)
        return np.moveaxis(result, 0, axis)

    return accumulate


for _name, _operation in (("cumsum", "add"), ("cumprod", "mul"), ("cummax", "max"), ("cummin", "min")):
    RULES[_name] = _cumulative(_operation)


def matrix_product(b: Builder, A: Array, B: Array) -> Array:
    """Matrix product A @ B, without the products that contain a structural zero."""
    integer = A.size and A.flat[0].dtype != "f64"
    add, mul = (b.add, b.mul) if not integer else (TABLE["add"](b), TABLE["mul"](b))
    zero = b.constant(0, A.flat[0].dtype) if A.size else b.zero
    result = np.empty((A.shape[0], B.shape[1]), object)
    keep = b.strict_nan or not (_all_finite(A) and _all_finite(B))  # zeros too: zero times infinity is not zero
    columns = [{k: n for k, n in enumerate(column) if keep or n is not zero} for column in B.T.tolist()]
    for i, row in enumerate(A.tolist()):
        places = [k for k, n in enumerate(row) if keep or n is not zero]
        for j, column in enumerate(columns):
            total = zero
            for k in places:
                if k in column:
                    total = add(total, mul(row[k], column[k]))
            result[i, j] = total
    return result


def _all_finite(x: Array) -> bool:
    """Whether no element is known to be infinite or not a number."""
    return all(n.op != "const" or math.isfinite(n.value) for n in x.flat)


@rule("dot_general")
def _(tracer: Tracer, eqn: Any, a: Array, c: Array) -> Array:
    (contract_a, contract_c), (batch_a, batch_c) = eqn.params["dimension_numbers"]
    free_a = [d for d in range(a.ndim) if d not in contract_a and d not in batch_a]
    free_c = [d for d in range(c.ndim) if d not in contract_c and d not in batch_c]
    A = _group_axes(a, list(batch_a), free_a, list(contract_a))
    C = _group_axes(c, list(batch_c), list(contract_c), free_c)
    shape = eqn.outvars[0].aval.shape
    if not is_symbolic(a) and not is_symbolic(c):
        return np.matmul(A, C).reshape(shape)
    A, C = tracer.nodes(A), tracer.nodes(C)
    if not len(A):
        return np.zeros(shape)
    return np.stack([matrix_product(tracer.b, Ak, Ck) for Ak, Ck in zip(A, C, strict=True)]).reshape(shape)


def _group_axes(x: Array, *groups: list[int]) -> Array:
    """Transpose the axes into groups and merge each group into one axis."""
    sizes = [int(np.prod([x.shape[d] for d in group])) for group in groups]
    return x.transpose([d for group in groups for d in group]).reshape(sizes)


@rule("argmax", "argmin")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    """Rule for the first place of the extreme; a NaN counts as extreme, as in JAX."""
    b, largest = tracer.b, eqn.primitive.name == "argmax"
    dtype = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}[np.dtype(eqn.params["index_dtype"]).name]
    rows = _merge_axes(tracer.nodes(x), tuple(eqn.params["axes"]))
    result = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(*rows.shape[:-1]):
        best, index = rows[place][0], b.constant(0, dtype)
        for k, value in enumerate(rows[place][1:], start=1):
            better = b.compare("lt", best, value) if largest else b.compare("lt", value, best)
            if value.dtype == "f64":
                is_nan = b.invert(b.compare("eq", value, value))
                better = b.either(better, b.both(is_nan, b.compare("eq", best, best)))
            best, index = b.select(better, value, best), b.select(better, b.constant(k, dtype), index)
        result[place] = index
    return result


@rule("sort")
def _(tracer: Tracer, eqn: Any, *arrays: Array) -> list[Array]:
    """Rule for sorting by stable exchange of neighbours, which suits the dozen elements compiled code should sort."""
    axis, keys = eqn.params["dimension"], eqn.params["num_keys"]
    rows = [np.moveaxis(tracer.nodes(x), axis, -1).copy() for x in arrays]
    length = arrays[0].shape[axis]
    if length > SORT_LIMIT:
        raise unsupported_error(
            tracer, eqn, f"A sort of {length} elements", f"Compiled code sorts up to {SORT_LIMIT} elements."
        )
    for place in np.ndindex(*rows[0].shape[:-1]):
        for end in range(length - 1, 0, -1):
            for k in range(end):
                swap = _comes_after(
                    tracer.b, [r[place][k] for r in rows[:keys]], [r[place][k + 1] for r in rows[:keys]]
                )
                for row in (r[place] for r in rows):
                    first, second = row[k], row[k + 1]
                    row[k] = tracer.b.select(swap, second, first)
                    row[k + 1] = tracer.b.select(swap, first, second)
    return [np.moveaxis(r, -1, axis) for r in rows]


def _comes_after(b: Builder, first: list[Node], second: list[Node]) -> Node:
    """Node that tells whether two neighbours are in the wrong order; NaN goes last."""
    after, equal = b.false, b.true
    for x, y in zip(first, second, strict=True):
        greater = b.compare("lt", y, x)
        same = b.compare("eq", x, y)
        if x.dtype == "f64":
            x_nan, y_nan = b.invert(b.compare("eq", x, x)), b.invert(b.compare("eq", y, y))
            greater = b.either(greater, b.both(x_nan, b.invert(y_nan)))
            same = b.either(same, b.both(x_nan, y_nan))
        after = b.either(after, b.both(equal, greater))
        equal = b.both(equal, same)
    return after
