"""Rotations in plain NumPy, for single cycles: a facility's clock does not wait for a compiler.

The conventions are those of `freefloat.spatial`, against which every function is tested.
"""

from __future__ import annotations

import math

import numpy as np


def skew(a: np.ndarray) -> np.ndarray:
    """Matrix of the cross product with a vector a."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product a x b of two vectors; NumPy's function takes ten times as long."""
    ax, ay, az = a.tolist()
    bx, by, bz = b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def matrix_of(quat: np.ndarray) -> np.ndarray:
    """Rotation matrix R_AB of a unit quaternion quat_AB."""
    w, x, y, z = quat.tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """Unit quaternion quat_AB of R_AB, scalar part not negative; computed from its largest component (Shepperd)."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    squares = np.array([trace, R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(squares))
    quat = np.empty(4)
    if k == 0:
        quat[:] = 1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        quat[0] = R[l, j] - R[j, l]
        quat[1 + i], quat[1 + j], quat[1 + l] = 1.0 + 2.0 * R[i, i] - trace, R[i, j] + R[j, i], R[i, l] + R[l, i]
    quat /= math.sqrt(quat @ quat)
    return -quat if quat[0] < 0.0 else quat


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of quaternions quat_AC = quat_AB * quat_BC."""
    aw, ax, ay, az = a.tolist()
    bw, bx, by, bz = b.tolist()
    return np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def conjugate(quat: np.ndarray) -> np.ndarray:
    """Inverse of a unit quaternion: quat_BA from quat_AB."""
    return quat * np.array([1.0, -1.0, -1.0, -1.0])


def quaternion_exp(rotation_vector: np.ndarray) -> np.ndarray:
    """Unit quaternion of a rotation vector [rad]."""
    angle = math.sqrt(rotation_vector @ rotation_vector)
    # sin(t/2)/t, by its series where the quotient would lose digits.
    ratio = 0.5 - angle**2 / 48.0 if angle < 1e-3 else math.sin(angle / 2.0) / angle
    return np.array([math.cos(angle / 2.0), *(ratio * rotation_vector)])


def quaternion_log(quat: np.ndarray) -> np.ndarray:
    """Rotation vector [rad] of a unit quaternion, for the shorter of the two rotations."""
    if quat[0] < 0.0:
        quat = -quat
    xyz = quat[1:]
    length = math.sqrt(xyz @ xyz)
    return (2.0 * math.atan2(length, quat[0]) / length if length > 1e-12 else 2.0) * xyz


def rotation_log(R: np.ndarray) -> np.ndarray:
    """Rotation vector [rad] of a rotation matrix."""
    return quaternion_log(quaternion_of(R))
