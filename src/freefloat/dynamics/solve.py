"""Symmetric positive definite systems, solved leaf first."""

import jax
import jax.numpy as jnp

from freefloat.values.arrays import Matrix, Numeric


@jax.custom_jvp
def spd_solve(A: Matrix, b: Numeric) -> Numeric:
    """Solve A x = b by L D L^T, eliminating the last coordinate first; b may be a vector or several columns.

    Coordinates are in tree order, so leaves go before the base and the zeros of a tree's mass matrix stay zeros.
    The derivative reuses the factorisation instead of differentiating through it.
    """
    if A.shape[0] != A.shape[-1] or b.shape[:1] != A.shape[:1]:
        raise ValueError(f"spd_solve needs a square matrix and as many rows beside it, got {A.shape} and {b.shape}.")
    reciprocals, columns, eliminated = [], [], []
    for k in range(A.shape[0] - 1, -1, -1):
        reciprocal = 1.0 / A[k, k]
        column = A[:k, k] * reciprocal
        reciprocals.append(reciprocal)
        columns.append(column)
        eliminated.append(b[k])
        A, b = A[:k, :k] - jnp.outer(column, A[:k, k]), b[:k] - scale_column(column, b[k])
    solution = jnp.zeros((0, *b.shape[1:]))
    for reciprocal, column, value in zip(reversed(reciprocals), reversed(columns), reversed(eliminated), strict=True):
        solution = jnp.concatenate([solution, (value * reciprocal - column @ solution)[None]])
    return solution


def scale_column(column: Numeric, value: Numeric) -> Numeric:
    """A column times a number, or times each of several."""
    return column * value if jnp.ndim(value) == 0 else jnp.outer(column, value)


@spd_solve.defjvp
def _(primals: tuple[Matrix, Numeric], tangents: tuple[Matrix, Numeric]) -> tuple[Numeric, Numeric]:
    (A, b), (dA, db) = primals, tangents
    x = spd_solve(A, b)
    return x, spd_solve(A, db - dA @ x)
