"""Spatial inertia as mass, first moment and inertia about the frame's origin: three numbers that simply add."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.spatial.poses import Pose
from freefloat.spatial.rotations import skew, symmetric
from freefloat.spatial.sixvectors import angular, linear, six
from freefloat.values.arrays import Columns6, Mat3, Mat6, Scalar, Vec3
from freefloat.values.records import record


@record
class SpatialInertia:
    """Inertia of a body or of a composite, about the origin of a frame and in its axes."""

    mass: Scalar | float  # [kg]
    moment: Vec3  # first moment, mass times centre of mass [kg m]
    inertia: Mat3  # about the origin [kg m2]

    @staticmethod
    def from_com(mass: Scalar | float, com: Vec3, inertia: Mat3) -> SpatialInertia:
        """Spatial inertia from mass, centre of mass and inertia about the centre of mass (parallel-axis theorem)."""
        C = skew(com)
        return SpatialInertia(mass=mass, moment=mass * com, inertia=symmetric(inertia - mass * (C @ C)))

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        return SpatialInertia(
            mass=self.mass + other.mass,
            moment=self.moment + other.moment,
            inertia=self.inertia + other.inertia,
        )

    def __matmul__(self, V: Columns6) -> Columns6:
        """Momentum about the origin of a body moving with body twist V; V may have several twists as columns."""
        v, w, S = linear(V), angular(V), skew(self.moment)
        return six(self.mass * v - S @ w, self.inertia @ w + S @ v)

    def to_A(self, X_AB: Pose) -> SpatialInertia:
        """This inertia, given in B, about the origin of A and in the axes of A."""
        R, p = X_AB.R, X_AB.p
        moment = R @ self.moment
        shifted = moment + self.mass * p
        P, S = skew(p), skew(moment)
        return SpatialInertia(
            mass=self.mass,
            moment=shifted,
            inertia=symmetric(R @ self.inertia @ R.T - P @ S - skew(shifted) @ P),
        )

    def matrix(self) -> Mat6:
        """The 6x6 matrix in the order (linear, angular)."""
        H = skew(self.moment)
        return jnp.block([[self.mass * jnp.eye(3), -H], [H, self.inertia]])

    @property
    def com(self) -> Vec3:
        """Centre of mass [m]."""
        return self.moment / self.mass

    def about_com(self) -> Mat3:
        """Inertia about the centre of mass [kg m2]."""
        C = skew(self.com)
        return self.inertia + self.mass * (C @ C)
