"""The nominal motion that the robots of a cell leave out, and the way from orbit to the cell and back.

Z is a frame that follows the nominal motion, X_NZ in orbit; in the cell it stands still at X_FZ. A frame M of a
spacecraft, at X_NM in orbit, is commanded to X_FM = X_FZ X_NZ^-1 X_NM. All spacecraft share one Z, so that they are to
each other in the cell as they are in orbit. Equations: relative dynamics for hardware-in-the-loop simulation (2021).
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.solve import spd_solve
from freefloat.dynamics.state_steps import Rates, States, frame_rate, step_states
from freefloat.model import State
from freefloat.spatial import Pose, SpatialInertia, cross_force
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_multiply, rotation_matrix
from freefloat.values import record
from freefloat.values.arrays import Quaternion, Scalar, Vec3, Vec6
from freefloat.values.compiling import compiled_on_call


@record
class FrameMotion:
    """Pose and twist of a frame M in another frame A."""

    position: Vec3  # p_AM [m]
    quaternion: Quaternion  # quat_AM, scalar first
    twist: Vec6  # V_AM [m/s, rad/s], in M axes

    @property
    def pose(self) -> Pose:
        """Pose X_AM of the frame M in A."""
        return Pose(position=self.position, rotation=rotation_matrix(jnp.asarray(self.quaternion)))


@record
class NominalMotion(FrameMotion):
    """Motion of the frame Z in N: pose, twist and rate of the twist."""

    twist_rate: Vec6  # of its components [m/s2, rad/s2]


# ---- the unforced motion of a body, eq. (4)


@compiled_on_call
def unforced_twist_rate(body: SpatialInertia, V: Vec6) -> Vec6:
    """Twist rate Vdot of a rigid body without forces: M Vdot = ad_V^T M V, about any point of it (eq. 4)."""
    return -spd_solve(body.matrix(), cross_force(V, body @ V))


@compiled_on_call
def unforced_motion(body: SpatialInertia, motion: FrameMotion) -> NominalMotion:
    """The nominal motion that starts where a body is and goes on as if nothing ever pushed it.

    The body is that of `composite_inertia(client, q)`: the client's, about its base frame.
    """
    return NominalMotion(
        position=jnp.asarray(motion.position),
        quaternion=jnp.asarray(motion.quaternion),
        twist=jnp.asarray(motion.twist),
        twist_rate=unforced_twist_rate(body, motion.twist),
    )


@compiled_on_call
def advance_unforced(body: SpatialInertia, nominal: NominalMotion, dt: Scalar | float) -> NominalMotion:
    """The unforced motion one cycle of dt later, by the step that runs are made of.

    So an unforced client that is stepped as finely has no motion left in the cell.
    """
    start = State(nominal.position, nominal.quaternion, np.zeros(0), nominal.twist)

    def rates(states: States, t: Scalar) -> Rates:
        return (frame_rate(states[0], unforced_twist_rate(body, states[0].V_NB)),)

    (end,) = step_states(rates, (start,), 0.0, dt)
    return NominalMotion(end.p_NB, end.quat_NB, end.V_NB, unforced_twist_rate(body, end.V_NB))


# ---- from orbit to the cell and back, eq. (5), (6), (15), (23)


@compiled_on_call
def to_cell(X_FZ: Pose, nominal: NominalMotion, motion: FrameMotion) -> FrameMotion:
    """Motion that the robot carrying M must follow in the cell, from the motion of M in orbit.

    X_FM = X_FZ X_NZ^-1 X_NM, V_FM = V_NM - Ad V_NZ. The placement X_FZ of the cell stands on the left, so it changes
    no twist.
    """
    R_ZN = nominal.pose.R.T
    quat_ZM = quaternion_multiply(quaternion_conjugate(jnp.asarray(nominal.quaternion)), jnp.asarray(motion.quaternion))
    X_ZM = Pose(position=R_ZN @ (motion.position - nominal.position), rotation=rotation_matrix(quat_ZM))
    return FrameMotion(
        position=X_FZ.apply(X_ZM.p),
        quaternion=quaternion_multiply(X_FZ.quaternion, quat_ZM),
        twist=motion.twist - X_ZM.twist_to_B(nominal.twist),
    )


@compiled_on_call
def from_cell(X_FZ: Pose, nominal: NominalMotion, motion: FrameMotion) -> FrameMotion:
    """Motion of M in orbit from the motion of the robot that carries it: the inverse of `to_cell` (eq. 23)."""
    quat_ZM = quaternion_multiply(quaternion_conjugate(X_FZ.quaternion), jnp.asarray(motion.quaternion))
    X_ZM = Pose(position=X_FZ.R.T @ (motion.position - X_FZ.p), rotation=rotation_matrix(quat_ZM))
    return FrameMotion(
        position=nominal.pose.apply(X_ZM.p),
        quaternion=quaternion_multiply(jnp.asarray(nominal.quaternion), quat_ZM),
        twist=motion.twist + X_ZM.twist_to_B(nominal.twist),
    )
