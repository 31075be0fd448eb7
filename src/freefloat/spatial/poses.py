"""SE(3): the pose X_AB of frame B in frame A; it maps B-coordinates to A-coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.spatial.rotations import (
    dexp_inverse,
    from_roll_pitch_yaw,
    quaternion_exp,
    quaternion_of,
    rotation_fault,
    rotation_log,
    rotation_matrix,
    skew,
)
from freefloat.spatial.sixvectors import angular, linear, six
from freefloat.values.arrays import ArrayLike, Columns6, Mat3, Mat6, Quaternion, Vec3, Vec6, is_traced
from freefloat.values.checks import require_numbers
from freefloat.values.records import record

_UNITS = {"position": "m", "rotation": ""}
_REMEDIES = {
    "position": "Give x, y, z in metres.",
    "rotation": "Give a 3x3 rotation matrix with all its digits, or use Pose.from_rpy_deg or Pose.from_quaternion.",
}


@record
class Pose:
    """Rotation R_AB and position p_AB of a frame B in a frame A. `X_AC = X_AB @ X_BC`: inner letters cancel."""

    position: ArrayLike = (0.0, 0.0, 0.0)  # (3,) [m], in A
    rotation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        # Only shapes, and the values of NumPy arrays: poses are also made inside traced code.
        for name, shape in (("position", (3,)), ("rotation", (3, 3))):
            value = getattr(self, name)
            if not isinstance(value, jax.Array):
                value = require_numbers(f"Pose.{name}", value, _UNITS[name])
                object.__setattr__(self, name, value)
            if np.shape(value) != shape:
                raise ValueError(f"Pose.{name} must have shape {shape}, got {np.shape(value)}. {_REMEDIES[name]}")
        if isinstance(self.rotation, np.ndarray) and (fault := rotation_fault(self.rotation)):
            raise ValueError(f"Pose.rotation is not a rotation: {fault}. {_REMEDIES['rotation']}")

    @property
    def p(self) -> Vec3:
        """Position p_AB [m] in A."""
        return self.position

    @property
    def R(self) -> Mat3:
        """Rotation matrix R_AB."""
        return self.rotation

    @staticmethod
    def from_quaternion(quat: Quaternion, position: Vec3) -> Pose:
        """Pose from a scalar-first unit quaternion quat_AB."""
        if not isinstance(quat, jax.Array):
            quat = require_numbers("The quaternion of a pose", quat, "")
            norm = np.linalg.norm(quat)
            if quat.shape != (4,) or abs(norm - 1.0) > 1e-6:
                raise ValueError(
                    f"Pose.from_quaternion needs a unit quaternion (w, x, y, z), got {quat}. Normalise it."
                )
            quat = quat if abs(norm - 1.0) < 1e-15 else quat / norm
        return Pose(position=position, rotation=rotation_matrix(quat))

    @staticmethod
    def from_rpy_deg(rpy_deg: ArrayLike, position: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        """Pose from Z-Y-X Euler angles (roll, pitch, yaw) in degrees."""
        angles = require_numbers("The angles of Pose.from_rpy_deg", rpy_deg, "deg")
        if np.shape(angles) != (3,):
            raise ValueError(f"Pose.from_rpy_deg needs roll, pitch and yaw in degrees, got shape {np.shape(angles)}.")
        rotation = from_roll_pitch_yaw(jnp.deg2rad(angles))
        return Pose(position=position, rotation=rotation if is_traced(rotation) else np.asarray(rotation))

    @property
    def quaternion(self) -> Quaternion:
        """Unit quaternion quat_AB of the rotation, scalar first."""
        return quaternion_of(self.R)

    def __matmul__(self, other: Pose) -> Pose:
        if not isinstance(other, Pose):
            return NotImplemented
        return Pose(position=self.p + self.R @ other.p, rotation=self.R @ other.R)

    def inverse(self) -> Pose:
        """Inverse pose X_BA."""
        return Pose(position=-(self.R.T @ self.p), rotation=self.R.T)

    def apply(self, point: Vec3) -> Vec3:
        """Coordinates in A of a point given in B."""
        return self.R @ point + self.p

    def adjoint(self) -> Mat6:
        """Matrix Ad_X that turns a twist expressed in B into the same twist expressed in A (docs/notation.md)."""
        return jnp.block([[self.R, skew(self.p) @ self.R], [jnp.zeros((3, 3)), self.R]])

    # The four transports take one six-vector or a matrix whose columns are six-vectors.

    def twist_to_A(self, V: Columns6) -> Columns6:
        """Ad_X V: the twist of a frame B as seen at a frame A fixed to it, in A axes."""
        w = self.R @ angular(V)
        return six(self.R @ linear(V) + skew(self.p) @ w, w)

    def twist_to_B(self, V: Columns6) -> Columns6:
        """Ad_X^-1 V: the twist of a frame A as seen at a frame B fixed to it, in B axes."""
        return six(self.R.T @ (linear(V) - skew(self.p) @ angular(V)), self.R.T @ angular(V))

    def wrench_to_A(self, F: Columns6) -> Columns6:
        """Ad_X^-T F: a wrench at B, in B axes, carried to A."""
        f = self.R @ linear(F)
        return six(f, self.R @ angular(F) + skew(self.p) @ f)

    def wrench_to_B(self, F: Columns6) -> Columns6:
        """Ad_X^T F: a wrench at A, in A axes, carried to B."""
        return six(self.R.T @ linear(F), self.R.T @ (angular(F) - skew(self.p) @ linear(F)))

    @staticmethod
    def exp(twist: Vec6) -> Pose:
        """Pose reached after unit time with a constant body twist."""
        theta, v = angular(twist), linear(twist)
        return Pose(position=_left_jacobian(theta) @ v, rotation=rotation_matrix(quaternion_exp(theta)))

    def log(self) -> Vec6:
        """The constant body twist that reaches this pose in unit time."""
        theta = rotation_log(self.R)
        # V(theta)^-1 p: the inverse differential of exp, of the left kind.
        return six(dexp_inverse(-theta, self.p), theta)


if TYPE_CHECKING:
    PoseLike = Pose
else:
    PoseLike = Pose | ArrayLike  # a pose, or the position of one that is aligned


def as_pose(at: PoseLike) -> Pose:
    """The given pose, or the aligned pose at a given position x, y, z [m]."""
    return at if isinstance(at, Pose) else Pose(position=at)


def _left_jacobian(theta: Vec3) -> Mat3:
    """V(theta) = integral of exp(s theta) over s in [0, 1]."""
    squared = theta @ theta
    small = squared < 1e-4
    angle = jnp.sqrt(jnp.where(small, 1.0, squared))
    # (1 - cos t)/t^2 written with the half angle, so that nothing cancels.
    half_sine = jnp.sin(angle / 2.0)
    first = jnp.where(small, 0.5 - squared / 24.0 + squared**2 / 720.0, 2.0 * (half_sine / angle) ** 2)
    second = jnp.where(
        small,
        1.0 / 6.0 - squared / 120.0 + squared**2 / 5040.0 - squared**3 / 362880.0,
        (angle - jnp.sin(angle)) / angle**3,
    )
    K = skew(theta)
    return jnp.eye(3) + first * K + second * (K @ K)
