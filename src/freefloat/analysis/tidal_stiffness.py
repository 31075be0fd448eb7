"""Stiffness by a steady field of acceleration on coordinates that move mass along curves, such as rotating links.

A link of an arm that is pulled outwards by the tide swings like a pendulum: displacements are straight lines only to
first order, and the field does work along the second.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.displacement_moments import BodyMoments, DisplacementMoments
from freefloat.dynamics.kinematics import body_poses
from freefloat.model import Spacecraft
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.compiling import over_rows


def tidal_stiffness(craft: Spacecraft, q: np.ndarray, moments: DisplacementMoments, field: np.ndarray) -> np.ndarray:
    """Stiffness (nq, nq): minus the second derivative of sum m (field X) . X_moved by q, the forces held constant.

    `field` (3, 3): acceleration per metre from the centre of mass, base axes [1/s2].
    """
    loads = [_loads(body, moments.com, field) for body in moments.bodies]
    forces, turns = (np.array(values) for values in zip(*((force, turn) for force, turn, _ in loads), strict=True))
    rows, found = _moving_rows(moments), np.zeros((len(q), len(q)))
    if len(rows):
        found[rows] = -over_rows(_second_derivative_row, craft, q, forces, turns, rows=np.eye(len(q))[rows])
    for body, (_, _, modes) in zip(moments.bodies, loads, strict=True):
        # What the own modes displace turns with the frame.
        swung = -np.einsum("jab,kab->jk", body.gradient, modes)
        found[:, body.modes] += swung
        found[body.modes] += swung.T
        if np.any(body.chi):
            outward, own = body.R.T @ field @ (body.p - moments.com), body.R.T @ field @ body.R
            found[np.ix_(body.modes, body.modes)] -= body.chi @ outward + np.einsum("klab,ab->kl", body.xchi, own)
    return found


def _moving_rows(moments: DisplacementMoments) -> np.ndarray:
    """Indices of coordinates that move or turn the frame of a body; other coordinates only bend a body in its frame."""
    moves = sum(np.any(np.vstack([body.moving, body.turning]) != 0.0, axis=0) for body in moments.bodies)
    return np.flatnonzero(moves)


def _loads(body: BodyMoments, com: np.ndarray, field: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force of the field on a body, and its sums with x^T and with each phi^T, which do work when the frame turns."""
    a, R = body.p - com, body.R
    force = field @ (body.mass * a + R @ body.x)
    turn = field @ (np.outer(a, body.x) + R @ body.xx)
    modes = field @ (np.einsum("a,kb->kab", a, body.phi) + R @ body.xphi)
    return force, turn, modes


def _second_derivative_row(craft: Spacecraft, q: Vector, forces: Numeric, turns: Numeric, direction: Vector) -> Vector:
    """Row of the second derivative, along a direction of q, of the work of fixed forces on rigid bodies."""

    def work(at: Vector) -> Scalar:
        total = jnp.zeros(())
        for k, pose in enumerate(body_poses(craft, at)):
            total = total + forces[k] @ pose.p + jnp.sum(turns[k] * pose.R)
        return total

    return jax.jvp(jax.grad(work), (jnp.asarray(q),), (direction,))[1]
