"""Joint motion given as a function of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from freefloat.control.rate_software import RateSoftware
from freefloat.control.timed_path import clip_time
from freefloat.model import Clock, Measurements
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.checks import require_bounds


@record
class JointMotion(RateSoftware):
    """Motion by any function of time that returns joint positions [rad, m]. Only its rate is commanded."""

    joints: tuple[str, ...] = static()  # pyright: ignore[reportIncompatibleMethodOverride]
    function: Callable[[Any], Any] = static()  # of the time since the start [s], in jax.numpy
    duration: Numeric | float  # after which they stand still [s]

    def __post_init__(self) -> None:
        require_bounds(self, {"duration": "s"}, above=0.0)
        if not callable(self.function):
            raise ModelError(f"JointMotion.function must be a function of the time, got {self.function!r}.")

    def positions(self, t: Scalar) -> Vector:
        """Joint positions at time t [rad, m]."""
        asked = self.function(clip_time(jnp.asarray(t, dtype=float), self.duration))
        values = jnp.asarray(asked, dtype=float)
        if values.shape != (len(self.joints),):
            raise ModelError(
                f"JointMotion.function must return {len(self.joints)} numbers ({', '.join(self.joints)}), "
                f"got shape {values.shape}."
            )
        return values

    def rates(self, memory: tuple[()], y: Measurements, clock: Clock) -> Vector:
        """Joint rates now, or their mean over the coming hold; the measured positions are not used."""
        t, hold = jnp.asarray(clock.t, dtype=float), clock.hold
        if hold > 0.0:
            return (self.positions(t + hold) - self.positions(t)) / hold
        return jax.jvp(self.positions, (t,), (jnp.ones(()),))[1]
