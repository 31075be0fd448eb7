"""A push from outside: a constant wrench on a frame for a while."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import generalized_force
from freefloat.model import Spacecraft, State
from freefloat.model.part_kinds import Clock, Effect
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import ArrayLike, Numeric, Vector, is_traced
from freefloat.values.checks import require_array, require_bounds, set_fields


@record
class WrenchPulse(Effect):
    """An external wrench (force, torque) at a frame, in its axes, from `start` to `stop`, between ticks too."""

    frame: str = static()
    wrench: ArrayLike  # (6,) [N, N m]
    start: Numeric | float = 0.0  # [s]
    stop: Numeric | float = jnp.inf  # [s]

    def __post_init__(self) -> None:
        wrench = require_array("WrenchPulse.wrench", self.wrench, "N, N m", (6,), "force and torque, six numbers")
        set_fields(self, wrench=wrench)
        require_bounds(self, {"start": "s", "stop": "s"}, allow_infinite=True)
        if not is_traced(self.start, self.stop) and self.stop < self.start:
            raise ModelError(f"WrenchPulse stops at {self.stop:g} s, before it starts at {self.start:g} s.")

    def check(self, craft: Spacecraft) -> None:
        """Reject a frame that the spacecraft does not have."""
        self.require_known(craft, "frame", (self.frame,), craft.frame_names)

    def instants(self) -> tuple[Numeric | float, ...]:
        """Times at which the wrench starts and stops [s]."""
        always = [not is_traced(time) and not np.isfinite(time) for time in (self.start, self.stop)]
        return tuple(time for time, never in zip((self.start, self.stop), always, strict=True) if not never)

    def pushed_frames(self, craft: Spacecraft) -> tuple[str, ...]:
        """The frame at which the wrench acts."""
        return (self.frame,)

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force of the wrench on the spacecraft."""
        acting = (clock.t >= self.start) & (clock.t < self.stop)
        return generalized_force(craft, state.q, self.frame, jnp.where(acting, 1.0, 0.0) * self.wrench)
