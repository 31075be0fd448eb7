"""Software that prescribes joint rates: servos follow them, feed-forward differentiates them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from freefloat.model import Clock, JointRates, Measurements, Software
from freefloat.values import SoftwareError, record
from freefloat.values.arrays import Vector

# A plain property would not let a subclass have a field of that name.
overridable = property if TYPE_CHECKING else cached_property


@record
class RateSoftware(Software):
    """Software that prescribes the rates of some joints; subclasses write `joints` and `rates`.

    A continuous one may read poses, joint positions, modes and momenta, whose rates are known beforehand, but no
    velocity: the accelerations come from differentiating the rates along the motion.
    """

    @overridable
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that the software moves."""
        raise NotImplementedError

    def rates(self, memory: Any, y: Measurements, clock: Clock) -> Vector:
        """Joint rates [rad/s, m/s] in the order of `joints`; where they are held, their mean over `clock.hold`."""
        raise NotImplementedError

    def command(self, memory: Any, y: Measurements, clock: Clock) -> JointRates:
        """Command with the joint rates."""
        return JointRates(self.joints, self.rates(memory, y, clock))


def require_rate_software(what: str, software: object) -> None:
    """Raise an error if software does not prescribe joint rates."""
    if not isinstance(software, RateSoftware):
        kind = software.__name__ if isinstance(software, type) else type(software).__name__
        raise SoftwareError(f"{what} must be RateSoftware, software that gives joint rates, got {kind}.")
