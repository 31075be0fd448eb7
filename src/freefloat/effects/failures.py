"""Failures from a given time on: a part stops working, or no longer stops. On-board software has to detect them."""

from __future__ import annotations

import dataclasses

import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.part_kinds import Part
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Flag, Numeric, Scalar, is_traced
from freefloat.values.channels import Channel, flag

_EARLY = 1e-9  # [s]; ticks are sums of floating-point numbers


@record
class Failure(Part):
    """A failure of something at a time; with `until` it recovers."""

    at: Numeric | float = dataclasses.field(default=0.0, kw_only=True)  # [s]
    until: Numeric | float = dataclasses.field(default=np.inf, kw_only=True)  # [s]

    @property
    def subject(self) -> str:
        """Name of what fails: the field that each kind of failure adds."""
        return getattr(self, dataclasses.fields(self)[-1].name)

    def channel(self) -> Channel:
        """Channel with the condition of what may fail: works or failed."""
        return flag(f"failure.{self.subject}", f"{type(self).__name__}: {self.subject}", ("works", "failed"))

    def present(self, t: Scalar) -> Flag:
        """Whether the failure is present at the tick at time t."""
        return (t >= self.at - _EARLY) & (t < self.until - _EARLY)


@record
class DeadWheel(Failure):
    """A wheel whose motor gives no torque; it goes on spinning."""

    wheel: str = static()

    def check(self, craft: Spacecraft) -> None:
        """Reject a wheel that the spacecraft does not have."""
        self.require_known(craft, "wheel", (self.wheel,), craft.wheel_names)


@record
class StuckJoint(Failure):
    """A joint that stops at once and stays where it is: it may not recover."""

    joint: str = static()

    def check(self, craft: Spacecraft) -> None:
        """Reject a joint that the spacecraft does not have or that cannot move."""
        self.require_moving(craft, (self.joint,))
        if not is_traced(self.until) and np.isfinite(self.until):
            raise ModelError(f"StuckJoint '{self.joint}' may not recover: leave out until.")


@record
class BlindSensor(Failure):
    """A sensor that measures nothing new; its last value stays valid, with the time at which it was measured."""

    sensor: str = static()  # name of the sensor, or its class: `Gyro`


@record
class OpenThruster(Failure):
    """A thruster that stays open."""

    thruster: str = static()
