"""Resolved acceleration control with the generalised Jacobian: torques for a wanted hand acceleration."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.laws import Motion, motion_of
from freefloat.control.resolved_motion import ResolvedMotion, floating_jacobian
from freefloat.dynamics import hybrid_dynamics, inertial_frame_pose, inertial_frame_twist
from freefloat.dynamics.least_squares import Solution, damped_least_squares
from freefloat.dynamics.state_rate import component_rates, state_rate
from freefloat.model import Spacecraft, State
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vec6, Vector
from freefloat.values.channels import Channel


@record
class ResolvedAcceleration:
    """Computed torque in hand space: a = a_d + 2 w (x'_d - x') + w^2 (x_d - x), momentum of any size included."""

    follow: ResolvedMotion  # the path, the frame and the controller's own model
    bandwidth: Numeric | float = 2.0  # w [rad/s]

    @property
    def fastest_rate(self) -> Numeric | float:
        """Of the loop [rad/s]."""
        return self.bandwidth

    @property
    def craft(self) -> Spacecraft:
        """The controller's own model of the spacecraft."""
        return self.follow.craft

    def begin(self, state: State) -> ResolvedAcceleration:
        """Start the path where the frame is now."""
        return dataclasses.replace(self, follow=self.follow.begin(state))

    def desired_acceleration(self, state: State, t: Scalar) -> Vec6:
        """Hand acceleration to give, N axes."""
        path, w = self.follow, self.bandwidth
        twist, acceleration = jax.jvp(lambda time: path.desired_twist(time, 0.0), (t,), (jnp.ones(()),))
        actual = inertial_frame_twist(self.craft, state, path.frame)
        error = path.pose_error(inertial_frame_pose(self.craft, state, path.frame), t)
        return acceleration + 2.0 * w * (twist - actual) + w**2 * error

    def resolve(self, state: State, t: Scalar) -> Solution:
        """Joint accelerations, with the status of the Jacobian."""
        craft, frame = self.craft, self.follow.frame
        joints, nothing = craft.layout.moving_joints, jnp.zeros(craft.layout.nv)
        still = jnp.zeros(len(joints))
        vdot, _ = hybrid_dynamics(craft, state.q, state.v, nothing, joints, still)
        # Acceleration of the hand when no joint accelerates: what the present motion brings along.
        along = component_rates(state, state_rate(craft, state, vdot))
        _, drift = jax.jvp(lambda s: inertial_frame_twist(craft, s, frame), (state,), (along,))
        motion: Motion = motion_of(craft, state)
        J_g, _ = floating_jacobian(craft, motion, frame, motion.X_NB.R)
        return damped_least_squares(J_g, self.desired_acceleration(state, t) - drift, self.follow.singular_below)

    def force(self, state: State, t: Scalar, hold: float) -> Vector:
        """Generalised force: joint torques."""
        craft = self.craft
        joints, nothing = craft.layout.moving_joints, jnp.zeros(craft.layout.nv)
        _, force = hybrid_dynamics(craft, state.q, state.v, nothing, joints, self.resolve(state, t).x)
        places = np.array(craft.layout.joint_velocities, dtype=int)
        return nothing.at[places].set(force[places])

    def channels(self) -> tuple[Channel, ...]:
        """Tracking of the hand."""
        return self.follow.channels()

    def observe(self, craft: Spacecraft, state: State, t: Scalar) -> tuple[Numeric, ...]:
        """How far the hand is from its path."""
        return self.follow.observe(craft, state, t)
