"""Friction by bristles: a spring and a damper across the contact, in series with a slider.

With z the deflection, v the velocity across the contact and s = k z + c v, the force is -s where |s| is at most the
limit mu F, and of that size against s where it would be more. In either case the bristle bends at the rate
zdot = (|force| s/|s| - k z)/c, which is v while it sticks. It holds still below the limit, slips at exactly Coulomb's
force, and gives back no more than it stored:

    -force . v = d/dt (k z^2 / 2) + c zdot^2 + limit (|s| - limit)/c    (the last while it slips)
"""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.values import record
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vector
from freefloat.values.checks import require_bounds


@record
class BristleFriction:
    """Friction forces at all points, with the rates of the bristles."""

    force: Matrix  # (n, 3) [N]
    rate: Matrix  # (n, 3): of their deflections [m/s]
    heat: Scalar  # power lost [W]
    slips: Numeric  # (n,) flags


@record
class Bristles:
    """Coulomb friction with a compliance of its own; the deflections of the bristles are its state."""

    friction: Numeric | float  # mu
    stiffness: Numeric | float  # k, across the contact [N/m]
    damping: Numeric | float  # c, across the contact [N s/m]

    def __post_init__(self) -> None:
        require_bounds(self, {"friction": "1"}, least=0.0)
        require_bounds(self, {"stiffness": "N/m", "damping": "N s/m"}, above=0.0)

    def friction_forces(self, z: Matrix, velocities: Matrix, normals: Matrix, pushes: Vector) -> BristleFriction:
        """Friction at points with deflections z (n, 3), velocities across and along normals, and normal forces [N]."""
        bent, across = _across(z, normals), _across(velocities, normals)
        limits = self.friction * jnp.maximum(pushes, 0.0)
        s = self.stiffness * bent + self.damping * across
        squared = jnp.sum(s * s, axis=1)
        slips = squared > limits**2
        share = jnp.where(slips, limits / jnp.sqrt(jnp.where(slips, squared, 1.0)), 1.0)
        rate = jnp.where(slips[:, None], (share[:, None] * s - self.stiffness * bent) / self.damping, across)
        slipping = jnp.sum(share * (1.0 - share) * squared) / self.damping
        return BristleFriction(-share[:, None] * s, rate, self.damping * jnp.sum(rate * rate) + slipping, slips)

    def energy(self, z: Matrix) -> Scalar:
        """Energy stored in the bristles [J]."""
        return 0.5 * self.stiffness * jnp.sum(z * z)


def _across(x: Matrix, normals: Matrix) -> Matrix:
    return x - jnp.sum(x * normals, axis=1, keepdims=True) * normals
