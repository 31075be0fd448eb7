"""Free-floating quantities of Yoshida 2003, eq. 1-9: the generalised Jacobian and the reaction null space.

All matrices here are in the axes of N, as in the paper, at the base attitude R_NB that is given; with the
default they are in base axes. The base twist is (velocity of the base origin, angular rate), the hand twist
(velocity of the frame's origin, angular rate).
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.kinematics import frame_jacobian, frame_pose
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.solve import spd_solve
from freefloat.model import Spacecraft
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import skew
from freefloat.values import record
from freefloat.values.arrays import Mat3, Matrix, Scalar, Vec3, Vec6, Vector
from freefloat.values.compiling import compiled_on_call

ALIGNED = np.eye(3)
_NO_DIRECTION = 1e-9  # of the size of H~: what is left of a row that depends on the others


@record
class FreeFloating:
    """The blocks of the mass matrix and what follows from them."""

    mass: Scalar  # M [kg]
    com: Vec3  # r_0g, system centre of mass from the base origin [m]
    H_b: Matrix  # (6, 6) base inertia
    H_bm: Matrix  # (6, n) coupling of base and joints
    H_bw: Matrix  # (6, wheels) coupling of base and wheels
    H_bf: Matrix  # (6, modes) coupling of base and modes
    H_m: Matrix  # (n, n) joint inertia

    @property
    def angular_inertia(self) -> Mat3:
        """Inertia H~_b of the frozen spacecraft about its centre of mass (eq. 3)."""
        r = skew(self.com)
        return angular(self.H_b[:, 3:]) + self.mass * (r @ r)

    @property
    def angular_coupling(self) -> Matrix:
        """Coupling H~_bm (3, n): angular momentum about the centre of mass per joint rate, base not turning (eq. 3)."""
        return angular(self.H_bm) - skew(self.com) @ linear(self.H_bm)

    def in_axes(self, R: Mat3) -> FreeFloating:
        """These blocks, given in base axes, in the axes A, with R = R_AB."""
        turned = _block_rotation(R)
        return FreeFloating(
            mass=self.mass,
            com=R @ self.com,
            H_b=turned @ self.H_b @ turned.T,
            H_bm=turned @ self.H_bm,
            H_bw=turned @ self.H_bw,
            H_bf=turned @ self.H_bf,
            H_m=self.H_m,
        )

    def base_twist(
        self, joint_rates: Vector, momentum: Vec6, wheel_speeds: Vector, modal_rates: Vector | None = None
    ) -> Vec6:
        """Base twist at given joint rates, wheel speeds, modal rates and momentum (P, L_b) (eq. 2, 4)."""
        share = momentum - self.H_bm @ joint_rates - self.H_bw @ wheel_speeds
        if modal_rates is not None:
            share = share - self.H_bf @ modal_rates
        return spd_solve(self.H_b, share)


@compiled_on_call
def free_floating(craft: Spacecraft, q: Vector, R_NB: Mat3 = ALIGNED) -> FreeFloating:
    """The matrices of Yoshida 2003, eq. 1, for the joints and wheels of a spacecraft."""
    M = mass_matrix(craft, q)
    layout = craft.layout
    groups = (layout.joint_velocities, layout.wheel_velocities, layout.modal_velocities)
    joints, wheels, modes = (np.array(group, dtype=int) for group in groups)
    mass = M[0, 0]
    return FreeFloating(
        mass=mass,
        com=jnp.stack([M[1, 5], M[2, 3], M[0, 4]]) / mass,  # read off the block -M r^ of H_b
        H_b=M[:6, :6],
        H_bm=M[:6, joints],
        H_bw=M[:6, wheels],
        H_bf=M[:6, modes],
        H_m=M[np.ix_(joints, joints)],
    ).in_axes(R_NB)


@compiled_on_call
def base_jacobian(craft: Spacecraft, q: Vector, frame: str, R_NB: Mat3 = ALIGNED) -> Matrix:
    """J_b (6, 6): hand twist per unit base twist (eq. 5)."""
    r_h = R_NB @ frame_pose(craft, q, frame).p
    return jnp.block([[jnp.eye(3), -skew(r_h)], [jnp.zeros((3, 3)), jnp.eye(3)]])


@compiled_on_call
def joint_jacobian(craft: Spacecraft, q: Vector, frame: str, R_NB: Mat3 = ALIGNED) -> Matrix:
    """J_m (6, n): hand twist per unit joint rate, base held (eq. 5)."""
    joints = np.array(craft.layout.joint_velocities, dtype=int)
    return _block_rotation(R_NB @ frame_pose(craft, q, frame).R) @ frame_jacobian(craft, q, frame)[:, joints]


@compiled_on_call
def generalized_jacobian(craft: Spacecraft, q: Vector, frame: str, R_NB: Mat3 = ALIGNED) -> Matrix:
    """J_g (6, n): hand twist in N axes per unit joint rate when the base floats freely (eq. 6)."""
    body = free_floating(craft, q, R_NB)
    reaction = spd_solve(body.H_b, body.H_bm)
    return joint_jacobian(craft, q, frame, R_NB) - base_jacobian(craft, q, frame, R_NB) @ reaction


@compiled_on_call
def drift_twist(
    craft: Spacecraft, q: Vector, frame: str, momentum: Vec6, wheel_speeds: Vector, R_NB: Mat3 = ALIGNED
) -> Vec6:
    """Hand twist in N axes when no joint moves, from the momentum (P, L_b) in N axes (last term of eq. 7)."""
    body = free_floating(craft, q, R_NB)
    still = np.zeros(len(craft.layout.joint_velocities))
    return base_jacobian(craft, q, frame, R_NB) @ body.base_twist(still, momentum, wheel_speeds)


@compiled_on_call
def reaction_null_space(craft: Spacecraft, q: Vector) -> Matrix:
    """Projector E - H~_bm^+ H~_bm (n, n): joint rates that leave the base attitude alone (eq. 9).

    Taken row by row (Gram-Schmidt): a row of H~ that adds no direction, as in a planar arm, takes none away.
    """
    H = free_floating(craft, q).angular_coupling
    N = jnp.eye(H.shape[1])
    smallest = _NO_DIRECTION**2 * jnp.sum(H * H)
    for row in H:
        new = N @ row
        squared = new @ new
        counts = squared > smallest
        N = N - jnp.outer(new, new) * jnp.where(counts, 1.0 / jnp.where(counts, squared, 1.0), 0.0)
    return N


def _block_rotation(R: Mat3) -> Matrix:
    """Matrix diag(R, R), which rotates a stack (linear, angular)."""
    return jnp.block([[R, jnp.zeros((3, 3))], [jnp.zeros((3, 3)), R]])
