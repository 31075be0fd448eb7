"""Commands for robots that replay relative motion and are driven by forces (impedance form, eq. 8-10, 16, 17, 22).

A robot that carries a spacecraft's mock-up is a spacecraft to us as well: a base with the robot's inertia at the
carried frame, and the same arm. Its own weight is compensated; that of the arm is in `arm_torque`.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.coriolis import coriolis_product
from freefloat.dynamics.inverse import bias, inverse_dynamics
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.nominal_motion import NominalMotion
from freefloat.dynamics.relative import nominal_share, nominal_share_rate, relative_acceleration
from freefloat.model import Spacecraft, State
from freefloat.values import record
from freefloat.values.arrays import Vec3, Vec6, Vector
from freefloat.values.compiling import compiled_on_call

Pair = tuple[Spacecraft, Spacecraft]


@compiled_on_call
def robot_wrench(pair: Pair, nominal: NominalMotion, relative: State, force: Vector, touch: Vector) -> Vec6:
    """Wrench on the base of a robot that makes it follow the relative dynamics (eq. 9, 16, 17).

    `pair` is the spacecraft in orbit and the robot, with the same arm on it. `force` (nv) is what acts in orbit; of it,
    `touch` (nv), the measured contact J^T F_e, acts on the robot too. Eq. (16) as printed counts the contact twice and
    lacks (E - M_s M_b^-1) M_bq qddot; this is what follows from (13), (14) and (15). With equal inertias it is (17).
    """
    craft, robot = pair
    vdot = relative_acceleration(craft, nominal, relative, force)
    return (inverse_dynamics(robot, relative.q, relative.v, vdot) - touch)[:6]


@record
class ArmTorque:
    """Torques of the arm on the ground, by their purpose (eq. 22). Their sum is commanded."""

    software: Vector  # tau, of the on-board software [N m]
    weight: Vector  # -G: against gravity in the cell
    acceleration: Vector  # M_bq^T (Vdot_s - Vdot_b): the base accelerates otherwise than in orbit
    joint_coriolis: Vector  # (C_q(qd, V_s) - C_q(qd, V_b)) qd
    base_coriolis: Vector  # C_qs(qd, V_s) V_s - C_qb(qd, V_b) V_b

    @property
    def total(self) -> Vector:
        """Commanded torque tau_q, the sum of all parts [N m]."""
        return self.software + self.weight + self.acceleration + self.joint_coriolis + self.base_coriolis


@compiled_on_call
def gravity_force(craft: Spacecraft, q: Vector, gravity: Vec3) -> Vector:
    """Generalised force (nv) of uniform gravity [m/s2], given in base axes: what the weights of all bodies do."""
    return mass_matrix(craft, q)[:, :3] @ gravity


@compiled_on_call
def arm_torque(craft: Spacecraft, nominal: NominalMotion, relative: State, torque: Vector, gravity: Vec3) -> ArmTorque:
    """Torques (nv - 6) that let an arm on the ground move as in orbit under the torques of its software (eq. 22).

    `gravity` [m/s2] is in the axes of Z as it stands in the cell. No accelerations need be known: Vdot_s - Vdot_b is
    -DVdot, so (18), (13), (20) and (22) together give (19) again. How the Coriolis terms are split between the last two
    depends on the matrix C; their sum does not.
    """
    q, DV, n = relative.q, nominal_share(nominal, relative), craft.layout.nv - 6
    M, still = mass_matrix(craft, q), np.zeros(n)
    orbit = relative.v + jnp.concatenate([DV, still])
    coriolis = (bias(craft, q, relative.v) - bias(craft, q, orbit))[6:]
    # C is linear in the speeds: C_q(V_s) - C_q(V_b) is that of -DV, the joints at rest.
    joints = jnp.concatenate([np.zeros(6), relative.v[6:]])
    of_joints = -coriolis_product(craft, q, jnp.concatenate([DV, still]), joints)[6:]
    return ArmTorque(
        software=jnp.asarray(torque),
        weight=-M[6:, :3] @ (relative.X_NB.R.T @ gravity),
        acceleration=-M[6:, :6] @ nominal_share_rate(nominal, relative),
        joint_coriolis=of_joints,
        base_coriolis=coriolis - of_joints,
    )
