"""Momentum unloading: thrusters take out of the wheels the momentum that disturbances have put into them."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.actuators.thrusters import Thrusters
from freefloat.model import Spacecraft
from freefloat.model.commands import ThrusterDuty
from freefloat.model.part_kinds import Clock, Measurements, Software
from freefloat.spatial import six
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Scalar, Vec3, is_traced
from freefloat.values.checks import require_all, require_bounds


@record
class MomentumUnloading(Software[Scalar]):
    """Starts when the wheels hold more than `start` and ends below `stop`; the wheels' own software keeps the attitude.

    It uses models of its spacecraft and its thrusters; its memory is 1 while it unloads.
    """

    craft: Spacecraft
    thrusters: Thrusters
    start: Numeric | float = 5.0  # momentum of the wheels [N m s]
    stop: Numeric | float = 0.5  # [N m s]
    torque: Numeric | float = 0.05  # mean torque while unloading; keep it below what the wheels can make [N m]

    def __post_init__(self) -> None:
        require_all(
            lambda: require_bounds(self, {"start": "N m s", "stop": "N m s", "torque": "N m"}, least=0.0),
            self._require_order,
            self._require_wheels,
        )

    def _require_order(self) -> None:
        if not is_traced(self.start, self.stop) and self.stop > self.start:
            raise ModelError(
                f"MomentumUnloading must stop below where it starts, {self.stop:g} > {self.start:g} N m s. Exchange "
                "`start` and `stop`, or give a smaller `stop`."
            )

    def _require_wheels(self) -> None:
        if not self.craft.wheels_on("base"):
            raise ModelError(
                f"MomentumUnloading has nothing to unload: spacecraft '{self.craft.name}' has no wheels on its base. "
                "Add them with Spacecraft.with_wheel, or leave the software out."
            )

    def wheel_momentum(self, y: Measurements) -> Vec3:
        """Momentum of the base wheels, base axes [N m s]."""
        wheels, spin = self.craft.wheels_on("base"), y["wheels.absolute_momentum"]
        return sum(
            (spin[self.craft.wheel_names.index(w.name)] * jnp.asarray(w.axis) for w in wheels), start=jnp.zeros(3)
        )

    def begin(self, y: Measurements) -> Scalar:
        """Memory at the start: 0, no unloading."""
        return jnp.zeros(())

    def remember(self, memory: Scalar, y: Measurements, clock: Clock) -> Scalar:
        """Memory after this tick: 1 while unloading, else 0."""
        stored = self.wheel_momentum(y)
        size = jnp.sqrt(stored @ stored)
        return jnp.where(size > self.start, 1.0, jnp.where(size < self.stop, 0.0, memory))

    def command(self, memory: Scalar, y: Measurements, clock: Clock) -> ThrusterDuty:
        """Thruster command with a torque against the momentum of the wheels."""
        stored = self.wheel_momentum(y)
        size = jnp.sqrt(stored @ stored)
        direction = stored / jnp.where(size > 0.0, size, 1.0)
        duty = self.thrusters.allocate(six(jnp.zeros(3), -memory * self.torque * direction))
        return ThrusterDuty(duty=duty, thrusters=self.thrusters.name)
