"""A push from outside that is constant in pieces: a wrench on a frame that jumps at given times."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.dynamics import generalized_force
from freefloat.model import Spacecraft, State
from freefloat.model.part_kinds import Clock, Effect
from freefloat.values import record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vec6, Vector
from freefloat.values.channels import Channel


@record
class WrenchSteps(Effect):
    """A wrench (force, torque) at a frame, in its axes: `values[i]` from `times[i]` on, zero before the first.

    `ff.Steps` at the port of a wrench becomes one, which checks its numbers.
    """

    frame: str = static()
    times: Vector  # (n,) rising [s]
    values: Matrix  # (n, 6) [N, N m]

    def check(self, craft: Spacecraft) -> None:
        """Reject a frame that the spacecraft does not have."""
        self.require_known(craft, "frame", (self.frame,), craft.frame_names)

    def instants(self) -> tuple[Numeric | float, ...]:
        """Times at which the wrench jumps [s]."""
        return tuple(self.times[k] for k in range(len(self.times)))

    def wrench(self, t: Scalar) -> Vec6:
        """Wrench at time t, in the axes of the frame [N, N m]."""
        since = t >= self.times
        last = since & jnp.concatenate([~since[1:], jnp.ones(1, bool)])
        return jnp.where(last, 1.0, 0.0) @ self.values

    def pushed_frames(self, craft: Spacecraft) -> tuple[str, ...]:
        """The frame at which the wrench acts."""
        return (self.frame,)

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force of the wrench on the spacecraft."""
        return generalized_force(craft, state.q, self.frame, self.wrench(clock.t))

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channel with the wrench, recorded as other inputs are."""
        name = f"input.{self.frame}.wrench"
        numbers = tuple(str(k + 1) for k in range(6))
        return (Channel(name, f"From outside: {self.frame}.wrench", "SI", "", f"{name}.number", numbers),)

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Value of the channel: the wrench from now on."""
        return (self.wrench(clock.t),)
