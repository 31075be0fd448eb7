"""Paths of a hand: how far along, and how fast, at a time."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from freefloat.spatial import record
from freefloat.spatial.arrays import Numeric, Scalar, Vec3


@record
class Line:
    """A straight line at constant speed with linear ramps at both ends; the direction is in hand axes at the start."""

    direction: Vec3 | Sequence[float]  # in the axes of the hand at the start; its length does not matter
    length: Numeric | float  # [m]
    speed: Numeric | float  # of the plateau [m/s]
    ramp: Numeric | float = 2.0  # time to reach the plateau, and to stop again [s]

    def __post_init__(self) -> None:
        direction = np.asarray(self.direction, dtype=float)
        if direction.shape != (3,) or not np.linalg.norm(direction) > 0.0:
            raise ValueError(f"Line.direction must be three numbers, not all zero, got {self.direction}.")
        object.__setattr__(self, "direction", direction / np.linalg.norm(direction))
        if not (self.speed > 0.0 and self.length > 0.0 and self.ramp > 0.0):
            raise ValueError("Line needs a positive length [m], speed [m/s] and ramp [s].")
        if self.length < self.speed * self.ramp:
            raise ValueError(
                f"Line of {self.length} m is shorter than its two ramps at {self.speed} m/s, "
                f"{self.speed * self.ramp} m. Lower the speed or the ramp time."
            )

    @property
    def heading(self) -> Vec3:
        """Unit vector along the line, in hand axes at the start."""
        return self.direction  # pyright: ignore[reportReturnType]

    @property
    def duration(self) -> Scalar | float:
        """Time from rest to rest [s]."""
        return self.length / self.speed + self.ramp

    def distance(self, t: Scalar) -> Scalar:
        """Way covered at time t [m]."""
        end, ramp = self.duration, self.ramp
        t = jnp.clip(t, 0.0, end)
        rising = 0.5 * self.speed * jnp.minimum(t, ramp) ** 2 / ramp
        cruising = self.speed * jnp.clip(t - ramp, 0.0, end - 2.0 * ramp)
        left = jnp.minimum(end - t, ramp)
        return rising + cruising + 0.5 * self.speed * (ramp - left**2 / ramp)

    def rate(self, t: Scalar) -> Scalar:
        """Speed along the path at time t [m/s]."""
        return self.speed * jnp.clip(jnp.minimum(t, self.duration - t) / self.ramp, 0.0, 1.0)

    def displacement(self, t: Scalar) -> Vec3:
        """Displacement since the start, in hand axes at the start [m]."""
        return self.heading * self.distance(t)

    def velocity(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Velocity at time t, or its mean over the coming `hold` seconds, in hand axes at the start [m/s]."""
        if hold > 0.0:
            return self.heading * (self.distance(t + hold) - self.distance(t)) / hold
        return self.heading * self.rate(t)
