"""A spring and a damper between a frame and its set point, for compliant control of a pose."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.spatial import Pose, angular, linear, six
from freefloat.spatial.rotations import skew
from freefloat.values import ModelError, record
from freefloat.values.arrays import ArrayLike, Scalar, Vec6
from freefloat.values.checks import require_quantity, set_fields

_UNITS = {"stiffness": "N/m, N m/rad", "damping": "N s/m, N m s/rad"}


@record
class PoseSpring:
    """Stiffness and damping, three numbers along the axes and three about them.

    The spring has an energy, U = p^T K p / 2 + 2 e^T K e with p = p_DE in the axes of the set point D and e the vector
    part of quat_DE; its wrench is minus the derivative of U along a twist, at any angle. Small angles: a linear spring.
    """

    stiffness: ArrayLike  # (6,) along and about the axes of the set point [N/m], [N m/rad]
    damping: ArrayLike  # (6,) along and about the axes of the frame [N s/m], [N m s/rad]

    def __post_init__(self) -> None:
        for name, unit in _UNITS.items():
            given = require_quantity(f"PoseSpring.{name}", getattr(self, name), unit, least=0.0)
            if np.shape(given) != (6,):
                raise ModelError(f"PoseSpring.{name} must be six numbers [{unit}], got shape {np.shape(given)}.")
            set_fields(self, **{name: given})

    @staticmethod
    def of_inertia(inertia: ArrayLike, frequency: float, damping_ratio: float = 1.0) -> PoseSpring:
        """Spring for six inertias ([kg], [kg m2]) that are to swing at a frequency [rad/s] with a damping ratio."""
        mass = np.asarray(inertia, dtype=float)
        return PoseSpring(frequency**2 * mass, 2.0 * damping_ratio * frequency * mass)

    def energy(self, X_DE: Pose) -> Scalar:
        """Energy U [J] of the spring with the frame E at X_DE from its set point."""
        K, quat = jnp.asarray(self.stiffness), X_DE.quaternion
        along, turned = jnp.asarray(X_DE.p), quat[1:]
        return 0.5 * along @ (linear(K) * along) + 2.0 * turned @ (angular(K) * turned)

    def spring_wrench(self, X_DE: Pose) -> Vec6:
        """Wrench of the spring on the frame E, in its axes: U falls by its power."""
        K, quat = jnp.asarray(self.stiffness), X_DE.quaternion
        pulled = angular(K) * quat[1:]
        # d e / dt = (w + skew(e)) omega / 2 with omega in E axes.
        return six(-(X_DE.R.T @ (linear(K) * X_DE.p)), -2.0 * (quat[0] * pulled - skew(quat[1:]) @ pulled))

    def damper_wrench(self, V_DE: Vec6) -> Vec6:
        """Wrench of the damper on the frame E that moves with V_DE from its set point, in E axes."""
        return -jnp.asarray(self.damping) * V_DE
