"""Reaction null-space motion: joint rates that do not turn the base (Yoshida 2003, eq. 8-9)."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import Motion, clock_at, measured_positions
from freefloat.control.paths import Path, require_path
from freefloat.control.rate_software import RateSoftware
from freefloat.control.resolved_motion import require_six_joints
from freefloat.dynamics import FreeFloating, frame_pose, free_floating, joint_jacobian, spd_solve
from freefloat.dynamics.least_squares import Solution, damped_least_squares, null_basis
from freefloat.model import Clock, Measurements, Spacecraft, State, Truth
from freefloat.spatial import Pose, angular, linear, six
from freefloat.values import record, static
from freefloat.values.arrays import Matrix, Numeric, Vec6, Vector
from freefloat.values.channels import Channel, flag, vector

ROTATION_WEIGHT = 0.3  # of hand rotation against hand translation in the coarse approach [m/rad]
_DAMPING = 1e-8  # of joint rates against hand twist there [m2]


@record
class ReactionlessTurn(RateSoftware):
    """Turns a frame by a prescribed rotation about an axis fixed to the base, without reaction on the base attitude.

    Six joints have three motions without reaction; prescribing the hand's rotation uses them all, and its
    translation follows (section 2, under eq. 9). A rotation that is frozen allows no motion at all. It remembers where
    the frame was at the start, X_BE.
    """

    craft: Spacecraft
    path: Path  # its rotation is used, in base axes
    frame: str = static()
    singular_below: Numeric | float = 1e-3  # singular value of J_w in the null space under which it is damped

    def __post_init__(self) -> None:
        require_six_joints("ReactionlessTurn", self.craft, self.frame)
        require_path("ReactionlessTurn", self.path)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of all moving joints, which this software moves."""
        return self.craft.layout.moving_joints

    def begin(self, y: Measurements) -> Pose:
        """Memory at the start: pose X_BE of the frame."""
        return frame_pose(self.craft, measured_positions(self.craft, y), self.frame)

    def rates(self, memory: Pose, y: Measurements, clock: Clock) -> Vector:
        """Joint rates from [H~_bm; J_w] qdot = [0; w_h], base axes; damping reduces rotation, but adds no reaction."""
        return self.resolve(memory, y, clock).x

    def resolve(self, memory: Pose, y: Measurements, clock: Clock) -> Solution:
        """Joint rates with the status of the solution."""
        q = measured_positions(self.craft, y)
        N = null_basis(_reaction_rows(free_floating(self.craft, q)))
        turning = angular(joint_jacobian(self.craft, q, self.frame)) @ N
        found = damped_least_squares(turning, self.path.spin(clock.t, clock.hold), self.singular_below)
        return dataclasses.replace(found, x=N @ found.x)

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the motion of the frame relative to the base, and for damping."""
        frame = self.frame
        return (
            vector(f"{frame}.displacement", f"{frame}: displacement relative to the base", "m", "B"),
            vector(f"{frame}.relative_velocity", f"{frame}: velocity relative to the base", "m/s", "B"),
            flag(f"{frame}.singular", f"{frame}: null space", ("regular", "nearly singular, rates damped")),
        )

    def observe(self, memory: Pose, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: motion of the frame relative to the base, and whether rates are damped."""
        damped = self.resolve(memory, y, clock_at(clock, clock.t)).damped
        return (*relative_motion(truth.craft, truth.state, self.frame, memory), 1.0 * damped)


def relative_motion(craft: Spacecraft, state: State, frame: str, start: Pose) -> tuple[Numeric, ...]:
    """Displacement [m] and velocity [m/s] of a frame relative to the base, in base axes."""
    rates = state.v[np.array(craft.layout.joint_velocities, dtype=int)]
    velocity = linear(joint_jacobian(craft, state.q, frame) @ rates)
    return frame_pose(craft, state.q, frame).p - start.p, velocity


def approach_rates(
    craft: Spacecraft, motion: Motion, frame: str, twist: Vec6, rotation_weight: Numeric | float = ROTATION_WEIGHT
) -> Vector:
    """Reactionless joint rates whose hand twist in N axes comes nearest to the desired one (coarse approach).

    qdot = N a with a = argmin |J_v N a - v|^2 + w^2 |J_w N a - w_h|^2 + d |a|^2, N a basis of the reaction null space.
    J_v and J_w are of the hand relative to the base: how the base drifts along, and turns by what momentum its wheels
    have stored, is left to the feedback of the pose.
    """
    J_m = joint_jacobian(craft, motion.q, frame, motion.X_NB.R)
    return nearest_reactionless_rates(free_floating(craft, motion.q), J_m, twist, rotation_weight)


def nearest_reactionless_rates(
    body: FreeFloating, J_m: Matrix, twist: Vec6, rotation_weight: Numeric | float = ROTATION_WEIGHT
) -> Vector:
    """Rates of `approach_rates` from given matrices: of the spacecraft in base axes, of the hand in twist axes."""
    weights = six(jnp.ones(3), rotation_weight * jnp.ones(3))
    N = null_basis(_reaction_rows(body))
    A, b = (weights[:, None] * J_m) @ N, weights * twist
    return N @ spd_solve(A.T @ A + _DAMPING * np.eye(N.shape[1]), A.T @ b)


def _reaction_rows(body: FreeFloating) -> Matrix:
    """H~_bm in base axes with rows of unit length, so that singular values compare directions; same null space."""
    H = body.angular_coupling
    squares = jnp.sum(H**2, axis=1)
    return H / jnp.sqrt(jnp.where(squares > 0.0, squares, 1.0))[:, None]
