"""Inverse kinematics offline: joint positions that put a frame where it is wanted, the base standing still."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import numpy as np

from freefloat.dynamics.free_floating import joint_jacobian
from freefloat.dynamics.kinematics import frame_pose
from freefloat.model import Spacecraft
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_log
from freefloat.values.arrays import Numeric
from freefloat.values.compiling import compiled_on_call

_STEPS = 200
_TRUST = 0.2  # largest joint step of one iteration [rad, m]


@dataclass(frozen=True)
class JointSolution:
    """Joint positions at which the search for a pose ended, and the error that is left."""

    q: np.ndarray  # joint positions [rad, m]
    position_error: float  # what is left [m]
    rotation_error: float  # what is left [rad]

    @property
    def reached(self) -> bool:
        """Whether the pose is met to a hundredth of a millimetre and a thousandth of a degree."""
        return self.position_error < 1e-5 and self.rotation_error < 2e-5

    @property
    def status(self) -> str:
        """Result of the search in words."""
        if self.reached:
            return "reached"
        return (
            f"out of reach: the nearest pose found misses by {1e3 * self.position_error:.1f} mm and "
            f"{np.rad2deg(self.rotation_error):.2f} deg"
        )


@compiled_on_call
def inverse_kinematics(craft: Spacecraft, frame: str, X_BE: Pose, start: Numeric) -> JointSolution:
    """Newton with damping from a start: the solution near it, or the nearest pose and a status that reports it."""

    def linear_model(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        position, rotation, J = _linear_model(craft, frame, X_BE, q)
        return np.asarray(position), np.asarray(rotation), np.asarray(J)

    where = np.array(craft.layout.joint_positions, dtype=int)
    q, damping = np.array(start, dtype=float), 1e-3
    position, rotation, J = linear_model(q)
    for _ in range(_STEPS):
        error = np.concatenate([position, rotation])
        if np.linalg.norm(error) < 1e-12:
            break
        step = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(6), error)
        trial = q.copy()
        trial[where] += step * min(1.0, _TRUST / max(float(np.max(np.abs(step))), 1e-12))
        position, rotation, J_new = linear_model(trial)
        if np.linalg.norm(np.concatenate([position, rotation])) < np.linalg.norm(error):
            q, J, damping = trial, J_new, max(damping / 4.0, 1e-9)
        else:
            position, rotation = error[:3], error[3:]
            damping *= 4.0
            if damping > 1e3:
                break
    layout = craft.layout
    for joint, motor in zip(layout.flexible_joints, layout.motor_positions, strict=True):
        q[motor] = q[layout.position(joint).start]  # gears are not wound up
    return JointSolution(q, float(np.linalg.norm(position)), float(np.linalg.norm(rotation)))


@functools.partial(jax.jit, static_argnames="frame")
def _linear_model(craft: Spacecraft, frame: str, X_BE: Pose, q: Numeric) -> tuple[Numeric, Numeric, Numeric]:
    """Errors to the wanted pose (position, rotation vector), and the Jacobian; base axes."""
    pose = frame_pose(craft, q, frame)
    return X_BE.p - pose.p, rotation_log(X_BE.R @ pose.R.T), joint_jacobian(craft, q, frame)
