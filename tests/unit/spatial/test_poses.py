"""SE(3): the group axioms, adjoints, and power that does not depend on the frame."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.spatial import Pose, angular, cross_force, cross_motion, linear, six

DRAWS = 32
# Positions are O(1) m, rotations O(1): a few dozen roundings of 1.1e-16.
ROUNDING = 5e-14
ANGLES = [
    0.0,
    1e-7,
    9.9e-3,
    1.01e-2,
    1.0,
    3.0,
    np.pi - 1e-7,
]  # both sides of the switch to series at 1e-2 rad


exp = jax.jit(Pose.exp)
there_and_back = jax.jit(jax.vmap(lambda V: Pose.exp(V).log()))


def draw(rng):
    """A stack of poses."""
    return jax.vmap(exp)(rng.normal(size=(DRAWS, 6)))


def over(function, *stacks):
    """A function of single poses and six-vectors, for each of the draws."""
    return jax.jit(jax.vmap(function))(*stacks)


def same(a: Pose, b: Pose, atol=ROUNDING):
    np.testing.assert_allclose(a.position, b.position, rtol=0.0, atol=atol)
    np.testing.assert_allclose(a.rotation, b.rotation, rtol=0.0, atol=atol)


def test_composition_is_associative(rng):
    X, Y, Z = draw(rng), draw(rng), draw(rng)
    left, right = over(lambda a, b, c: ((a @ b) @ c, a @ (b @ c)), X, Y, Z)
    same(left, right)


def test_inverse_and_identity(rng):
    X = draw(rng)
    forward, backward, twice = over(lambda a: (a @ a.inverse(), a.inverse() @ a, a @ Pose()), X)
    one = over(lambda _: Pose(position=jnp.zeros(3), rotation=jnp.eye(3)), np.zeros(DRAWS))
    same(forward, one)
    same(backward, one)
    same(twice, X)


def test_apply_follows_composition(rng):
    X, Y, points = draw(rng), draw(rng), rng.normal(size=(DRAWS, 3))
    direct, stepwise = over(lambda a, b, p: ((a @ b).apply(p), a.apply(b.apply(p))), X, Y, points)
    np.testing.assert_allclose(direct, stepwise, rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("angle", ANGLES)
def test_log_undoes_exp(rng, angle):
    axes = rng.normal(size=(DRAWS, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    twists = np.hstack([rng.normal(size=(DRAWS, 3)), angle * axes])
    back = there_and_back(twists)
    np.testing.assert_allclose(back, twists, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(back[:, 3:], twists[:, 3:], rtol=0.0, atol=ROUNDING * angle)


def test_exp_is_a_one_parameter_group(rng):
    V = np.array([*rng.normal(size=3), *rng.normal(size=3)])
    same(exp(0.7 * V), exp(0.3 * V) @ exp(0.4 * V))


def test_exp_is_the_matrix_exponential(rng):
    from scipy.linalg import expm

    V = rng.normal(size=6)
    generator = np.zeros((4, 4))
    generator[:3, :3] = np.cross(np.eye(3), V[3:])
    generator[:3, 3] = V[:3]
    expected, X = expm(generator), exp(V)
    np.testing.assert_allclose(X.R, expected[:3, :3], rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(X.p, expected[:3, 3], rtol=0.0, atol=ROUNDING)


def test_adjoint_is_a_homomorphism(rng):
    X, Y = draw(rng), draw(rng)
    product, factors, inverse = over(
        lambda a, b: ((a @ b).adjoint(), a.adjoint() @ b.adjoint(), a.inverse().adjoint() @ a.adjoint()), X, Y
    )
    np.testing.assert_allclose(product, factors, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(inverse, np.broadcast_to(np.eye(6), inverse.shape), rtol=0.0, atol=ROUNDING)


def test_adjoint_carries_exp(rng):
    X, V = exp(rng.normal(size=6)), rng.normal(size=6)
    same(exp(X.adjoint() @ V), X @ exp(V) @ X.inverse())


def test_twists_and_wrenches_are_carried_by_the_adjoint(rng):
    X, V, F = draw(rng), rng.normal(size=(DRAWS, 6)), rng.normal(size=(DRAWS, 6))

    def differences(a, v, f):
        Ad = a.adjoint()
        return jnp.stack(
            [
                a.twist_to_A(v) - Ad @ v,
                a.twist_to_B(a.twist_to_A(v)) - v,
                Ad.T @ a.wrench_to_A(f) - f,
                a.wrench_to_B(a.wrench_to_A(f)) - f,
            ]
        )

    np.testing.assert_allclose(over(differences, X, V, F), 0.0, rtol=0.0, atol=10 * ROUNDING)


def test_power_is_the_same_in_every_frame(rng):
    X, V, F = draw(rng), rng.normal(size=(DRAWS, 6)), rng.normal(size=(DRAWS, 6))
    here = np.sum(V * F, axis=1)
    there = over(lambda a, v, f: a.twist_to_A(v) @ a.wrench_to_A(f), X, V, F)
    np.testing.assert_allclose(there, here, rtol=0.0, atol=10 * ROUNDING)
    # Negative control: carrying the wrench as a twist must not give the same power.
    wrong = over(lambda a, v, f: a.twist_to_A(v) @ a.twist_to_A(f), X, V, F)
    assert np.max(np.abs(wrong - here)) > 1e-2


def test_cross_products_are_derivatives_of_the_transports(rng):
    V, W = rng.normal(size=(2, 6))

    def slope(carry, at):
        return jax.jit(lambda t: jax.jvp(carry, (t,), (1.0,))[1])(at)

    for at in (0.0, 0.8):
        X = exp(at * V)
        rate = slope(lambda t: Pose.exp(t * V).twist_to_A(W), at)
        np.testing.assert_allclose(rate, X.twist_to_A(cross_motion(V, W)), rtol=0.0, atol=10 * ROUNDING)
        rate = slope(lambda t: Pose.exp(t * V).wrench_to_A(W), at)
        np.testing.assert_allclose(rate, X.wrench_to_A(cross_force(V, W)), rtol=0.0, atol=10 * ROUNDING)


def test_cross_products_are_dual_and_fulfil_jacobi(rng):
    U, V, W = rng.normal(size=(3, 6))
    assert float(cross_motion(V, W) @ U + W @ cross_force(V, U)) == pytest.approx(0.0, abs=ROUNDING)
    cyclic = (
        cross_motion(U, cross_motion(V, W)) + cross_motion(V, cross_motion(W, U)) + cross_motion(W, cross_motion(U, V))
    )
    np.testing.assert_allclose(cyclic, 0.0, rtol=0.0, atol=10 * ROUNDING)
    np.testing.assert_allclose(cross_motion(V, V), 0.0, rtol=0.0, atol=ROUNDING)


def test_six_vectors_are_linear_then_angular():
    V = six(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    np.testing.assert_array_equal(V, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    np.testing.assert_array_equal(linear(V), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(angular(V), [4.0, 5.0, 6.0])


def test_quaternion_and_degrees(rng):
    X = Pose.from_rpy_deg((0.0, 0.0, 90.0), (1.0, 2.0, 3.0))
    np.testing.assert_allclose(X.apply(np.array([1.0, 0.0, 0.0])), [1.0, 3.0, 3.0], rtol=0.0, atol=ROUNDING)
    X = exp(rng.normal(size=6))
    same(Pose.from_quaternion(X.quaternion, X.p), X)


@pytest.mark.parametrize("jacobian", [jax.jacfwd, pytest.param(jax.jacrev, marks=pytest.mark.slow)])
def test_derivatives_are_right_at_the_identity(jacobian):
    slope = jax.jit(jacobian(lambda V: Pose.exp(V).log()))(jnp.zeros(6))
    np.testing.assert_allclose(slope, np.eye(6), rtol=0.0, atol=ROUNDING)


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r"Pose.position must have shape \(3,\), got \(2,\)"):
        Pose(position=(1.0, 2.0))
    with pytest.raises(ValueError, match=r"Pose.rotation must have shape \(3, 3\)"):
        Pose(rotation=np.eye(4))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Pose(rotation=2.0 * np.eye(3)), r"not a rotation: R R\^T differs from 1 by 3\. .*Pose\.from_rpy_deg"),
        (lambda: Pose(rotation=-np.eye(3)), "not a rotation: it mirrors"),
        (lambda: Pose(rotation=np.full((3, 3), np.nan)), "Pose.rotation must be finite"),
        (lambda: Pose(position=(0.0, np.inf, 0.0)), r"Pose.position must be finite \[m\], got \[0.0, inf, 0.0\]"),
        (lambda: Pose.from_quaternion(np.zeros(4), np.zeros(3)), "needs a unit quaternion"),
        (lambda: Pose.from_quaternion(2.0 * np.eye(4)[0], np.zeros(3)), "needs a unit quaternion"),
    ],
)
def test_what_is_no_pose_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_traced_poses_are_not_looked_at():
    """Tangents, batches and derivatives are no rotations, and must pass."""
    assert jax.jit(lambda R: Pose(rotation=R).R)(2.0 * np.eye(3))[0, 0] == 2.0
    assert jax.jit(lambda x: Pose(position=(x, 0.0, 0.0)).p)(3.0)[0] == 3.0
