"""Failures at a time: what stops working, or no longer stops. They belong to the world; software has to notice."""

from __future__ import annotations

import dataclasses

import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.ports import Part
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Flag, Numeric, Scalar, is_traced
from freefloat.values.channels import Channel, flag

_EARLY = 1e-9  # [s]; ticks are sums of floating-point numbers


@record
class Failure(Part):
    """Something fails at a time; with `until` it recovers."""

    at: Numeric | float = dataclasses.field(default=0.0, kw_only=True)  # [s]
    until: Numeric | float = dataclasses.field(default=np.inf, kw_only=True)  # [s]

    @property
    def subject(self) -> str:
        """Name of what fails."""
        raise NotImplementedError

    def channel(self) -> Channel:
        """Whether it has failed, for the run's conditions."""
        return flag(f"failure.{self.subject}", f"{type(self).__name__}: {self.subject}", ("works", "failed"))

    def present(self, t: Scalar) -> Flag:
        """Whether it has failed at the tick at time t."""
        return (t >= self.at - _EARLY) & (t < self.until - _EARLY)


@record
class DeadWheel(Failure):
    """A wheel whose motor gives no torque; it goes on spinning."""

    wheel: str = static()

    @property
    def subject(self) -> str:
        """The wheel."""
        return self.wheel

    def check(self, craft: Spacecraft) -> None:
        """Refuse a wheel that is not there."""
        self.require_known(craft, "wheel", (self.wheel,), craft.wheel_names)


@record
class StuckJoint(Failure):
    """A joint that stops at once and stays where it is: it may not recover."""

    joint: str = static()

    @property
    def subject(self) -> str:
        """The joint."""
        return self.joint

    def check(self, craft: Spacecraft) -> None:
        """Refuse a joint that is not there or cannot move."""
        self.require_moving(craft, (self.joint,))
        if not is_traced(self.until) and np.isfinite(self.until):
            raise ModelError(f"StuckJoint '{self.joint}' may not recover: leave out until.")


@record
class BlindSensor(Failure):
    """A sensor that measures nothing new; what it told before stays, with its time."""

    sensor: str = static()  # name of the sensor, or its class: `Gyro`

    @property
    def subject(self) -> str:
        """The sensor."""
        return self.sensor


@record
class OpenThruster(Failure):
    """A thruster that stays open."""

    thruster: str = static()

    @property
    def subject(self) -> str:
        """The thruster."""
        return self.thruster
