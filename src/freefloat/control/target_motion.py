"""Motion of a free rigid target, with the state that a filter estimates, and its errors.

Inertia ratios are those of the client's model, stretched: its matrix of second moments S = int r r^T dm becomes
B S B^T, B lower triangular with determinant 1, of five numbers. Since I = tr(S) 1 - S, every S > 0 is a body that can
exist and every such body is reached once; the size of S has no effect on the motion and is left out. About principal
axes the ratios of Euler's equations are (I_y - I_z)/I_x = tanh(log(S_z/S_y)/2), always between -1 and 1.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import spd_solve
from freefloat.spatial import Pose
from freefloat.spatial.rotations import (
    cross,
    dexp_inverse_second_order,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    rotation_exp,
    rotation_matrix,
)
from freefloat.values import record
from freefloat.values.arrays import Mat3, Numeric, Quaternion, Scalar, Vec3, Vector

ERRORS = {  # where each error stands in the vector of all
    "angle": slice(0, 3),
    "position": slice(3, 6),
    "rate": slice(6, 9),
    "velocity": slice(9, 12),
    "com": slice(12, 15),
    "shape": slice(15, 20),
}
ERROR_COUNT = 20
POSE_ERRORS = slice(0, 6)  # errors of the pose, which one picture shows
_SHEAR_PLACES = (np.array([1, 2, 2]), np.array([0, 0, 1]))  # places of the three shears


@record
class TargetState:
    """Pose and motion of a rigid target, and the mass properties that can be estimated from its motion."""

    quaternion: Quaternion  # quat_NB, B being the target's base
    position: Vec3  # p_NT of the observed frame [m]
    rate: Vec3  # omega_NB, base axes [rad/s]
    velocity: Vec3  # of the centre of mass, N axes [m/s]
    com: Vec3  # p_BC, centre of mass in the base frame [m]
    shape: Vector  # (5,) logs of two stretches and three shears of the model's second moments


@record
class AssumedBody:
    """Properties of the target that are taken as known: place of the observed frame, and the body before stretching."""

    frame: Pose  # X_BT
    second_moments: Mat3  # about the centre of mass, of trace 1

    @staticmethod
    def from_inertia(frame: Pose, inertia: Mat3) -> AssumedBody:
        """Body from its inertia about the centre of mass; the size of the inertia does not matter."""
        S = 0.5 * jnp.trace(inertia) * np.eye(3) - inertia
        return AssumedBody(frame, S / jnp.trace(S))

    def inertia(self, shape: Vector) -> Mat3:
        """Inertia about the centre of mass with the given stretch, of trace 1."""
        B = _stretch_matrix(self.second_moments, shape)
        S = B @ self.second_moments @ B.T
        return 0.5 * (np.eye(3) - S / jnp.trace(S))

    def shape_of(self, inertia: Mat3) -> Vector:
        """Stretch that gives an inertia, up to its size, from Cholesky factors of both second moments."""
        lengths = jnp.sqrt(jnp.diagonal(self.second_moments))
        S = 0.5 * jnp.trace(inertia) * np.eye(3) - inertia
        mine, wanted = (jnp.linalg.cholesky(A / jnp.outer(lengths, lengths)) for A in (self.second_moments, S))
        # U mine = wanted, by columns from the last: both are lower triangular.
        U = spd_solve(mine @ mine.T, mine @ wanted.T).T
        U = U / jnp.exp(jnp.mean(jnp.log(jnp.diagonal(U))))
        return jnp.concatenate([jnp.log(jnp.diagonal(U))[:2], U[_SHEAR_PLACES]])


def _stretch_matrix(S: Mat3, shape: Vector) -> Mat3:
    """Matrix B of the five numbers; shears are in lengths of the body, so that one sigma suits all of them."""
    lengths = jnp.sqrt(jnp.diagonal(S))
    U = jnp.diag(jnp.exp(jnp.stack([shape[0], shape[1], -shape[0] - shape[1]]))).at[_SHEAR_PLACES].set(shape[2:])
    return lengths[:, None] * U / lengths


# ---- errors: true = estimated, moved by the error


def apply_error(state: TargetState, error: Vector) -> TargetState:
    """State after an error is added: the attitude turned about the target's own axes, the rest added."""
    turned = quaternion_multiply(state.quaternion, quaternion_exp(error[ERRORS["angle"]]))
    return TargetState(
        quaternion=turned / jnp.sqrt(turned @ turned),
        rate=state.rate + error[ERRORS["rate"]],
        position=state.position + error[ERRORS["position"]],
        velocity=state.velocity + error[ERRORS["velocity"]],
        com=state.com + error[ERRORS["com"]],
        shape=state.shape + error[ERRORS["shape"]],
    )


def error_between(state: TargetState, other: TargetState) -> Vector:
    """Error that moves one state to another (20,)."""
    turn = quaternion_log(quaternion_multiply(quaternion_conjugate(state.quaternion), other.quaternion))
    names = ("position", "rate", "velocity", "com", "shape")
    return jnp.concatenate([turn, *(getattr(other, name) - getattr(state, name) for name in names)])


# ---- free motion


def propagate_state(body: AssumedBody, state: TargetState, h: Scalar | float) -> TargetState:
    """State after a free motion of time h: one step of fourth order for Euler's equations, constant velocity.

    A step that turns by 0.1 rad is wrong by about 1e-8 rad.
    """
    inertia = body.inertia(state.shape)

    def rates(turn: Vec3, omega: Vec3) -> tuple[Vec3, Vec3]:
        return dexp_inverse_second_order(turn, omega), free_angular_acceleration(inertia, omega)

    turn, omega = jnp.zeros(3), state.rate
    total_turn, total_omega, last = jnp.zeros(3), jnp.zeros(3), (jnp.zeros(3), jnp.zeros(3))
    for node, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        last = rates(turn + node * h * last[0], omega + node * h * last[1])
        total_turn, total_omega = total_turn + weight * last[0], total_omega + weight * last[1]
    turn = h / 6.0 * total_turn
    arm = rotation_matrix(state.quaternion) @ (body.frame.p - state.com)
    turned_arm = rotation_matrix(state.quaternion) @ (rotation_exp(turn) @ (body.frame.p - state.com))
    turned = quaternion_multiply(state.quaternion, quaternion_exp(turn))
    return TargetState(
        quaternion=turned / jnp.sqrt(turned @ turned),
        rate=omega + h / 6.0 * total_omega,
        position=state.position + h * state.velocity + turned_arm - arm,
        velocity=state.velocity,
        com=state.com,
        shape=state.shape,
    )


def free_angular_acceleration(inertia: Mat3, omega: Vec3) -> Vec3:
    """Angular acceleration by Euler's equations without torque: I omega' = -omega x I omega."""
    return spd_solve(inertia, -cross(omega, inertia @ omega))


def propagate_errors(body: AssumedBody, state: TargetState, h: Scalar | float) -> tuple[TargetState, Numeric]:
    """State after h, and the matrix (20, 20) from small errors before to errors after: exact derivative of the step."""
    after = propagate_state(body, state, h)

    def error_after(error: Vector) -> Vector:
        return error_between(after, propagate_state(body, apply_error(state, error), h))

    return after, jax.jacfwd(error_after)(jnp.zeros(ERROR_COUNT))


def point_velocity(state: TargetState, p_B: Vec3) -> Vec3:
    """Velocity of a point of the target, base axes [m/s]."""
    return rotation_matrix(state.quaternion).T @ state.velocity + cross(state.rate, p_B - state.com)
