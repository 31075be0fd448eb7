"""A Kalman filter on a manifold: a target's state and the covariance of its error, predicted and corrected by pictures.

The error of the state, (20,), is defined by `apply_error`; every Jacobian is the exact derivative of what is computed.
Covariances stay positive: predictions add squares only, corrections are in Joseph's form.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.target_motion import ERROR_COUNT, ERRORS, AssumedBody, TargetState, apply_error, propagate_errors
from freefloat.dynamics import spd_solve
from freefloat.spatial.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_multiply,
    rotation_exp,
)
from freefloat.values import record
from freefloat.values.arrays import Matrix, Numeric, Quaternion, Scalar, Vec3, Vec6, Vector
from freefloat.values.checks import require_bounds

_NOISES = 12  # of the camera's position and attitude of the target, and of its own


@record
class TargetEstimate:
    """Estimated state of a target at a time, with the covariance of its error."""

    state: TargetState
    covariance: Matrix  # (20, 20) of the error
    time: Scalar  # [s]


@record
class Disturbance:
    """White noise that moves the target in addition to free motion, so that the filter keeps using new pictures.

    Inertia ratios of a rigid body are constant, but estimates from the time when they were badly known come from
    wrong derivatives and should be forgotten: zero is enough with a guess as good as 0.02, not with one of 0.1.
    """

    rate: Numeric | float = 1e-5  # of the angular acceleration [rad/s2 per root Hz]: torques that are not known
    velocity: Numeric | float = 1e-4  # of the acceleration [m/s2 per root Hz]: forces that are not known
    com: Numeric | float = 0.0  # of the centre of mass [m per root s]: fuel that moves
    shape: Numeric | float = 0.005  # of the inertia ratios [1 per root s]

    def __post_init__(self) -> None:
        units = {"rate": "rad/s^1.5", "velocity": "m/s^1.5", "com": "m/s^0.5", "shape": "1/s^0.5"}
        require_bounds(self, units, least=0.0)

    def density(self) -> Vector:
        """Variance that each error gains per second (20,)."""
        density = jnp.zeros(ERROR_COUNT)
        for name in ("rate", "velocity", "com", "shape"):
            density = density.at[ERRORS[name]].set(getattr(self, name) ** 2)
        return density


@record
class PictureNoise:
    """Errors of a picture, one sigma each, independent from picture to picture."""

    position: Numeric | float = 0.0  # of the camera [m]
    angle: Numeric | float = 0.0  # of the camera [rad]
    own_position: Numeric | float = 0.0  # of the camera's assumed place: own navigation, joints [m]
    own_angle: Numeric | float = 0.0  # of the camera's assumed attitude: star tracker, joints [rad]

    def __post_init__(self) -> None:
        require_bounds(self, {"position": "m", "angle": "rad"}, above=0.0)
        require_bounds(self, {"own_position": "m", "own_angle": "rad"}, least=0.0)

    def variances(self) -> Vector:
        """Variances of the twelve noises of a picture (12,)."""
        sigmas = jnp.stack([jnp.asarray(s) for s in (self.position, self.angle, self.own_position, self.own_angle)])
        return jnp.repeat(sigmas**2, 3)


@record
class TargetView:
    """Pose of the target's frame in N."""

    quaternion: Quaternion  # quat_NT
    position: Vec3  # p_NT [m]

    def to(self, other: TargetView) -> Vec6:
        """Difference from this view to another: rotation in T axes [rad], displacement in N axes [m]."""
        turn = quaternion_log(quaternion_multiply(quaternion_conjugate(self.quaternion), other.quaternion))
        return jnp.concatenate([turn, other.position - self.position])


@record
class Picture:
    """Pose of the target as seen, and the place of the camera."""

    seen: TargetView
    camera: Vec3  # p_NK, assumed place of the camera when it was taken [m]


@record
class Innovation:
    """Difference between a picture and its prediction, with its derivatives and covariances."""

    residual: Vec6  # seen minus expected: rotation in T axes [rad], displacement in N axes [m]
    H: Matrix  # (6, 20) of the error
    covariance: Matrix  # (6, 6) of the residual
    noise: Matrix  # (6, 6), the picture's part of it

    def normalised_square(self) -> Scalar:
        """Normalised innovation squared: chi-square of six degrees of freedom if the model is right."""
        return self.residual @ spd_solve(self.covariance, self.residual)


# ---- prediction


def predict_estimate(
    body: AssumedBody, belief: TargetEstimate, time: Scalar, disturbance: Disturbance
) -> TargetEstimate:
    """Estimate at a later time, in two steps; disturbances by Simpson's rule, exact where errors grow slowly.

    P(h) = Phi P Phi^T + int Phi(s) q Phi(s)^T ds, with q at the start, in the middle and at the end.
    """
    h = time - belief.time
    q = h / 6.0 * jnp.diag(disturbance.density())
    middle, first = propagate_errors(body, belief.state, 0.5 * h)
    end, second = propagate_errors(body, middle, 0.5 * h)
    P = _symmetric(first @ (belief.covariance + q) @ first.T) + 4.0 * q
    return TargetEstimate(end, _symmetric(second @ P @ second.T) + q, time)


# ---- correction


def expected_view(body: AssumedBody, state: TargetState, picture: Picture, noises: Vector) -> TargetView:
    """View that a picture with given noises would show; noises are equal in all directions, so N axes suit them all."""
    shift, turn, own_shift, own_turn = noises.reshape(4, 3)
    quat_NT = quaternion_multiply(state.quaternion, jnp.asarray(body.frame.quaternion))
    away = state.position + shift - picture.camera
    return TargetView(
        quaternion=quaternion_multiply(quaternion_exp(own_turn + turn), quat_NT),
        position=picture.camera + own_shift + rotation_exp(own_turn) @ away,
    )


def innovation(body: AssumedBody, belief: TargetEstimate, picture: Picture, noise: PictureNoise) -> Innovation:
    """Innovation of a picture that was taken at the time of the estimate."""
    expected = expected_view(body, belief.state, picture, jnp.zeros(_NOISES))

    def residual(changes: Vector) -> Vec6:
        moved = apply_error(belief.state, changes[:ERROR_COUNT])
        return expected.to(expected_view(body, moved, picture, changes[ERROR_COUNT:]))

    derivative = jax.jacfwd(residual)(jnp.zeros(ERROR_COUNT + _NOISES))
    H, G = derivative[:, :ERROR_COUNT], derivative[:, ERROR_COUNT:]
    N = _symmetric((G * noise.variances()) @ G.T)
    return Innovation(expected.to(picture.seen), H, _symmetric(H @ belief.covariance @ H.T) + N, N)


def correct_estimate(belief: TargetEstimate, new: Innovation) -> TargetEstimate:
    """Estimate corrected by a picture: P = (1 - K H) P (1 - K H)^T + K N K^T (Joseph)."""
    P, H = belief.covariance, new.H
    K = spd_solve(new.covariance, H @ P).T
    kept = np.eye(ERROR_COUNT) - K @ H
    P = _symmetric(kept @ P @ kept.T) + _symmetric(K @ new.noise @ K.T)
    return TargetEstimate(apply_error(belief.state, K @ new.residual), P, belief.time)


def innovation_gate(share: float) -> float:
    """Limit of the normalised innovation squared that a share of good pictures exceeds: chi-square, six degrees."""
    from scipy.stats import chi2

    return float(chi2.isf(share, 6))


def _symmetric(A: Matrix) -> Matrix:
    """Symmetric matrix, rebuilt from its upper triangle: compiled code never computes the other half."""
    return jnp.triu(A) + jnp.triu(A, 1).T
