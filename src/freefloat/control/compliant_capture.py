"""Capture of a tumbling client by a compliant servicer: base and arm as one, each with a spring to the client.

The force is M vdot_r + C(v) v_r + springs + dampers, with v_r the speeds that keep base and tool on their set points.
With s = v - v_r the closed loop is M sdot + C s = springs + dampers + J^T F, so that

    W = s^T M s / 2 + U_base + U_tool,    Wdot = -s^T D s + s^T J^T F

passive from the wrench at the tool to its velocity relative to the client, whatever the client's free motion is (the
paper's eq. 24 and 27). After the grasp other springs take over: of the joints, and of the base about the point that the
tool holds, whose place follows from the joints. Then the same holds while that point stays (eq. 28, V_a = V_c).
During the exchange the old springs weaken, and W with them; the new ones start at rest and grow, which adds a little.
While the grasp is rigidised the thrusters hand the co-rotation M vdot_r + C v_r over to the arm, so a load comes on the
tool: both move on as one body, and the springs deflect until they carry that load. All this with an exact model, no
delay and no limit reached.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.capture_gains import CaptureGains, CaptureLimits
from freefloat.control.capture_reference import CaptureReference, MeetingState, measured_meeting_state
from freefloat.control.capture_schedule import CAPTURE_PHASES, GRASP, CaptureSchedule
from freefloat.dynamics import composite_inertia, coriolis_product, frame_jacobian, frame_pose, mass_matrix
from freefloat.model import BaseWrench, Clock, JointTorques, Latch, Measurements, Software, Spacecraft, Truth
from freefloat.sensors.ideal import IdealMeasurements
from freefloat.spatial import Pose, angular, linear, six
from freefloat.spatial.rotations import cross, rotation_matrix
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import ArrayLike, Flag, Matrix, Numeric, Quaternion, Scalar, Vec3, Vec6, Vector
from freefloat.values.channels import Channel, mode, vector
from freefloat.values.checks import require_all, require_bounds, require_quantity, set_fields


@record
class CompliantCaptureMemory:
    """Memory of the capture: pose of the servicer relative to its client, and its joints, at the grasp."""

    joints: Vector  # [rad]
    p_TB: Vec3  # base from the client's [m]
    quat_TB: Quaternion
    held: Flag  # whether the grasp has come

    @property
    def X_TB(self) -> Pose:
        """Pose of the base in the client's frame."""
        return Pose(position=self.p_TB, rotation=rotation_matrix(jnp.asarray(self.quat_TB)))


@record
class CompliantCapture(Software[CompliantCaptureMemory]):
    """Synchronises with a client, reaches for a frame on it, grasps it by a connection and makes the arm stiff.

    It reads its own `base.*` and `joints.*` and `client.base.position`, `.attitude`, `.velocity` and `.rate`, from
    sensors or from a filter, and commands joint torques and a wrench on the base. It reports `capture.phase`.
    """

    craft: Spacecraft  # its model of the servicer
    client: Spacecraft  # its model of the client
    gains: CaptureGains
    posture: ArrayLike  # of the joints before the approach [rad]
    gap: Numeric | float = 0.15  # between the tool and what it grasps, before the approach [m]
    arm_share: Numeric | float = 0.4  # of the approach that the arm makes; the base makes the rest
    schedule: CaptureSchedule = CaptureSchedule()
    limits: CaptureLimits = CaptureLimits()
    frame: str = static(default="tool")
    grasped: str = static(default="client.ring")  # z of it points into the client
    connection: str = static(default="grasp")

    def __post_init__(self) -> None:
        posture = require_quantity("CompliantCapture.posture", self.posture, "rad")
        require_all(
            self._require_arm,
            self._require_grasped,
            lambda: self.gains.require_joints(len(self.craft.layout.moving_joints)),
            lambda: self._require_posture(posture),
            lambda: require_bounds(self, {"gap": "m"}, above=0.0),
            lambda: require_bounds(self, {"arm_share": ""}, least=0.0, most=1.0),
        )
        set_fields(self, posture=posture)

    def _require_arm(self) -> None:
        layout, joints = self.craft.layout, len(self.craft.layout.moving_joints)
        if joints >= 6 and layout.nv == 6 + joints:
            return
        bends = " Give its rigid model, craft.rigid()." if layout.modal_velocities or layout.flexible_joints else ""
        wheels = " Leave the wheels out of the software's model." if layout.wheels else ""
        raise ModelError(
            f"CompliantCapture needs an arm of six or more joints and nothing else that moves; spacecraft "
            f"'{self.craft.name}' has {joints} joints and {layout.nv - 6} coordinates.{bends}{wheels}"
        )

    def _require_grasped(self) -> None:
        if not self.client_name or self._grasped_frame not in self.client.frame_names:
            raise ModelError(
                f"CompliantCapture.grasped '{self.grasped}' is no frame of the client, such as client.ring. Frames of "
                f"spacecraft '{self.client.name}': {', '.join(self.client.frame_names)}."
            )

    def _require_posture(self, posture: Numeric | float) -> None:
        joints = len(self.craft.layout.moving_joints)
        if np.shape(posture) != (joints,):
            raise ModelError(f"CompliantCapture.posture must be {joints} joint positions [rad].")

    @property
    def client_name(self) -> str:
        """First part of the names of the client's measurements."""
        return self.grasped.partition(".")[0] if self._grasped_frame else ""

    @property
    def _grasped_frame(self) -> str:
        return self.grasped.partition(".")[2]

    @property
    def reference(self) -> CaptureReference:
        """Set points of base and tool."""
        return CaptureReference(
            craft=self.craft,
            body=composite_inertia(self.client, jnp.zeros(self.client.layout.nq)),
            X_TG=self.client.frame(self._grasped_frame).X_BF,
            posture=self.posture,
            schedule=self.schedule,
            gap=self.gap,
            arm_share=self.arm_share,
            frame=self.frame,
        )

    # ---- memory

    def begin(self, y: Measurements) -> CompliantCaptureMemory:
        """Memory at the start, when nothing is grasped."""
        here = measured_meeting_state(self.craft, y, self.client_name)
        return CompliantCaptureMemory(jnp.asarray(y["joints.position"]), here.p_TB, here.quat_TB, jnp.asarray(False))

    def remember(self, memory: CompliantCaptureMemory, y: Measurements, clock: Clock) -> CompliantCaptureMemory:
        """Memory of the relative pose and the joints, updated until the grasp."""
        now = jax.tree.map(lambda old, new: jnp.where(memory.held, old, new), memory, self.begin(y))
        return dataclasses.replace(now, held=memory.held | (self.schedule.phase(clock.t) >= GRASP))

    # ---- commands

    def command(
        self, memory: CompliantCaptureMemory, y: Measurements, clock: Clock
    ) -> tuple[JointTorques, BaseWrench, Latch]:
        """Torques and thrust within their limits; zero while nothing is measured of the client."""
        here, limits = measured_meeting_state(self.craft, y, self.client_name), self.limits
        force = jnp.where(y.valid(f"{self.client_name}.base.position"), self.force(memory, here, clock.t), 0.0)
        wrench = six(
            jnp.clip(linear(force[:6]), -limits.thrust, limits.thrust),
            jnp.clip(angular(force[:6]), -limits.torque, limits.torque),
        )
        joints = force[np.array(self.craft.layout.joint_velocities, dtype=int)]
        return (
            JointTorques(self.craft.layout.moving_joints, jnp.clip(joints, -limits.joints, limits.joints)),
            BaseWrench(wrench),
            Latch(self.connection, self.schedule.phase(clock.t) >= GRASP),
        )

    def force(self, memory: CompliantCaptureMemory, here: MeetingState, t: Scalar) -> Vector:
        """Generalised force (nv) on base and joints, without limits."""
        v_r, rates = self.reference.speeds_and_rates(here, t)
        left = 1.0 - self.schedule.arm_rotation_share(t)
        return left * self.co_rotation_force(here, v_r, rates) + self.compliance_force(memory, here, here.v - v_r, t)

    def co_rotation_force(self, here: MeetingState, v_r: Vector, rates: Vector) -> Vector:
        """Generalised force that moves the servicer with the set points: M vdot_r + C(v) v_r."""
        return mass_matrix(self.craft, here.q) @ rates + coriolis_product(self.craft, here.q, here.v, v_r)

    def compliance_force(self, memory: CompliantCaptureMemory, here: MeetingState, s: Vector, t: Scalar) -> Vector:
        """Generalised force (nv) of springs and dampers; s: speeds beyond those of the set points."""
        gains, share = self.gains, self.schedule.joint_spring_share(t)
        X_base, X_tool = self.pose_errors(here, t)
        J = frame_jacobian(self.craft, here.q, self.frame)
        base = gains.base.spring_wrench(X_base) + gains.base.damper_wrench(s[:6])
        tool = gains.tool.spring_wrench(X_tool) + gains.tool.damper_wrench(J @ s)
        held = gains.base.spring_wrench(self.held_error(memory, here)) + gains.base.damper_wrench(
            self.held_twist(here, J, s)
        )
        damping = jnp.asarray(gains.joint_damping) + share * jnp.asarray(gains.held_damping)
        joints = -share * jnp.asarray(gains.held_stiffness) * (here.q - memory.joints) - damping * s[6:]
        both = jnp.concatenate([(1.0 - share) * base + share * held, joints])
        return (1.0 - share) * (J.T @ tool) + both

    def pose_errors(self, here: MeetingState, t: Scalar) -> tuple[Pose, Pose]:
        """Pose errors X_DB of the base and X_DE of the tool, each from its set point."""
        X_TE = here.X_TB @ frame_pose(self.craft, here.q, self.frame)
        reference = self.reference
        return reference.base_set_point(t).inverse() @ here.X_TB, reference.tool_set_point(t).inverse() @ X_TE

    def held_error(self, memory: CompliantCaptureMemory, here: MeetingState) -> Pose:
        """X_DB of the base from its place at the grasp: attitude as measured, position from the joints.

        The tool's origin is where it has grasped; how the tool may turn in its grip does not matter.
        """
        p_TE = memory.X_TB.apply(frame_pose(self.craft, memory.joints, self.frame).p)
        R_TB = here.X_TB.R
        p_TB = p_TE - R_TB @ frame_pose(self.craft, here.q, self.frame).p
        return memory.X_TB.inverse() @ Pose(position=p_TB, rotation=R_TB)

    def held_twist(self, here: MeetingState, J: Matrix, s: Vector) -> Vec6:
        """Rate of `held_error`: twist of a base that turns about a fixed tool origin, base axes [m/s, rad/s]."""
        X_BE, omega = frame_pose(self.craft, here.q, self.frame), angular(s[:6])
        return six(-cross(omega, X_BE.p) - X_BE.R @ linear(J[:, 6:] @ s[6:]), omega)

    # ---- energy

    def energy(self, memory: CompliantCaptureMemory, here: MeetingState, t: Scalar) -> Scalar:
        """Energy W [J]: kinetic energy of the motion beyond that of the set points, and that of the springs."""
        s = here.v - self.reference.speeds(here, t)
        share, gains = self.schedule.joint_spring_share(t), self.gains
        X_base, X_tool = self.pose_errors(here, t)
        off = here.q - memory.joints
        free = gains.base.energy(X_base) + gains.tool.energy(X_tool)
        held = gains.base.energy(self.held_error(memory, here)) + 0.5 * off @ (jnp.asarray(gains.held_stiffness) * off)
        return 0.5 * s @ (mass_matrix(self.craft, here.q) @ s) + (1.0 - share) * free + share * held

    # ---- messages and channels

    def tell(self, memory: CompliantCaptureMemory, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Message `capture.phase` with the number of the phase."""
        return {"capture.phase": self.schedule.phase(clock.t)}

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the phase, errors, speeds and thrust; true values, except for the phase."""
        return (
            mode("capture.phase", "Phase of the capture", CAPTURE_PHASES),
            vector("capture.tool.position_error", "Tool from its set point", "m", "G"),
            vector("capture.tool.rotation_error", "Tool: rotation from its set point", "rad", "E"),
            vector("capture.base.position_error", "Base from its set point", "m", "B"),
            vector("capture.base.rotation_error", "Base: rotation from its set point", "rad", "B"),
            vector("capture.relative_velocity", "Base as the client sees it: velocity", "m/s", "B"),
            vector("capture.relative_rate", "Base as the client sees it: rate", "rad/s", "B"),
            vector("capture.thrust", "Thrust asked for", "N", "B"),
            vector("capture.thrust_torque", "Torque on the base asked for", "N m", "B"),
            Channel("capture.energy", "Energy of the compliant loop", "J"),
        )

    def observe(
        self, memory: CompliantCaptureMemory, y: Measurements, clock: Clock, truth: Truth
    ) -> tuple[Numeric, ...]:
        """Values of the channels: true errors and speeds, and the energy that the law would lower."""
        here = measured_meeting_state(self.craft, IdealMeasurements(truth), self.client_name)
        X_base, X_tool = self.pose_errors(here, clock.t)
        V_TB, wrench = here.V_TB, self.command(memory, y, clock)[1].wrench
        return (
            1.0 * self.schedule.phase(clock.t),
            X_tool.p,
            angular(X_tool.log()),
            X_base.p,
            angular(X_base.log()),
            linear(V_TB),
            angular(V_TB),
            linear(wrench),
            angular(wrench),
            self.energy(memory, here, clock.t),
        )
