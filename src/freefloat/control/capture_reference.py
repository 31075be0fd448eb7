"""Set points and speeds for base and tool of a servicer before a tumbling client, relative to the client.

T is the client's base frame, G what is grasped on it, B the servicer's base and E its tool; D is a set point. Both set
points turn with the client and come nearer along z of G: the tool by the whole way, the base by the part that the arm
does not make.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.capture_schedule import CaptureSchedule
from freefloat.control.measured import measured_positions, measured_speeds
from freefloat.dynamics import frame_jacobian, frame_pose, unforced_twist_rate
from freefloat.dynamics.least_squares import least_squares
from freefloat.model import Measurements, Spacecraft
from freefloat.spatial import Pose, SpatialInertia, angular, linear, six
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_multiply, rotation_matrix
from freefloat.values import record, static
from freefloat.values.arrays import Matrix, Numeric, Quaternion, Scalar, Vec3, Vec6, Vector


@record
class MeetingState:
    """State of a servicer relative to its client at an instant, as the servicer's software measures it."""

    p_TB: Vec3  # servicer's base from the client's [m]
    quat_TB: Quaternion
    q: Vector  # of the servicer's joints [rad], tree order
    V_T: Vec6  # of the client, in its axes [m/s, rad/s]
    v: Vector  # of the servicer: twist of the base, in its axes, and joint rates

    @property
    def X_TB(self) -> Pose:
        """Pose of the servicer's base in the client's frame."""
        return Pose(position=self.p_TB, rotation=rotation_matrix(self.quat_TB))

    @property
    def V_TB(self) -> Vec6:
        """Twist of the servicer's base relative to the client, base axes [m/s, rad/s]."""
        return self.v[:6] - self.X_TB.twist_to_B(self.V_T)


def measured_meeting_state(craft: Spacecraft, y: Measurements, client: str) -> MeetingState:
    """Relative state from measurements of the own base and joints and those, or estimates, of the client's base."""
    quat_TN = quaternion_conjugate(jnp.asarray(y[f"{client}.base.attitude"]))
    way_N = y["base.position"] - y[f"{client}.base.position"]
    return MeetingState(
        p_TB=rotation_matrix(quat_TN) @ way_N,
        quat_TB=quaternion_multiply(quat_TN, jnp.asarray(y["base.attitude"])),
        q=measured_positions(craft, y),
        V_T=six(jnp.asarray(y[f"{client}.base.velocity"]), jnp.asarray(y[f"{client}.base.rate"])),
        v=measured_speeds(craft, y),
    )


@record
class CaptureReference:
    """Set points of base and tool, and the speeds that keep both on them."""

    craft: Spacecraft  # the software's model of the servicer
    body: SpatialInertia  # its model of the client, about the client's base frame
    X_TG: Pose  # what is grasped
    posture: Vector  # of the joints at the start of the approach [rad]
    schedule: CaptureSchedule
    gap: Numeric | float  # between tool and G before the approach [m]
    arm_share: Numeric | float  # of the approach
    frame: str = static(default="tool")

    # ---- set points

    def tool_set_point(self, t: Scalar) -> Pose:
        """Set point X_TD of the tool."""
        left = self.gap - self.schedule.travel(self.gap, t)
        return self.X_TG @ Pose(position=jnp.stack([jnp.zeros(()), jnp.zeros(()), -left]))

    def base_set_point(self, t: Scalar) -> Pose:
        """Set point X_TD of the base: behind the tool's by the posture, less the part that the arm reaches out."""
        reached = self.arm_share * self.schedule.travel(self.gap, t)
        behind = self.X_TG.inverse() @ self.tool_set_point(t)
        back = Pose(position=behind.p - jnp.stack([jnp.zeros(()), jnp.zeros(()), reached]), rotation=behind.R)
        return self.X_TG @ back @ frame_pose(self.craft, self.posture, self.frame).inverse()

    # ---- speeds

    def speeds(self, here: MeetingState, t: Scalar) -> Vector:
        """Speeds v_r of base and joints: along with the client as one rigid body, plus those of the approach."""
        speed = self.schedule.speed(self.gap, t)
        ahead_T = jnp.asarray(self.X_TG.R)[:, 2] * speed
        V_B = here.X_TB.twist_to_B(here.V_T + six((1.0 - self.arm_share) * ahead_T, jnp.zeros(3)))
        X_BE = frame_pose(self.craft, here.q, self.frame)
        reach_E = (here.X_TB.R @ X_BE.R).T @ (self.arm_share * ahead_T)
        rates = least_squares(self._arm_jacobian(here.q), six(reach_E, jnp.zeros(3)))
        return jnp.concatenate([V_B, rates])

    def _arm_jacobian(self, q: Vector) -> Matrix:
        return frame_jacobian(self.craft, q, self.frame)[:, np.array(self.craft.layout.joint_velocities, dtype=int)]

    def speeds_and_rates(self, here: MeetingState, t: Scalar) -> tuple[Vector, Vector]:
        """Speeds v_r and their rate along the motion, the client moving freely."""
        V_TB = here.V_TB
        spin = jnp.concatenate([jnp.zeros(1), angular(V_TB)])
        along = MeetingState(
            p_TB=here.X_TB.R @ linear(V_TB),
            quat_TB=0.5 * quaternion_multiply(here.quat_TB, spin),
            q=here.v[np.array(self.craft.layout.joint_velocities, dtype=int)],
            V_T=unforced_twist_rate(self.body, here.V_T),
            v=jnp.zeros_like(here.v),
        )
        return jax.jvp(self.speeds, (here, t), (along, jnp.ones(())))
