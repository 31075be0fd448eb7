"""SO(3) as rotation matrices and scalar-first unit quaternions, accurate at the identity and near pi."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from freefloat.values.arrays import Mat3, Numeric, Quaternion, Scalar, Vec3

# Below this squared angle the Taylor series of the trigonometric ratios below, three terms of them,
# are exact in float64: the first neglected term is (1e-2)^3 / 5040 relative.
_SMALL_SQUARED = 1e-5


# skew(a)[i, j] = GENERATORS[i, j] @ a: written as one product, so that tracing it costs one operation and an axis
# that is known in advance stays a NumPy constant.
_GENERATORS = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _GENERATORS[_k, _j, _i], _GENERATORS[_j, _k, _i] = 1.0, -1.0
_UPPER = np.triu(np.ones((3, 3)))
_STRICTLY_UPPER = np.triu(np.ones((3, 3)), 1)


def skew(a: Vec3) -> Mat3:
    """Matrix of the cross product: skew(a) @ b = a x b."""
    return _GENERATORS @ a


def axial(N: Float[Numeric, "*stack 3 3"]) -> Float[Numeric, "*stack 3"]:
    """Vector u x w from N = u w^T; likewise for sums and integrals of such products."""
    return jnp.tensordot(N, -_GENERATORS, axes=((-2, -1), (0, 1)))


def cross(a: Vec3, b: Vec3) -> Vec3:
    """Cross product a x b."""
    return skew(a) @ b


def symmetric(A: Mat3) -> Mat3:
    """A matrix known to be symmetric, rebuilt from its upper triangle: compiled code never computes the other half."""
    return A * _UPPER + (A * _STRICTLY_UPPER).T


def rotation_fault(R: np.ndarray) -> str:
    """Why a matrix is no rotation; empty if it is one. Printed tables round, but not to fewer than nine digits."""
    error = float(np.max(np.abs(R @ R.T - np.eye(3))))
    if not error < 1e-9:
        return f"R R^T differs from 1 by {error:g}"
    return "it mirrors (determinant -1)" if np.linalg.det(R) < 0.0 else ""


def rotation_about(axis: Vec3, angle: Scalar) -> Mat3:
    """Rotation by an angle about a unit axis (Rodrigues)."""
    K = skew(axis)
    return np.eye(3) + jnp.sin(angle) * K + (1.0 - jnp.cos(angle)) * (K @ K)


def _ratios(squared: Scalar) -> tuple[jax.Array, jax.Array]:
    """Values of cos(t/2) and sin(t/2)/t from t^2, smooth through zero."""
    small = squared < _SMALL_SQUARED
    angle = jnp.sqrt(jnp.where(small, 1.0, squared))
    cosine = jnp.where(small, 1.0 - squared / 8.0 + squared**2 / 384.0, jnp.cos(angle / 2.0))
    sine = jnp.where(small, 0.5 - squared / 48.0 + squared**2 / 3840.0, jnp.sin(angle / 2.0) / angle)
    return cosine, sine


def quaternion_exp(rotation_vector: Vec3) -> Quaternion:
    """Unit quaternion of a rotation vector [rad]."""
    cosine, sine = _ratios(rotation_vector @ rotation_vector)
    return jnp.concatenate([cosine[None], sine * rotation_vector])


def quaternion_log(quat: Quaternion) -> Vec3:
    """Rotation vector [rad] of a unit quaternion, of the shorter of the two turns, accurate up to pi."""
    quat = jnp.where(quat[0] < 0.0, -quat, quat)
    w, xyz = quat[0], quat[1:]
    squared = xyz @ xyz
    small = squared < _SMALL_SQUARED
    length = jnp.sqrt(jnp.where(small, 1.0, squared))
    # t/sin(t/2) in s = sin(t/2)/cos(t/2): 2 atan(s)/s, divided by w.
    s_squared = squared / jnp.where(small, w**2, 1.0)
    series = 2.0 * (1.0 - s_squared / 3.0 + s_squared**2 / 5.0 - s_squared**3 / 7.0) / jnp.where(small, w, 1.0)
    return jnp.where(small, series, 2.0 * jnp.arctan2(length, w) / length) * xyz


def quaternion_multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Product of quaternions: quat_AC = quat_AB * quat_BC."""
    aw, av, bw, bv = a[0], a[1:], b[0], b[1:]
    return jnp.concatenate([(aw * bw - av @ bv)[None], aw * bv + bw * av + cross(av, bv)])


def quaternion_conjugate(quat: Quaternion) -> Quaternion:
    """Conjugate of a unit quaternion: quat_BA from quat_AB."""
    return jnp.concatenate([quat[:1], -quat[1:]])


def rotation_matrix(quat: Quaternion) -> Mat3:
    """Rotation matrix R_AB of a unit quaternion quat_AB."""
    K = skew(quat[1:])
    return np.eye(3) + 2.0 * (quat[0] * K + K @ K)


def quaternion_of(R: Mat3) -> Quaternion:
    """Quaternion quat_AB of R_AB, scalar part not negative. Largest component first (Shepperd): no digit is lost."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    # Each row is 4 * component * quaternion for one component; the row with the largest norm is used.
    rows = jnp.array(
        [
            [1 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], 1 + 2 * R[0, 0] - trace, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 + 2 * R[1, 1] - trace, R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 + 2 * R[2, 2] - trace],
        ]
    )
    best = rows[0]
    for k in (1, 2, 3):
        best = jnp.where(rows[k, k] > jnp.max(jnp.diagonal(rows)[:k]), rows[k], best)
    quat = best / jnp.sqrt(best @ best)
    return jnp.where(quat[0] < 0.0, -quat, quat)


def rotation_exp(rotation_vector: Vec3) -> Mat3:
    """Rotation matrix of a rotation vector [rad]."""
    return rotation_matrix(quaternion_exp(rotation_vector))


def rotation_log(R: Mat3) -> Vec3:
    """Rotation vector [rad] of a rotation matrix, accurate at the identity and up to pi."""
    return quaternion_log(quaternion_of(R))


def dexp_inverse(rotation_vector: Vec3, omega: Vec3) -> Vec3:
    """Rate of a rotation vector whose rotation turns with body rate omega: the inverse differential of exp."""
    squared = rotation_vector @ rotation_vector
    small = squared < _SMALL_SQUARED
    angle = jnp.sqrt(jnp.where(small, 1.0, squared))
    exact = (1.0 - (angle / 2.0) / jnp.tan(angle / 2.0)) / jnp.where(small, 1.0, squared)
    factor = jnp.where(small, 1.0 / 12.0 + squared / 720.0 + squared**2 / 30240.0, exact)
    turned = cross(rotation_vector, omega)
    return omega + 0.5 * turned + factor * cross(rotation_vector, turned)


def dexp_inverse_second_order(rotation_vector: Vec3, omega: Vec3) -> Vec3:
    """`dexp_inverse` to second order in the rotation vector: enough for a method of order five, and cheap."""
    turned = cross(rotation_vector, omega)
    return omega + 0.5 * turned + cross(rotation_vector, turned) / 12.0


def roll_pitch_yaw(R: Mat3) -> Vec3:
    """Z-Y-X Euler angles (roll, pitch, yaw) [rad]: R = Rz(yaw) Ry(pitch) Rx(roll).

    Roll is read after yaw has been turned back, so that the three give R again at a pitch of 90 degrees too.
    """
    pitch = jnp.arctan2(-R[2, 0], jnp.hypot(R[0, 0], R[1, 0]))
    yaw = jnp.arctan2(R[1, 0], R[0, 0])
    c, s = jnp.cos(yaw), jnp.sin(yaw)
    roll = jnp.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return jnp.stack([roll, pitch, yaw])


def from_roll_pitch_yaw(rpy: Vec3) -> Mat3:
    """Rotation matrix R = Rz(yaw) Ry(pitch) Rx(roll), angles in rad."""
    x, y, z = jnp.eye(3)
    return rotation_about(z, rpy[2]) @ rotation_about(y, rpy[1]) @ rotation_about(x, rpy[0])
