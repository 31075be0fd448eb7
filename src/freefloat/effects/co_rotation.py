"""The start of a free drift in orbit."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import composite_inertia
from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.effects.elliptic_orbit import EllipticOrbit
from freefloat.model import Spacecraft, State
from freefloat.spatial import six
from freefloat.spatial.rotations import cross, quaternion_of
from freefloat.values.arrays import ArrayLike


def co_rotating_state(
    craft: Spacecraft, orbit: CircularOrbit | EllipticOrbit, q: np.ndarray, attitude: ArrayLike | None = None
) -> State:
    """Turning with the orbital frame at t = 0, aligned with it or at an attitude R_OB (3, 3) in it.

    The centre of mass, not the base, rests in N; with an attitude it is at the origin of O.
    """
    state = craft.at_rest(q)
    rate = orbit.angular_velocity(0.0)
    com = composite_inertia(craft, state.q).com
    if attitude is not None:
        R_OB = jnp.asarray(attitude, dtype=float)
        rate = R_OB.T @ rate
        state = dataclasses.replace(state, p_NB=-R_OB @ com, quat_NB=quaternion_of(R_OB))
        craft.require_state(state)
    twist = six(-cross(rate, com), rate)
    return dataclasses.replace(state, v=jnp.asarray(state.v).at[:6].set(twist))
