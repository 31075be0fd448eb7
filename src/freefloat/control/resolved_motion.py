"""Resolved motion-rate control with the generalised Jacobian (spec 003, eq. 6-7)."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.control.channels import Channel, vector
from freefloat.control.laws import Motion
from freefloat.control.paths import Line
from freefloat.dynamics import (
    base_jacobian,
    frame_pose,
    free_floating,
    inertial_frame_pose,
    joint_jacobian,
    spd_solve,
)
from freefloat.model import ModelError, Spacecraft, State
from freefloat.spatial import Pose, angular, linear, record, six, static
from freefloat.spatial.arrays import Matrix, Numeric, Scalar, Vec3, Vec6, Vector
from freefloat.spatial.rotations import cross, rotation_log


@record
class ResolvedMotion:
    """Moves a frame along a path in inertial space while the base floats: the base's reaction is part of the Jacobian.

    `craft` is the model that the controller believes in; it may differ from the spacecraft that is simulated.
    """

    craft: Spacecraft
    path: Line
    frame: str = static()
    gain: Numeric | float = 0.0  # pose feedback [1/s]
    start: Pose = Pose()  # X_NE of the frame when the law began; set by `begin`

    def __post_init__(self) -> None:
        self.craft.frame(self.frame)
        joints = len(self.craft.layout.joint_velocities)
        if joints < 6:
            raise ModelError(
                f"ResolvedMotion needs at least six joints to move '{self.frame}' in six directions, "
                f"but spacecraft '{self.craft.name}' has {joints}."
            )

    @property
    def joints(self) -> tuple[str, ...]:
        """Every moving joint."""
        return self.craft.layout.moving_joints

    def begin(self, state: State) -> ResolvedMotion:
        """Start the path where the frame is now."""
        return dataclasses.replace(self, start=inertial_frame_pose(self.craft, state, self.frame))

    def desired_position(self, t: Scalar) -> Vec3:
        """Where the frame's origin should be [m], N."""
        return self.start.apply(self.path.displacement(t))

    def desired_twist(self, t: Scalar, hold: float) -> Vec6:
        """How the frame should move, N axes."""
        return six(self.start.R @ self.path.velocity(t, hold), jnp.zeros(3))

    def pose_error(self, pose: Pose, t: Scalar) -> Vec6:
        """Desired minus actual: position [m] and rotation vector [rad], N axes."""
        return six(self.desired_position(t) - pose.p, rotation_log(self.start.R @ pose.R.T))

    def channels(self) -> tuple[Channel, ...]:
        """What this law adds to a run."""
        return (
            vector(f"{self.frame}.position_error", f"{self.frame}: path minus position", "m", "N"),
            vector(f"{self.frame}.rotation_error", f"{self.frame}: rotation to the desired attitude", "rad", "N"),
        )

    def observe(self, craft: Spacecraft, state: State, t: Scalar) -> tuple[Vec3, ...]:
        """How far the frame of the true spacecraft is from where it should be."""
        error = self.pose_error(inertial_frame_pose(craft, state, self.frame), t)
        return linear(error), angular(error)

    def rates(self, motion: Motion, t: Scalar, hold: float) -> Vector:
        """Joint rates that give the frame the desired twist, whatever momentum there is (eq. 7)."""
        X_NB = motion.X_NB
        body = free_floating(self.craft, motion.q, X_NB.R)
        J_b = base_jacobian(self.craft, motion.q, self.frame, X_NB.R)
        J_m = joint_jacobian(self.craft, motion.q, self.frame, X_NB.R)
        # Momentum about the base origin; the wheels keep their share, and their spin inertia leaves the base's.
        P, L_0 = linear(motion.momentum), angular(motion.momentum)
        momentum = six(P, L_0 - cross(motion.p_NB, P))
        H_b, momentum = _without_wheels(self.craft, motion, body.H_b, momentum)
        reaction = spd_solve(H_b, jnp.concatenate([body.H_bm, momentum[:, None]], axis=1))
        J_g = J_m - J_b @ reaction[:, :-1]
        wanted = self.desired_twist(t, hold) - J_b @ reaction[:, -1]
        wanted = wanted + self.gain * self.pose_error(X_NB @ frame_pose(self.craft, motion.q, self.frame), t)
        return least_squares(J_g, wanted)


def _without_wheels(craft: Spacecraft, motion: Motion, H_b: Matrix, momentum: Vec6) -> tuple[Matrix, Vec6]:
    """What base and arm share once each base wheel keeps its own axial momentum."""
    R_NB = motion.X_NB.R
    for k, wheel in enumerate(craft.wheels):
        if wheel.body != "base":
            raise ModelError(f"ResolvedMotion knows wheels on the base only; '{wheel.name}' is on '{wheel.body}'.")
        axis = six(np.zeros(3), R_NB @ wheel.axis)
        H_b = H_b - wheel.inertia * jnp.outer(axis, axis)
        momentum = momentum - motion.wheel_momentum[k] * axis
    return H_b, momentum


def least_squares(J: Matrix, wanted: Vector) -> Vector:
    """Smallest x with J x = wanted: normal equations, refined once so that squaring J costs no digits."""
    gram = J @ J.T
    first = J.T @ spd_solve(gram, wanted)
    return first + J.T @ spd_solve(gram, wanted - J @ first)
