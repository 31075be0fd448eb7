"""Profiles: distance along a motion as a function of time, from rest to rest."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import jax.numpy as jnp

from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, is_traced
from freefloat.values.checks import require_quantity

_QUINTIC_PEAK = 1.875  # largest rate of the quintic in units of length / duration
_QUINTIC_ACCELERATION = 10.0 / 3.0**0.5  # largest acceleration in units of length / duration^2


@runtime_checkable
class Profile(Protocol):
    """Motion from 0 to `length` in `duration`; at rest before and after."""

    @property
    def length(self) -> Numeric | float:
        """Whole distance [m or rad]."""
        ...

    @property
    def duration(self) -> Numeric | float:
        """Time from rest to rest [s]."""
        ...

    def distance(self, t: Scalar) -> Scalar:
        """Distance covered at time t [m or rad]."""
        ...

    def rate(self, t: Scalar) -> Scalar:
        """Rate at time t [m/s or rad/s]."""
        ...


def mean_rate(profile: Profile, t: Scalar, hold: float) -> Scalar:
    """Rate at time t, or its mean over the coming `hold` seconds when that is not zero."""
    if hold > 0.0:
        return (profile.distance(t + hold) - profile.distance(t)) / hold
    return profile.rate(t)


@record
class Trapezoid:
    """Profile with constant speed and linear ramps at both ends."""

    length: Numeric | float  # [m or rad]
    speed: Numeric | float  # of the plateau [m/s or rad/s]
    ramp: Numeric | float = 2.0  # time to reach the plateau, and to stop again [s]

    def __post_init__(self) -> None:
        for name, unit in (("length", "m or rad"), ("speed", "m/s or rad/s"), ("ramp", "s")):
            require_quantity(f"The {name} of a trapezoid", getattr(self, name), unit, above=0.0)
        if not is_traced(self.length, self.speed, self.ramp) and self.length < self.speed * self.ramp:
            raise ValueError(
                f"A way of {self.length:g} m or rad is shorter than its two ramps, {self.speed * self.ramp:g} m or rad "
                f"at {self.speed:g} m/s or rad/s with {self.ramp:g} s each. Lower the speed or the ramp time."
            )

    @property
    def duration(self) -> Numeric | float:
        """Time from rest to rest [s]."""
        return self.length / self.speed + self.ramp

    def distance(self, t: Scalar) -> Scalar:
        """Distance covered at time t [m or rad]."""
        end, ramp = self.duration, self.ramp
        t = jnp.clip(t, 0.0, end)
        rising = 0.5 * self.speed * jnp.minimum(t, ramp) ** 2 / ramp
        cruising = self.speed * jnp.clip(t - ramp, 0.0, end - 2.0 * ramp)
        left = jnp.minimum(end - t, ramp)
        return rising + cruising + 0.5 * self.speed * (ramp - left**2 / ramp)

    def rate(self, t: Scalar) -> Scalar:
        """Rate at time t [m/s or rad/s]."""
        return self.speed * jnp.clip(jnp.minimum(t, self.duration - t) / self.ramp, 0.0, 1.0)


@record
class Quintic:
    """Profile 10 s^3 - 15 s^4 + 6 s^5: velocity and acceleration vanish at both ends."""

    length: Numeric | float  # [m or rad]
    duration: Numeric | float  # [s]

    def __post_init__(self) -> None:
        require_quantity("The length of a quintic", self.length, "m or rad")
        require_quantity("The duration of a quintic", self.duration, "s", above=0.0)

    @staticmethod
    def within(length: float, rate: float, acceleration: float = float("inf")) -> Quintic:
        """Shortest quintic within a largest rate and acceleration."""
        require_quantity("The largest rate of Quintic.within", rate, "m/s or rad/s", above=0.0, allow_infinite=True)
        require_quantity(
            "The largest acceleration of Quintic.within", acceleration, "m/s2 or rad/s2", above=0.0, allow_infinite=True
        )
        by_rate = _QUINTIC_PEAK * abs(length) / rate
        by_acceleration = (_QUINTIC_ACCELERATION * abs(length) / acceleration) ** 0.5
        return Quintic(length=length, duration=max(by_rate, by_acceleration, 1e-9))

    def distance(self, t: Scalar) -> Scalar:
        """Distance covered at time t [m or rad]."""
        s = jnp.clip(t / self.duration, 0.0, 1.0)
        return self.length * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)

    def rate(self, t: Scalar) -> Scalar:
        """Rate at time t [m/s or rad/s]."""
        s = jnp.clip(t / self.duration, 0.0, 1.0)
        return self.length * 30.0 * (s * (1.0 - s)) ** 2 / self.duration
