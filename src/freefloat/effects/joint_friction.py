"""Friction in joints."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.checks import require_bounds


@record
class Friction:
    """Friction of every joint: Coulomb, smoothed around standstill, and viscous."""

    coulomb: Numeric | float = 0.0  # [N m]
    viscous: Numeric | float = 0.0  # [N m s/rad]
    smoothing: Numeric | float = 1e-3  # rate at which Coulomb friction reaches three quarters of its value [rad/s]

    def __post_init__(self) -> None:
        require_bounds(self, {"coulomb": "N m", "viscous": "N m s/rad"}, least=0.0)
        require_bounds(self, {"smoothing": "rad/s"}, above=0.0)

    def torque(self, rate: Vector) -> Vector:
        """Against the motion."""
        return -self.coulomb * jnp.tanh(rate / self.smoothing) - self.viscous * rate
