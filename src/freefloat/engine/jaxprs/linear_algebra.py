"""Rules for dense factorisations and solves, written out element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Node

from .arrays import Array, object_array
from .interpreter import Tracer
from .refusals import unsupported_error
from .rules import rule

PIVOT_LIMIT = 24  # [rows] pivoting by selection grows with the cube


def _map_matrices(function: Callable[..., list[Array]], *arrays: Array) -> list[Array]:
    """Apply a function of matrices over leading batch axes."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return function(*arrays)
    parts = [function(*(a[k] for a in arrays)) for k in np.ndindex(*batch)]
    return [np.stack(column).reshape(batch + column[0].shape) for column in zip(*parts, strict=True)]


def cholesky(b: Builder, A: Array) -> Array:
    """Lower triangular L of A = L L^T; a negative pivot gives NaN, as in JAX."""
    n = len(A)
    L = object_array([b.zero] * (n * n), (n, n))
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot = b.sub(pivot, b.mul(L[j, k], L[j, k]))
        L[j, j] = b.function("sqrt", pivot)
        inverse = b.rcp(L[j, j])
        for i in range(j + 1, n):
            rest = A[i, j]
            for k in range(j):
                rest = b.sub(rest, b.mul(L[i, k], L[j, k]))
            L[i, j] = b.mul(rest, inverse)
    return L


@rule("cholesky")
def _(tracer: Tracer, eqn: Any, A: Array) -> list[Array]:
    return _map_matrices(lambda x: [cholesky(tracer.b, x)], tracer.nodes(A))


def solve_triangular(b: Builder, A: Array, B: Array, lower: bool, unit: bool) -> Array:
    """Solution X of A X = B for triangular A."""
    n = len(A)
    X = np.empty(B.shape, object)
    for i in range(n) if lower else range(n - 1, -1, -1):
        inverse = b.one if unit else b.rcp(A[i, i])
        for c in range(B.shape[1]):
            rest = B[i, c]
            for k in range(i) if lower else range(i + 1, n):
                rest = b.sub(rest, b.mul(A[i, k], X[k, c]))
            X[i, c] = b.mul(rest, inverse)
    return X


@rule("triangular_solve")
def _(tracer: Tracer, eqn: Any, A: Array, B: Array) -> list[Array]:
    p = eqn.params

    def solve(A: Array, B: Array) -> list[Array]:
        transposed, lower = p["transpose_a"] == p["left_side"], p["lower"]
        A, lower = (A.T, not lower) if transposed else (A, lower)
        X = solve_triangular(tracer.b, A, B if p["left_side"] else B.T, lower, p["unit_diagonal"])
        return [X if p["left_side"] else X.T]

    return _map_matrices(solve, tracer.nodes(A), tracer.nodes(B))


@rule("lu")
def _(tracer: Tracer, eqn: Any, A: Array) -> list[Array]:
    if max(A.shape[-2:]) > PIVOT_LIMIT:
        remedy = "Solve symmetric systems by Cholesky; general ones this large belong outside compiled code."
        raise unsupported_error(tracer, eqn, f"A pivoted LU of {A.shape[-2]} rows", remedy)
    return _map_matrices(lambda x: pivoted_lu(tracer.b, x), tracer.nodes(A))


def pivoted_lu(b: Builder, A: Array) -> list[Array]:
    """LU factors, pivots and permutation; the largest remaining element of each column is selected at run time."""
    A = A.copy()
    rows, columns = A.shape
    order = object_array([b.constant(k, "i32") for k in range(rows)], (rows,))
    pivots: list[Node] = []
    for k in range(min(rows, columns)):
        chosen = _largest_row(b, A[k:, k], k)
        pivots.append(chosen)
        for i in range(k + 1, rows):
            swap = b.compare("eq", chosen, b.constant(i, "i32"))
            for line in (*A.T, order):
                line[k], line[i] = b.select(swap, line[i], line[k]), b.select(swap, line[k], line[i])
        _eliminate(b, A, k)
    return [A, object_array(pivots, (len(pivots),)), order]


def _largest_row(b: Builder, column: Array, first: int) -> Node:
    """Row of the element of largest magnitude; of equal ones the first."""
    best, row = b.absolute(column[0]), b.constant(first, "i32")
    for k, element in enumerate(column[1:], start=first + 1):
        size = b.absolute(element)
        better = b.compare("lt", best, size)
        best, row = b.select(better, size, best), b.select(better, b.constant(k, "i32"), row)
    return row


def _eliminate(b: Builder, A: Array, k: int) -> None:
    rows, columns = A.shape
    inverse = b.rcp(A[k, k])
    for i in range(k + 1, rows):
        A[i, k] = b.mul(A[i, k], inverse)
        for j in range(k + 1, columns):
            A[i, j] = b.sub(A[i, j], b.mul(A[i, k], A[k, j]))


@rule("lu_pivots_to_permutation")
def _(tracer: Tracer, eqn: Any, pivots: Array) -> Array:
    b, size = tracer.b, eqn.params["permutation_size"]
    nodes = tracer.nodes(pivots)
    result = np.empty((*nodes.shape[:-1], size), object)
    for place in np.ndindex(*nodes.shape[:-1]):
        order = [b.constant(k, "i32") for k in range(size)]
        for k, pivot in enumerate(nodes[place]):
            for i in range(k + 1, size):
                swap = b.compare("eq", pivot, b.constant(i, pivot.dtype))
                order[k], order[i] = b.select(swap, order[i], order[k]), b.select(swap, order[k], order[i])
        result[place] = order
    return result
