"""Failures: from a time on a part behaves differently. A failure wraps the part, which need not know about it.

A kind of failure says which parts it concerns, and overrides what changes: the commands that reach an actuator, its
force, the values of a sensor. A new kind is a class in one file, also in a user's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from freefloat.model.actuator import Actuator, PortCommands
from freefloat.model.part_kinds import Clock, Part, Sensor, Truth
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.channels import Channel, flag

if TYPE_CHECKING:
    from freefloat.model.world import World

_EARLY = 1e-9  # [s]; ticks are sums of floating-point numbers


@record
class Failure(Part):
    """A failure of something at a time; with `until` it recovers."""

    at: Numeric | float = dataclasses.field(default=0.0, kw_only=True)  # [s]
    until: Numeric | float = dataclasses.field(default=np.inf, kw_only=True)  # [s]

    @property
    def subject(self) -> str:
        """Name of what fails: the first field that the kind of failure adds."""
        own = [field.name for field in dataclasses.fields(self) if field.name not in _SHARED]
        return str(getattr(self, own[0])) if own else type(self).__name__

    def channel(self) -> Channel:
        """Channel with the condition of what may fail: works or failed."""
        return flag(f"failure.{self.subject}", f"{type(self).__name__}: {self.subject}", ("works", "failed"))

    def present(self, t: Scalar) -> Flag:
        """Whether the failure is present at the tick at time t."""
        return (t >= self.at - _EARLY) & (t < self.until - _EARLY)

    # ---- what fails

    def concerns(self, part: Part) -> bool:
        """Whether a sensor or an actuator on its spacecraft is what fails."""
        return False

    def missing_text(self, parts: tuple[Part, ...]) -> str:
        """Sentence for a failure that concerns none of the parts on its spacecraft."""
        known = ", ".join(part.name or type(part).__name__ for part in parts) or "none"
        return f"{self.title}: nothing on its spacecraft is '{self.subject}'. Parts that may fail: {known}."

    def stuck_joints(self) -> tuple[str, ...]:
        """Joints that stop when it begins and stand still from then on."""
        return ()

    # ---- how it behaves from then on: what a kind of failure overrides

    def failed_commands(self, u: PortCommands, clock: Clock) -> PortCommands:
        """Commands that a failed actuator follows, made from limited ones."""
        return u

    def failed_force(self, force: Vector, clock: Clock) -> Vector:
        """Generalised force of a failed actuator, made from that of a sound one."""
        return force

    def failed_values(self, values: Mapping[str, Numeric], truth: Truth, clock: Clock) -> Mapping[str, Numeric]:
        """Values that a failed sensor measures, made from those of a sound one."""
        return values

    def measures_still(self) -> bool:
        """Whether a failed sensor takes samples at all."""
        return True

    def wrap(self, part: Part) -> Part:
        """The part with its failure."""
        if isinstance(part, Sensor):
            return FailedSensor(part, self, on=part.on, name=part.name, period=part.period, latency=part.latency)
        assert isinstance(part, Actuator)
        return FailedActuator(part, self, on=part.on, name=part.name, period=part.period)


_SHARED = tuple(field.name for field in dataclasses.fields(Failure))


@record
class FailedSensor(Sensor):
    """A sensor with a failure, which changes what it measures while it is present."""

    part: Sensor
    failure: Failure

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Values of a sample: those of the sound sensor, or what the failure makes of them."""
        sound = self.part.measure(truth, number, clock)
        failed, present = self.failure.failed_values(sound, truth, clock), self.failure.present(clock.t)
        return {name: jnp.where(present, failed[name], value) for name, value in sound.items()}

    def seen(self, truth: Truth, number: Numeric, clock: Clock) -> Flag:
        """Whether a sample gives a measurement."""
        seen = self.part.seen(truth, number, clock)
        return seen if self.failure.measures_still() else ~self.failure.present(clock.t) & seen
