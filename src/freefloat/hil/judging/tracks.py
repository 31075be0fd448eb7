"""Frames of a run over time, at the cycles of its log: poses and twists in N, and wrenches about its origin.

A wrench about the origin of N, in its axes, is the same whatever body it acts on and pairs with the twist that the body
has at that origin: so impulses and powers of different spacecraft can be added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.sim.record.run import Run


@dataclass(frozen=True)
class FrameTrack:
    """Pose and twist of a frame at n instants."""

    position: np.ndarray  # p_N (n, 3) [m]
    rotation: np.ndarray  # R_N (n, 3, 3)
    velocity: np.ndarray  # of its origin, N axes (n, 3) [m/s]
    rate: np.ndarray  # N axes (n, 3) [rad/s]

    def wrench_about_origin(self, force: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque about the origin of N, of a wrench at this frame in its axes, each (n, 3)."""
        force_N = rotate_vectors(self.rotation, force)
        return force_N, rotate_vectors(self.rotation, torque) + np.cross(self.position, force_N)

    def power(self, force: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """Power [W] of a wrench about the origin of N on the body of this frame."""
        at_origin = self.velocity - np.cross(self.rate, self.position)
        return np.sum(force * at_origin, axis=1) + np.sum(torque * self.rate, axis=1)


def frame_track(run: Run, frame: str, times: np.ndarray) -> FrameTrack:
    """Motion of a frame of a run by its full name, such as `servicer.tool` or `client.base`, at given times [s]."""
    t = run.values("time")
    position, quat, velocity, rate = (
        run.values(f"{frame}.{what}") for what in ("position", "attitude", "velocity", "rate")
    )
    if frame.rpartition(".")[2] == "base":  # its velocity and rate are recorded in its own axes
        own = rotation_matrices(quat)
        velocity, rate = rotate_vectors(own, velocity), rotate_vectors(own, rate)
    return FrameTrack(
        interpolate_columns(times, t, position),
        rotation_matrices(interpolate_columns(times, t, continuous_quaternions(quat))),
        interpolate_columns(times, t, velocity),
        interpolate_columns(times, t, rate),
    )


def interpolate_columns(times: np.ndarray, t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Columns (n, k) at given times, linear between two records."""
    return np.stack([np.interp(times, t, column) for column in values.T], axis=1)


def continuous_quaternions(quat: np.ndarray) -> np.ndarray:
    """Quaternions (n, 4) of the same attitudes, with signs that do not jump."""
    jumps = np.sum(quat[1:] * quat[:-1], axis=1) < 0.0
    return quat * np.concatenate([[1.0], np.where(np.cumsum(jumps) % 2, -1.0, 1.0)])[:, None]


def rotation_matrices(quat: np.ndarray) -> np.ndarray:
    """Rotation matrices R (n, 3, 3) of quaternions (n, 4), which need not be of unit length."""
    w, x, y, z = (quat / np.linalg.norm(quat, axis=1, keepdims=True)).T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=1) for row in rows], axis=1)


def rotate_vectors(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Rotated vectors R x, of stacks (n, 3, 3) and (n, 3)."""
    return np.einsum("nij,nj->ni", R, x)


def rotate_back(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors rotated back, R^T x, of stacks (n, 3, 3) and (n, 3)."""
    return np.einsum("nji,nj->ni", R, x)


def rotation_vectors(R: np.ndarray) -> np.ndarray:
    """Rotation vectors (n, 3) [rad] of rotation matrices, for angles below half a revolution."""
    axis = 0.5 * np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    sine, cosine = np.linalg.norm(axis, axis=1), 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)
    angle = np.arctan2(sine, cosine)
    ratio = np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 1.0)
    return axis * ratio[:, None]
