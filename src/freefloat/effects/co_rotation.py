"""The start of a free drift in orbit."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import composite_inertia
from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.model import Spacecraft, State
from freefloat.spatial import six
from freefloat.spatial.rotations import cross


def co_rotating_state(craft: Spacecraft, orbit: CircularOrbit, q: np.ndarray) -> State:
    """Aligned with the orbital frame at t = 0 and turning with it; the centre of mass, not the base, rests in N."""
    state = craft.at_rest(q)
    rate = jnp.array([0.0, -1.0, 0.0]) * orbit.rate
    twist = six(-cross(rate, composite_inertia(craft, state.q).com), rate)
    return dataclasses.replace(state, v=jnp.asarray(state.v).at[:6].set(twist))
