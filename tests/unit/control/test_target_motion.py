"""The free motion of a target and its errors: against the package's unforced motion, identities, differences."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.picture_update import (
    Disturbance,
    Picture,
    PictureNoise,
    TargetEstimate,
    TargetView,
    correct_estimate,
    expected_view,
    innovation,
    innovation_gate,
    predict_estimate,
)
from freefloat.control.target_motion import (
    ERROR_COUNT,
    ERRORS,
    AssumedBody,
    TargetState,
    apply_error,
    error_between,
    free_angular_acceleration,
    point_velocity,
    propagate_errors,
    propagate_state,
)
from freefloat.dynamics import FrameMotion, advance_unforced, unforced_motion
from freefloat.spatial import Pose, SpatialInertia
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply, rotation_matrix
from support.compiling import compiled

RNG = np.random.default_rng(20)
INERTIA = np.array([[520.0, 30.0, -20.0], [30.0, 1100.0, 15.0], [-20.0, 15.0, 900.0]])  # [kg m2]
BODY = AssumedBody.from_inertia(Pose.from_rpy_deg((10.0, 20.0, 30.0), (1.2, 0.1, -0.3)), INERTIA)
STATE = TargetState(
    quaternion=quaternion_exp(jnp.array([0.4, -0.2, 0.9])),
    position=jnp.array([5.0, 0.3, -0.2]),
    rate=jnp.array([0.05, 0.09, -0.04]),
    velocity=jnp.array([0.01, -0.02, 0.005]),
    com=jnp.array([0.05, -0.02, 0.03]),
    shape=jnp.array([0.05, -0.1, 0.08, 0.02, -0.04]),
)
PICTURE = Picture(
    TargetView(quaternion_exp(jnp.array([0.5, 0.1, 0.6])), jnp.array([5.1, 0.3, -0.1])), jnp.array([1.0, 0, 0])
)


NOISE = PictureNoise(position=0.01, angle=0.02, own_position=0.03, own_angle=0.04)
NOTHING = Disturbance(rate=0.0, velocity=0.0, com=0.0, shape=0.0)


@compiled
def tick(belief: TargetEstimate, time: Any, disturbance: Disturbance, picture: Picture, noise: PictureNoise) -> Any:
    """One tick of the filter: the belief at a time, what a picture says then, and what becomes of both."""
    later = predict_estimate(BODY, belief, time, disturbance)
    new = innovation(BODY, later, picture, noise)
    return later, new, correct_estimate(later, new)


def differences(function: Callable[[Any], Any], size: int, h: float = 1e-5) -> np.ndarray:
    """Derivative at zero by central differences."""
    at, steps = compiled(function), h * np.eye(size)
    return np.stack([(at(s) - at(-s)) / (2 * h) for s in steps], axis=1)


def test_every_shape_is_a_body_and_every_body_has_one_shape() -> None:
    back = compiled(lambda shape: (BODY.inertia(shape), BODY.shape_of(37.0 * BODY.inertia(shape))))
    for shape in RNG.normal(size=(50, 5)):
        inertia, found = back(shape)
        a, b, c = np.linalg.eigvalsh(inertia)
        assert a > 0.0
        assert c < a + b  # the triangle inequality
        np.testing.assert_allclose(found, shape, atol=1e-9)
    np.testing.assert_allclose(BODY.inertia(np.zeros(5)), INERTIA / np.trace(INERTIA), atol=1e-15)


def test_ratios_of_eulers_equations_are_hyperbolic_tangents() -> None:
    S, omega = np.array([0.5, 0.2, 0.3]), np.array([0.3, 0.5, -0.7])
    change = free_angular_acceleration(jnp.diag(jnp.asarray(S.sum() - S)), jnp.asarray(omega))
    expected = np.tanh(0.5 * np.log(np.roll(S, -2) / np.roll(S, -1))) * np.roll(omega, -1) * np.roll(omega, -2)
    np.testing.assert_allclose(change, expected, atol=1e-15)


def test_a_wrong_sign_in_eulers_equations_is_the_body_of_inverse_second_moments() -> None:
    S, omega = np.array([0.5, 0.2, 0.3]), jnp.array([0.3, 0.5, -0.7])
    right, wrong = (free_angular_acceleration(jnp.diag(jnp.asarray(s.sum() - s)), omega) for s in (S, 1.0 / S))
    np.testing.assert_allclose(wrong, -right, atol=1e-15)


def test_coasting_is_the_unforced_motion_of_the_package() -> None:
    state = dataclasses.replace(STATE, shape=jnp.zeros(5))
    body = SpatialInertia.from_com(800.0, np.asarray(state.com), INERTIA)
    R = rotation_matrix(state.quaternion)
    twist = jnp.concatenate([point_velocity(state, jnp.zeros(3)), state.rate])
    start = FrameMotion(np.asarray(state.position - R @ BODY.frame.p), np.asarray(state.quaternion), np.asarray(twist))
    other, step = unforced_motion(body, start), compiled(lambda state: propagate_state(BODY, state, 0.02))
    for _ in range(50):
        other, state = advance_unforced(body, other, 0.02), step(state)
    # Both are of fourth order: (0.02 s x 0.1 rad/s)^5 a step.
    np.testing.assert_allclose(state.quaternion, other.quaternion, atol=1e-12)
    np.testing.assert_allclose(state.rate, other.twist[3:], atol=1e-12)
    np.testing.assert_allclose(state.position, other.pose.apply(BODY.frame.p), atol=1e-11)


def test_a_step_of_fourth_order_keeps_momentum_and_energy() -> None:
    def drift(h: float) -> np.ndarray:
        I, after = np.asarray(BODY.inertia(STATE.shape)), propagate_state(BODY, STATE, h)
        momenta = [np.asarray(rotation_matrix(x.quaternion)) @ I @ np.asarray(x.rate) for x in (STATE, after)]
        energies = [0.5 * np.asarray(x.rate) @ I @ np.asarray(x.rate) for x in (STATE, after)]
        return np.array([np.linalg.norm(momenta[1] - momenta[0]), abs(energies[1] - energies[0])])

    coarse, fine = drift(4.0), drift(2.0)
    assert np.all(coarse / fine > 24.0)  # of a step of order 5: 32


def test_errors_are_moved_back_and_forth() -> None:
    error = 0.3 * RNG.normal(size=ERROR_COUNT)
    np.testing.assert_allclose(error_between(STATE, apply_error(STATE, error)), error, atol=1e-14)


def test_derivatives_of_a_step_are_those_of_differences() -> None:
    after, Phi = compiled(lambda state: propagate_errors(BODY, state, 0.7))(STATE)
    found = differences(lambda e: error_between(after, propagate_state(BODY, apply_error(STATE, e), 0.7)), ERROR_COUNT)
    np.testing.assert_allclose(Phi, found, atol=1e-9)  # h^2 and 1e-16 / h
    np.testing.assert_array_equal(Phi[ERRORS["shape"], ERRORS["shape"]], np.eye(5))


def test_derivatives_of_a_picture_are_those_of_differences() -> None:
    belief = TargetEstimate(STATE, jnp.eye(ERROR_COUNT), jnp.zeros(()))
    _, new, _ = tick(belief, 0.0, NOTHING, PICTURE, NOISE)
    expected = expected_view(BODY, STATE, PICTURE, jnp.zeros(12))

    def seen(error: Any, noises: Any) -> Any:
        return expected.to(expected_view(BODY, apply_error(STATE, error), PICTURE, noises))

    H = differences(lambda e: seen(e, jnp.zeros(12)), ERROR_COUNT)
    G = differences(lambda n: seen(jnp.zeros(ERROR_COUNT), n), 12)
    np.testing.assert_allclose(new.H, H, atol=1e-9)
    np.testing.assert_allclose(new.noise, G @ np.diag(np.repeat([1e-4, 4e-4, 9e-4, 16e-4], 3)) @ G.T, atol=1e-12)
    # Own attitude counts over the distance: 4.1 m across, seen from the camera.
    assert float(new.noise[5, 5]) > 1e-4 + 9e-4 + 16e-4 * 4.0**2


def test_disturbances_of_a_resting_target_come_in_exactly() -> None:
    still = dataclasses.replace(STATE, rate=jnp.zeros(3), velocity=jnp.zeros(3))
    h, q = 0.8, Disturbance(rate=2e-3, velocity=3e-3, com=0.0, shape=0.0)
    P = tick(TargetEstimate(still, jnp.zeros((ERROR_COUNT, ERROR_COUNT)), jnp.zeros(())), h, q, PICTURE, NOISE)[
        0
    ].covariance
    angle, rate = ERRORS["angle"], ERRORS["rate"]
    np.testing.assert_allclose(P[angle, angle], 4e-6 * h**3 / 3 * np.eye(3), atol=1e-18)
    np.testing.assert_allclose(P[angle, rate], 4e-6 * h**2 / 2 * np.eye(3), atol=1e-18)
    np.testing.assert_allclose(P[rate, rate], 4e-6 * h * np.eye(3), atol=1e-18)
    np.testing.assert_allclose(P[ERRORS["velocity"], ERRORS["velocity"]], 9e-6 * h * np.eye(3), atol=1e-18)


def test_a_correction_is_the_least_squares_of_belief_and_picture() -> None:
    A = RNG.normal(size=(ERROR_COUNT, ERROR_COUNT))
    belief = TargetEstimate(STATE, jnp.asarray(1e-4 * (A @ A.T + np.eye(ERROR_COUNT))), jnp.zeros(()))
    _, new, better = tick(belief, 0.0, NOTHING, PICTURE, NOISE)
    H, N = np.asarray(new.H), np.asarray(new.noise)
    information = np.linalg.inv(belief.covariance) + H.T @ np.linalg.inv(N) @ H
    np.testing.assert_allclose(np.asarray(better.covariance) @ information, np.eye(ERROR_COUNT), atol=1e-8)
    step = np.linalg.solve(information, H.T @ np.linalg.solve(N, np.asarray(new.residual)))
    np.testing.assert_allclose(error_between(STATE, better.state), step, atol=1e-10)


def test_covariances_stay_positive_with_pictures_that_are_too_good() -> None:
    belief, exact = TargetEstimate(STATE, jnp.eye(ERROR_COUNT), jnp.zeros(())), PictureNoise(position=1e-6, angle=1e-6)
    for number in range(1, 201):
        expected = tick(belief, 0.5 * number, NOTHING, PICTURE, exact)[0].state
        view = TargetView(quaternion_multiply(expected.quaternion, BODY.frame.quaternion), expected.position)
        _, _, belief = tick(belief, 0.5 * number, NOTHING, dataclasses.replace(PICTURE, seen=view), exact)
    P = np.asarray(belief.covariance)
    np.testing.assert_array_equal(P, P.T)
    # Positive to rounding of the largest entry; pictures a million times better than the guess leave no less.
    assert np.linalg.eigvalsh(P)[0] > -1e-16 * np.max(np.diag(P))
    assert np.all(np.diag(P) > 0.0)


def test_the_gate_is_the_quantile_of_its_probability() -> None:
    x = innovation_gate(1e-3)
    np.testing.assert_allclose(np.exp(-x / 2) * (1 + x / 2 + x**2 / 8), 1e-3, rtol=1e-9)  # chi-square of six, closed
