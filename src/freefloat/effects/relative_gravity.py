"""Gravity seen from a point in orbit: g(R + r) - g(R), to first order in r or without that approximation.

Fields act on a lump: a mass m at r from that point, with its inertia about its own centre of mass. The linear field is
exact for a lump of any size; the full field expands gravity about the centre of each lump to second order in the lump's
size.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from freefloat.spatial import SpatialInertia
from freefloat.spatial.rotations import cross
from freefloat.values import record
from freefloat.values.arrays import Mat3, Scalar, Vec3


@record
class LumpedMass:
    """Mass, centre of mass and inertia about it, in the axes in which the field is given."""

    mass: Scalar | float  # [kg]
    com: Vec3  # from the origin of those axes [m]
    inertia: Mat3  # [kg m2]


def gravity_gradient_torque(inertia: Mat3, nadir: Vec3, rate: Scalar) -> Vec3:
    """Torque 3 n^2 c x I c [N m] for a nadir vector c, in the axes of the inertia about the centre of mass."""
    return 3.0 * rate**2 * cross(nadir, inertia @ nadir)


@record
class LinearField:
    """First order in r: the acceleration is n^2 (3 c c^T - 1) r, with n^2 = mu / R^3 and c the unit vector to nadir."""

    nadir: Vec3
    rate: Scalar  # n [rad/s]

    def potential(self, body: SpatialInertia, r: Vec3) -> Scalar:
        """Energy [J] of mass whose inertia is known about a point at r; that point need not be its centre of mass."""
        c, inertia, moment = self.nadir, body.inertia, body.moment
        place = 0.5 * body.mass * (r @ r - 3.0 * (c @ r) ** 2) + r @ moment - 3.0 * (c @ r) * (c @ moment)
        return self.rate**2 * (place + 0.5 * (3.0 * c @ inertia @ c - jnp.trace(inertia)))

    def force(self, lump: LumpedMass, r: Vec3) -> Vec3:
        """Force on the centre of mass of a lump at r [N]."""
        return lump.mass * self.rate**2 * (3.0 * self.nadir * (self.nadir @ r) - r)

    def couple(self, lump: LumpedMass, r: Vec3) -> Vec3:
        """Torque on a lump about its centre of mass [N m]."""
        return gravity_gradient_torque(lump.inertia, self.nadir, self.rate)


@record
class FullField:
    """All orders in r. Differences of nearly equal numbers are rewritten, so that no digits are lost."""

    nadir: Vec3
    rate: Scalar  # root of mu / R^3 [rad/s]
    distance: Scalar | float  # R [m]

    def potential(self, lump: LumpedMass, r: Vec3) -> Scalar:
        """Energy [J] of a lump with its centre of mass at r, less that at the origin and that of falling with it.

        With s = |R + r| / R and e = s^2 - 1, 1/s - 1 + e/2 = e^2 (s + 2) / (2 s (1 + s)^2).
        """
        ratio, e = self._distance_ratio(r)
        bent = e**2 * (ratio + 2.0) / (2.0 * ratio * (1.0 + ratio) ** 2)
        place = lump.mass * (0.5 * (r @ r) - self.distance**2 * bent)
        c = self._nadir_at(r)
        size = 0.5 * (3.0 * c @ lump.inertia @ c - jnp.trace(lump.inertia)) / ratio**3
        return self.rate**2 * (place + size)

    def force(self, lump: LumpedMass, r: Vec3) -> Vec3:
        """Force on the centre of mass of a lump at r [N], the effect of its size included."""
        return -jax.grad(lambda at: self.potential(lump, at))(jnp.asarray(r))

    def couple(self, lump: LumpedMass, r: Vec3) -> Vec3:
        """Torque on a lump about its centre of mass, by the gravity gradient at its place [N m]."""
        ratio, _ = self._distance_ratio(r)
        return gravity_gradient_torque(lump.inertia, self._nadir_at(r), self.rate) / ratio**3

    def _distance_ratio(self, r: Vec3) -> tuple[Scalar, Scalar]:
        """s = |R + r| / R, and s^2 - 1 without cancellation."""
        x = r / self.distance
        e = x @ x - 2.0 * (self.nadir @ x)
        return jnp.sqrt(1.0 + e), e

    def _nadir_at(self, r: Vec3) -> Vec3:
        """Unit vector from the lump to the centre."""
        ratio, _ = self._distance_ratio(r)
        return (self.nadir - r / self.distance) / ratio


def second_order_term(nadir: Vec3, rate: Scalar, distance: Scalar | float, r: Vec3) -> Vec3:
    """First term that the linear field leaves out: the part of g(R + r) of second order in r [m/s2]."""
    up = nadir @ r
    return 1.5 * rate**2 / distance * ((5.0 * up**2 - r @ r) * nadir - 2.0 * up * r)
