"""Resolved acceleration control with the generalised Jacobian: torques for a desired hand acceleration."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import measured_motion, measured_positions, measured_speeds, measured_state
from freefloat.control.resolved_motion import ResolvedMotion, floating_jacobian, joint_columns
from freefloat.dynamics import hybrid_dynamics, inertial_frame_pose, inertial_frame_twist
from freefloat.dynamics.least_squares import Solution, damped_least_squares
from freefloat.dynamics.state_rate import component_rates, state_rate
from freefloat.model import Clock, JointTorques, Measurements, Software, Spacecraft, State, Truth
from freefloat.spatial import Pose
from freefloat.values import SoftwareError, record
from freefloat.values.arrays import Numeric, Scalar, Vec6
from freefloat.values.channels import Channel


@record
class ResolvedAcceleration(Software[Pose]):
    """Computed torque in hand space: a = a_d + 2 w (x'_d - x') + w^2 (x_d - x), momentum of any size included.

    It remembers where the frame was at the start, X_NE.
    """

    follow: ResolvedMotion  # the path, the frame and the controller's own model
    bandwidth: Numeric | float = 2.0  # w [rad/s]

    def __post_init__(self) -> None:
        if self.follow.follows_target:
            raise SoftwareError(
                "ResolvedAcceleration follows paths in N or in a frame of the own spacecraft at the start."
            )

    @property
    def fastest_rate(self) -> Numeric | float:
        """Rate of the control loop [rad/s]."""
        return self.bandwidth

    @property
    def craft(self) -> Spacecraft:
        """The controller's own model of the spacecraft."""
        return self.follow.craft.with_stiff_joints()

    def begin(self, y: Measurements) -> Pose:
        """Memory at the start: the frame from which the path begins."""
        return self.follow.begin(y)

    def desired_acceleration(self, start: Pose, state: State, t: Scalar) -> Vec6:
        """Desired acceleration of the hand, N axes [m/s2, rad/s2]."""
        path, w = self.follow, self.bandwidth
        twist, acceleration = jax.jvp(lambda time: path.desired_twist(start, time, 0.0), (t,), (jnp.ones(()),))
        actual = inertial_frame_twist(self.craft, state, path.frame)
        error = path.pose_error(start, inertial_frame_pose(self.craft, state, path.frame), t)
        return acceleration + 2.0 * w * (twist - actual) + w**2 * error

    def resolve(self, memory: Pose, y: Measurements, clock: Clock) -> Solution:
        """Accelerations of the joints that the path moves, with the status of the Jacobian."""
        craft, frame, state = self.craft, self.follow.frame, measured_state(self.craft, y)
        joints, nothing = craft.layout.moving_joints, jnp.zeros(craft.layout.nv)
        still = jnp.zeros(len(joints))
        vdot, _ = hybrid_dynamics(craft, state.q, state.v, nothing, joints, still)
        # Acceleration of the hand when no joint accelerates: what the present motion brings along.
        along = component_rates(state, state_rate(craft, state, vdot))
        _, drift = jax.jvp(lambda s: inertial_frame_twist(craft, s, frame), (state,), (along,))
        motion = measured_motion(craft, y)
        J_g = joint_columns(craft, floating_jacobian(craft, motion, frame)[0], self.follow.joints)
        wanted = self.desired_acceleration(memory, state, clock.t)
        return damped_least_squares(J_g, wanted - drift, self.follow.singular_below)

    def command(self, memory: Pose, y: Measurements, clock: Clock) -> JointTorques:
        """Torques of the joints that the path moves; the others are taken as not accelerating."""
        craft, q, v = self.craft, measured_positions(self.craft, y), measured_speeds(self.craft, y)
        every, ours, nothing = craft.layout.moving_joints, self.follow.joints, jnp.zeros(craft.layout.nv)
        wanted = self.resolve(memory, y, clock).x
        if ours != every:
            places = np.array([every.index(name) for name in ours], dtype=int)
            wanted = jnp.zeros(len(every)).at[places].set(wanted)
        _, force = hybrid_dynamics(craft, q, v, nothing, every, wanted)
        return JointTorques(ours, force[np.array(craft.layout.indices(ours), dtype=int)])

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the tracking of the hand."""
        return self.follow.channels()

    def observe(self, memory: Pose, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: error of the hand from its path."""
        return self.follow.observe(memory, y, clock, truth)
