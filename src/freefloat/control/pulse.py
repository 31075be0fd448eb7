"""A push from outside: a constant wrench on a frame for a while."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.dynamics import generalized_force
from freefloat.model import Spacecraft, State
from freefloat.spatial import record, static
from freefloat.spatial.arrays import Numeric, Scalar, Vec6, Vector


@record
class WrenchPulse:
    """An external wrench (force, torque) at a frame, in its axes, from `start` to `stop`."""

    craft: Spacecraft
    frame: str = static()
    wrench: Vec6  # [N, N m]
    start: Numeric | float = 0.0  # [s]
    stop: Numeric | float = jnp.inf  # [s]

    def begin(self, state: State) -> WrenchPulse:
        """Nothing to remember."""
        return self

    def force(self, state: State, t: Scalar, hold: float) -> Vector:
        """Generalised force of the wrench."""
        acting = (t >= self.start) & (t < self.stop)
        return generalized_force(self.craft, state.q, self.frame, jnp.where(acting, 1.0, 0.0) * self.wrench)
