"""A Kalman filter on a manifold: a target's state and the covariance of its error, predicted and corrected by pictures.

The error of the state, (20,), is defined by `move_state`; every Jacobian is the exact derivative of what is computed.
Covariances stay positive: predictions add squares only, corrections are in Joseph's form.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.target_motion import ERRORS, SIZE, BelievedBody, TargetState, coast_errors, move_state
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
class Belief:
    """A state at a time and how wrong it may be."""

    state: TargetState
    covariance: Matrix  # (20, 20) of the error
    time: Scalar  # [s]


@record
class Disturbance:
    """What moves the target beside free motion, as white noise: the filter forgets at this rate, and never sleeps.

    Inertia ratios of a rigid body do not move, but what was learnt of them while they were badly known was learnt by
    wrong derivatives, and should be forgotten: zero will do with a guess as good as 0.02, not with one of 0.1.
    """

    rate: Numeric | float = 1e-5  # of the angular acceleration [rad/s2 per root Hz]: torques that are not known
    velocity: Numeric | float = 1e-4  # of the acceleration [m/s2 per root Hz]: forces that are not known
    com: Numeric | float = 0.0  # of the centre of mass [m per root s]: fuel that moves
    shape: Numeric | float = 0.005  # of the inertia ratios [1 per root s]

    def __post_init__(self) -> None:
        units = {"rate": "rad/s^1.5", "velocity": "m/s^1.5", "com": "m/s^0.5", "shape": "1/s^0.5"}
        require_bounds(self, units, least=0.0)

    def density(self) -> Vector:
        """Variance that each error gains, per second."""
        density = jnp.zeros(SIZE)
        for name in ("rate", "velocity", "com", "shape"):
            density = density.at[ERRORS[name]].set(getattr(self, name) ** 2)
        return density


@record
class PictureNoise:
    """What makes a picture wrong, one sigma each, independent from picture to picture."""

    position: Numeric | float = 0.0  # of the camera [m]
    angle: Numeric | float = 0.0  # of the camera [rad]
    own_position: Numeric | float = 0.0  # of where the camera is believed to be: own navigation, joints [m]
    own_angle: Numeric | float = 0.0  # of where it is believed to look: star tracker, joints [rad]

    def __post_init__(self) -> None:
        require_bounds(self, {"position": "m", "angle": "rad"}, above=0.0)
        require_bounds(self, {"own_position": "m", "own_angle": "rad"}, least=0.0)

    def variances(self) -> Vector:
        """Of the twelve noises."""
        sigmas = jnp.stack([jnp.asarray(s) for s in (self.position, self.angle, self.own_position, self.own_angle)])
        return jnp.repeat(sigmas**2, 3)


@record
class View:
    """The target's frame in N."""

    quaternion: Quaternion  # quat_NT
    position: Vec3  # p_NT [m]

    def to(self, other: View) -> Vec6:
        """From this view to another: turn in T axes [rad], way in N axes [m]."""
        turn = quaternion_log(quaternion_multiply(quaternion_conjugate(self.quaternion), other.quaternion))
        return jnp.concatenate([turn, other.position - self.position])


@record
class Picture:
    """The target as seen, and from where."""

    seen: View
    camera: Vec3  # p_NK, where the camera was believed to be when it was taken [m]


@record
class Innovation:
    """What a picture says that was not expected."""

    residual: Vec6  # seen from expected: turn in T axes [rad], way in N axes [m]
    H: Matrix  # (6, 20) of the error
    covariance: Matrix  # (6, 6) of the residual
    noise: Matrix  # (6, 6), the picture's part of it

    def squared(self) -> Scalar:
        """Normalised innovation squared: chi-square of six degrees of freedom if all is as believed."""
        return self.residual @ spd_solve(self.covariance, self.residual)


# ---- prediction


def predict(body: BelievedBody, belief: Belief, time: Scalar, disturbance: Disturbance) -> Belief:
    """The belief at a later time, in two steps; disturbances come in by Simpson's rule, exact where errors grow slowly.

    P(h) = Phi P Phi^T + int Phi(s) q Phi(s)^T ds, with q at the start, in the middle and at the end.
    """
    h = time - belief.time
    q = h / 6.0 * jnp.diag(disturbance.density())
    middle, first = coast_errors(body, belief.state, 0.5 * h)
    end, second = coast_errors(body, middle, 0.5 * h)
    P = _symmetric(first @ (belief.covariance + q) @ first.T) + 4.0 * q
    return Belief(end, _symmetric(second @ P @ second.T) + q, time)


# ---- correction


def expected_view(body: BelievedBody, state: TargetState, picture: Picture, noises: Vector) -> View:
    """What a picture with given noises would show. They are alike in all directions, so N axes do for all of them."""
    shift, turn, own_shift, own_turn = noises.reshape(4, 3)
    quat_NT = quaternion_multiply(state.quaternion, jnp.asarray(body.frame.quaternion))
    away = state.position + shift - picture.camera
    return View(
        quaternion=quaternion_multiply(quaternion_exp(own_turn + turn), quat_NT),
        position=picture.camera + own_shift + rotation_exp(own_turn) @ away,
    )


def innovation(body: BelievedBody, belief: Belief, picture: Picture, noise: PictureNoise) -> Innovation:
    """What a picture, taken at the time of the belief, says that was not expected."""
    expected = expected_view(body, belief.state, picture, jnp.zeros(_NOISES))

    def residual(changes: Vector) -> Vec6:
        moved = move_state(belief.state, changes[:SIZE])
        return expected.to(expected_view(body, moved, picture, changes[SIZE:]))

    derivative = jax.jacfwd(residual)(jnp.zeros(SIZE + _NOISES))
    H, G = derivative[:, :SIZE], derivative[:, SIZE:]
    N = _symmetric((G * noise.variances()) @ G.T)
    return Innovation(expected.to(picture.seen), H, _symmetric(H @ belief.covariance @ H.T) + N, N)


def correct(belief: Belief, new: Innovation) -> Belief:
    """The belief with what a picture says: P = (1 - K H) P (1 - K H)^T + K N K^T (Joseph)."""
    P, H = belief.covariance, new.H
    K = spd_solve(new.covariance, H @ P).T
    kept = np.eye(SIZE) - K @ H
    P = _symmetric(kept @ P @ kept.T) + _symmetric(K @ new.noise @ K.T)
    return Belief(move_state(belief.state, K @ new.residual), P, belief.time)


def gate_of(share: float) -> float:
    """The normalised innovation squared that a share of good pictures exceeds: chi-square, six degrees of freedom."""
    from scipy.stats import chi2

    return float(chi2.isf(share, 6))


def _symmetric(A: Matrix) -> Matrix:
    """A matrix known to be symmetric, rebuilt from its upper triangle: compiled code never computes the other half."""
    return jnp.triu(A) + jnp.triu(A, 1).T
