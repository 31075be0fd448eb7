"""Least squares for compiled code: normal equations with a status, damped where a Jacobian loses rank.

There is no singular value decomposition here: the smallest singular value comes from inverse iteration, and damping
follows it (Maciejewski and Klein, J. Robotic Systems 5, 1988).
"""

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.solve import spd_solve
from freefloat.values import record
from freefloat.values.arrays import Flag, Matrix, Numeric, Scalar, Vector
from freefloat.values.tracing import once

SINGULAR_BELOW = 0.01  # smallest singular value of a hand Jacobian under which its inverse is damped [m, rad]
_FLOOR = 1e-13  # of the trace, so that a matrix without full rank can still be factorised


@record
class Solution:
    """The smallest x with J x = wanted, or the nearest that damping permits."""

    x: Vector
    singular_value: Scalar  # smallest of J, estimated
    damped: Flag  # True where the answer is not exact because J is nearly singular


def least_squares(J: Matrix, wanted: Vector) -> Vector:
    """Smallest x with J x = wanted: normal equations, refined once so that squaring J costs no digits."""
    gram = J @ J.T
    first = J.T @ spd_solve(gram, wanted)
    return first + J.T @ spd_solve(gram, wanted - J @ first)


@once
def damped_least_squares(J: Matrix, wanted: Vector, singular_below: Numeric | float = SINGULAR_BELOW) -> Solution:
    """Smallest x with J x = wanted; damped, finite and flagged where the smallest singular value is too small."""
    gram = J @ J.T
    smallest = smallest_singular_value(gram)
    damped = smallest < singular_below
    damping = jnp.where(damped, singular_below**2 - smallest**2, 0.0)
    safe = gram + (damping + _FLOOR * jnp.trace(gram)) * np.eye(gram.shape[0])
    first = J.T @ spd_solve(safe, wanted)
    # Refining also removes the floor; a damped answer must stay as damped as it is.
    refined = first + J.T @ spd_solve(safe, wanted - J @ first)
    return Solution(x=jnp.where(damped, first, refined), singular_value=smallest, damped=damped)


def smallest_singular_value(gram: Matrix) -> Scalar:
    """Smallest singular value of J from J J^T, by three steps of inverse iteration; at most a little too large."""
    n = gram.shape[0]
    safe = gram + _FLOOR * jnp.trace(gram) * np.eye(n)
    direction = jnp.asarray(np.cos(np.arange(n) + 0.3))  # not orthogonal to anything a mechanism prefers
    for _ in range(2):
        direction = spd_solve(safe, direction)
        direction = direction / jnp.sqrt(direction @ direction)
    return 1.0 / jnp.sqrt(direction @ spd_solve(safe, direction))


def null_basis(H: Matrix) -> Matrix:
    """Orthonormal columns that H maps to zero, for a wide H of full row rank: Householder reflections of its rows."""
    rows, columns = H.shape
    R, Q = H.T, jnp.eye(columns)
    for k in range(rows):
        below = jnp.asarray(np.arange(columns) >= k, dtype=float)
        x = R[:, k] * below
        squared = x @ x
        length = jnp.sqrt(jnp.where(squared > 0.0, squared, 1.0))
        signed = jnp.where(x[k] < 0.0, -length, length)
        v = x + signed * np.eye(columns)[k]
        scale = jnp.where(squared > 0.0, 2.0 / jnp.where(squared > 0.0, v @ v, 1.0), 0.0)
        R = R - scale * jnp.outer(v, v @ R)
        Q = Q - scale * jnp.outer(Q @ v, v)
    return Q[:, rows:]
