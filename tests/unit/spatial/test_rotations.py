"""SO(3): the group axioms, SciPy as an oracle, and the places where naive formulas lose digits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from freefloat.spatial import rotations as so3

DRAWS = 64
# Entries are O(1) and come from a few dozen roundings of 1.1e-16 each.
ROUNDING = 2e-14

# The identity, 1e-7 beside it, both sides of the switch to series (3.16e-3 rad), anywhere, and up to pi.
ANGLES = [0.0, 1e-7, 3.1e-3, 3.2e-3, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-7]


exp = jax.jit(jax.vmap(so3.rotation_exp))
there_and_back = jax.jit(jax.vmap(lambda r: so3.rotation_log(so3.rotation_exp(r))))
quaternion_there_and_back = jax.jit(jax.vmap(lambda r: so3.quaternion_log(so3.quaternion_exp(r))))
matrix_there_and_back = jax.jit(jax.vmap(lambda q: so3.quaternion_of(so3.rotation_matrix(q))))
angles_to_matrix = jax.jit(jax.vmap(so3.from_roll_pitch_yaw))
matrix_to_angles = jax.jit(jax.vmap(so3.roll_pitch_yaw))


@jax.jit
@jax.vmap
def rate_there_and_back(r, r_dot):
    """From the rate of a rotation vector to the body rate, by autodiff, and back by dexp_inverse."""
    R, R_dot = jax.jvp(so3.rotation_exp, (r,), (r_dot,))
    W = R.T @ R_dot  # skew of the body rate
    return so3.dexp_inverse(r, jnp.array([W[2, 1], W[0, 2], W[1, 0]]))


def directions(rng, count=DRAWS):
    a = rng.normal(size=(count, 3))
    return a / np.linalg.norm(a, axis=1, keepdims=True)


def rotations(rng, count=DRAWS):
    return np.array(Rotation.random(count, random_state=rng).as_matrix())


@pytest.mark.parametrize("angle", ANGLES)
def test_log_undoes_exp_relative_to_the_angle(rng, angle):
    vectors = angle * directions(rng)
    back = there_and_back(vectors)
    np.testing.assert_allclose(back, vectors, rtol=0.0, atol=ROUNDING * angle)
    back = quaternion_there_and_back(vectors)
    np.testing.assert_allclose(back, vectors, rtol=0.0, atol=ROUNDING * angle)


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_agrees_with_scipy(rng, angle):
    vectors = angle * directions(rng)
    expected = Rotation.from_rotvec(vectors).as_matrix()
    np.testing.assert_allclose(exp(vectors), expected, rtol=0.0, atol=ROUNDING)


def test_log_is_the_shorter_turn(rng):
    vectors = 4.0 * directions(rng)  # [rad], more than pi: the log goes the other way round
    back = there_and_back(vectors)
    np.testing.assert_allclose(back, vectors * (1.0 - 2.0 * np.pi / 4.0), rtol=0.0, atol=ROUNDING)


def test_a_quaternion_and_its_opposite_have_the_same_log(rng):
    vectors = np.concatenate([angle * directions(rng, 4) for angle in ANGLES])
    opposite = jax.vmap(lambda r: so3.quaternion_log(-so3.quaternion_exp(r)))(vectors)
    np.testing.assert_allclose(opposite, vectors, rtol=0.0, atol=4.0 * ROUNDING)


def test_exp_of_a_vector_and_its_opposite_are_inverse(rng):
    vectors = rng.uniform(0.0, 3.0, (DRAWS, 1)) * directions(rng)
    product = exp(vectors) @ exp(-vectors)
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(3), product.shape), rtol=0.0, atol=ROUNDING)


def test_rotation_about_is_exp_along_the_axis(rng):
    axes, angles = directions(rng), rng.uniform(-3.0, 3.0, DRAWS)
    expected = exp(angles[:, None] * axes)
    np.testing.assert_allclose(jax.jit(jax.vmap(so3.rotation_about))(axes, angles), expected, rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("largest", [0, 1, 2, 3])
def test_quaternion_of_uses_every_branch(rng, largest):
    quats = rng.normal(size=(DRAWS, 4)) * 0.3
    quats[:, largest] = 1.0 + rng.uniform(size=DRAWS)
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    quats *= np.where(quats[:, :1] < 0.0, -1.0, 1.0)
    back = matrix_there_and_back(quats)
    assert np.all(np.argmax(np.abs(quats), axis=1) == largest)
    np.testing.assert_allclose(back, quats, rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("axis", np.eye(3).tolist())
def test_half_turns_about_an_axis_are_exact(axis):
    half_turn = 2.0 * np.outer(axis, axis) - np.eye(3)
    np.testing.assert_allclose(np.abs(so3.rotation_log(half_turn)), np.pi * np.array(axis), rtol=0.0, atol=ROUNDING)


def test_quaternions_are_scalar_first_and_multiply_as_rotations(rng):
    a, b = rotations(rng), rotations(rng)
    quats = jax.jit(jax.vmap(so3.quaternion_of))(a)
    scipy_last = Rotation.from_matrix(a).as_quat(canonical=True)
    np.testing.assert_allclose(quats, np.roll(scipy_last, 1, axis=1), rtol=0.0, atol=ROUNDING)

    def product(A, B):
        quat = so3.quaternion_multiply(so3.quaternion_of(A), so3.quaternion_of(B))
        return so3.rotation_matrix(quat), so3.rotation_matrix(so3.quaternion_conjugate(quat))

    forward, backward = jax.jit(jax.vmap(product))(a, b)
    np.testing.assert_allclose(forward, a @ b, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(backward, np.swapaxes(a @ b, 1, 2), rtol=0.0, atol=ROUNDING)


def test_quaternion_multiplication_is_associative(rng):
    p, q, r = rng.normal(size=(3, DRAWS, 4))  # not unit: |p||q||r| is below 1e2, so rounding grows to 1e-13
    times = jax.jit(jax.vmap(so3.quaternion_multiply))
    np.testing.assert_allclose(times(times(p, q), r), times(p, times(q, r)), rtol=0.0, atol=1e-12)


def test_skew_is_the_cross_product(rng):
    a, b = rng.normal(size=(2, 3))
    np.testing.assert_allclose(so3.skew(a) @ b, np.cross(a, b), rtol=0.0, atol=ROUNDING)
    np.testing.assert_array_equal(so3.skew(a), -np.asarray(so3.skew(a)).T)


def test_symmetric_takes_the_upper_triangle(rng):
    A = rng.normal(size=(3, 3))
    np.testing.assert_array_equal(so3.symmetric(A), np.triu(A) + np.triu(A, 1).T)


@pytest.mark.parametrize("angle", ANGLES)
def test_dexp_inverse_is_the_rate_of_the_rotation_vector(rng, angle):
    vectors, rates = angle * directions(rng), rng.normal(size=(DRAWS, 3))
    # Autodiff through the half angle loses nothing; rates are O(3), the inverse differential below 2.
    np.testing.assert_allclose(rate_there_and_back(vectors, rates), rates, rtol=0.0, atol=1e-12)


def test_dexp_inverse_against_differences(rng):
    """Central differences of log(exp(r) exp(h omega)): error h^2 = 1e-8 of O(1) third derivatives."""
    r, omega, h = 1.3 * directions(rng, 1)[0], rng.normal(size=3), 1e-4

    def moved(step):
        return so3.rotation_log(so3.rotation_exp(r) @ so3.rotation_exp(step * omega))

    slope = (moved(h) - moved(-h)) / (2.0 * h)
    np.testing.assert_allclose(so3.dexp_inverse(r, omega), slope, rtol=0.0, atol=1e-6)


def test_second_order_dexp_inverse_errs_at_fourth_order(rng):
    """The first neglected term is |r|^4 / 720, so half the vector gives a sixteenth of the error."""
    direction = directions(rng, 1)[0]
    omega = np.cross(direction, rng.normal(size=3))

    def error(angle):
        r = angle * direction
        return np.linalg.norm(so3.dexp_inverse(r, omega) - so3.dexp_inverse_second_order(r, omega))

    assert error(0.4) / error(0.2) == pytest.approx(16.0, rel=0.02)


def test_roll_pitch_yaw_agrees_with_scipy(rng):
    R = rotations(rng)
    yaw_pitch_roll = Rotation.from_matrix(R).as_euler("ZYX")
    # Random pitches stay a little away from 90 deg; 1e-12 leaves room for 1/cos(pitch) = 100.
    np.testing.assert_allclose(matrix_to_angles(R), yaw_pitch_roll[:, ::-1], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-12, 1e-7, 1e-3, 1.0])
@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_roll_pitch_yaw_give_the_matrix_again_even_at_gimbal_lock(rng, pitch, off):
    rpy = np.column_stack([rng.uniform(-3, 3, DRAWS), np.full(DRAWS, pitch * (1.0 - off)), rng.uniform(-3, 3, DRAWS)])
    R = angles_to_matrix(rpy)
    again = angles_to_matrix(matrix_to_angles(R))
    np.testing.assert_allclose(again, R, rtol=0.0, atol=1e-15)  # what URDF files lose, see the URDF writer
    # As others make such a matrix: of what is nearly zero in it, only rounding is left.
    other = rotations(rng)
    rounded = other @ (np.swapaxes(other, 1, 2) @ R)
    np.testing.assert_allclose(angles_to_matrix(matrix_to_angles(rounded)), rounded, rtol=0.0, atol=4e-15)


@pytest.mark.parametrize("jacobian", [jax.jacfwd, pytest.param(jax.jacrev, marks=pytest.mark.slow)])
def test_derivatives_are_finite_and_right_at_the_identity(jacobian):
    zero, one = jnp.zeros(3), np.eye(3)

    def slope(function, at):
        return np.asarray(jax.jit(jacobian(function))(at))

    exact = {"rtol": 0.0, "atol": ROUNDING}
    np.testing.assert_allclose(slope(lambda r: so3.rotation_log(so3.rotation_exp(r)), zero), one, **exact)
    np.testing.assert_allclose(slope(so3.quaternion_exp, zero)[1:], 0.5 * one, **exact)
    identity = jnp.array([1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(slope(so3.quaternion_log, identity)[:, 1:], 2.0 * one, **exact)
    assert np.all(np.isfinite(slope(lambda r: so3.dexp_inverse(r, jnp.ones(3)), zero)))
    assert np.all(np.isfinite(slope(so3.roll_pitch_yaw, jnp.eye(3))))
