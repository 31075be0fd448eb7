"""Six numbers for the pose of a base relative to the client: position and rotation vector, or joints of a robot.

In the joints of the robot that carries the base in a cell, limits of that robot are limits of the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.spatial import Pose, six
from freefloat.spatial.rotations import (
    axial,
    dexp_inverse,
    quaternion_exp,
    rotation_about,
    rotation_log,
    rotation_matrix,
)
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar, Vec6, Vector


@record
class PoseChart:
    """Position [m] in the client's frame, and rotation vector [rad] from an attitude that lies in the middle."""

    attitude: Numeric  # R_TB where the rotation vector is zero

    @property
    def count(self) -> int:
        """Number of chart numbers: three of position, three of rotation."""
        return 6

    def pose(self, numbers: Vector) -> Pose:
        """Pose X_TB of the base in the client's frame for given numbers."""
        turned = self.attitude @ rotation_matrix(quaternion_exp(numbers[3:]))
        return Pose(position=numbers[:3], rotation=turned)

    def numbers(self, X_TB: Pose) -> np.ndarray:
        """Numbers of a pose X_TB."""
        turn = rotation_log(jnp.asarray(np.asarray(self.attitude).T @ np.asarray(X_TB.R)))
        return np.concatenate([np.asarray(X_TB.p), np.asarray(turn)])

    def rates(self, numbers: np.ndarray, V_TB: np.ndarray) -> np.ndarray:
        """Rates of the numbers for a twist of the base, in base axes."""
        R_TB = np.asarray(self.pose(jnp.asarray(numbers)).R)
        return np.concatenate([R_TB @ V_TB[:3], np.asarray(dexp_inverse(jnp.asarray(numbers[3:]), V_TB[3:]))])


@record
class RobotChart:
    """Joints [rad] of the robot that carries the base, while the client's robot stands still."""

    offsets: Numeric  # (joints, 3) of each joint's frame in the one before [m]
    axes: Numeric  # (joints, 3)
    X_TR: Pose  # foot of the robot in the client's frame
    X_LB: Pose  # the base in the frame of the last link
    names: tuple[str, ...] = static(default=())

    @property
    def count(self) -> int:
        """Number of joints of the robot."""
        return len(self.names)

    def pose(self, numbers: Vector) -> Pose:
        """Pose X_TB of the base in the client's frame for given joint angles [rad]."""
        X = self.X_TR
        for offset, axis, angle in zip(self.offsets, self.axes, numbers, strict=True):
            X = X @ Pose(position=jnp.asarray(offset), rotation=rotation_about(jnp.asarray(axis), angle))
        return X @ self.X_LB


def relative_motion(chart: Any, numbers: Vector, rates: Vector, accelerations: Vector) -> tuple[Pose, Vec6, Vec6]:
    """Pose X_TB, twist V_TB and the rate of the twist's components, in base axes."""

    def pose_at(s: Scalar) -> tuple[Vector, Numeric]:
        X = chart.pose(numbers + s * rates + 0.5 * s * s * accelerations)
        return jnp.asarray(X.p), jnp.asarray(X.R)

    def twist(s: Scalar) -> tuple[Vec6, tuple[Vector, Numeric]]:
        (p, R), (velocity, turning) = _with_derivative(pose_at, s)
        return six(R.T @ velocity, -0.5 * axial(R.T @ turning)), (p, R)

    (V, (p, R)), (Vdot, _) = _with_derivative(twist, jnp.zeros(()))
    return Pose(position=p, rotation=R), V, Vdot


def _with_derivative(function: Callable[[Scalar], Any], s: Scalar) -> tuple[Any, Any]:
    return jax.jvp(function, (s,), (jnp.ones(()),))
