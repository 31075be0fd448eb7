"""Damped least squares and the null-space basis against NumPy's singular value decomposition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.dynamics.least_squares import (
    damped_least_squares,
    least_squares,
    null_basis,
    smallest_singular_value,
)


def _with_singular_values(rng: np.random.Generator, values) -> jax.Array:
    U, _, Vt = np.linalg.svd(rng.normal(size=(6, 6)))
    return jnp.asarray(U @ np.diag(values) @ Vt)


def test_regular_systems_are_solved_exactly(rng: np.random.Generator) -> None:
    J, wanted = jnp.asarray(rng.normal(size=(6, 8))), jnp.asarray(rng.normal(size=6))
    expected = np.linalg.pinv(J) @ wanted
    np.testing.assert_allclose(least_squares(J, wanted), expected, rtol=1e-10)
    found = damped_least_squares(J, wanted, 1e-6)
    np.testing.assert_allclose(found.x, expected, rtol=1e-10)
    assert not bool(found.damped)


@pytest.mark.parametrize("smallest", [0.5, 0.05, 1e-3, 1e-5])
def test_smallest_singular_value_is_estimated(rng: np.random.Generator, smallest: float) -> None:
    J = _with_singular_values(rng, [3.0, 2.5, 2.0, 1.5, 1.2, smallest])
    # Inverse iteration errs by r^2 (smallest / next)^8 / 2 for a start with r times as much of the next direction: less
    # than 1 % with r = 4 at the gap of 0.5 to 1.2. Squares may lose a tenth of the smallest.
    assert float(smallest_singular_value(J @ J.T)) == pytest.approx(smallest, rel=0.1)


@pytest.mark.parametrize("smallest", [0.0, 1e-12, 1e-4, 9.9e-3])
def test_singular_systems_stay_finite_and_say_so(rng: np.random.Generator, smallest: float) -> None:
    J = _with_singular_values(rng, [3.0, 2.0, 1.5, 1.0, 0.8, smallest])
    wanted = jnp.asarray(rng.normal(size=6))
    found = damped_least_squares(J, wanted, 0.01)
    assert bool(found.damped)
    # Damping of 0.01 permits a gain of at most 1 / (2 * 0.01), undamped directions keep theirs.
    assert np.linalg.norm(found.x) <= np.linalg.norm(wanted) / 0.01
    derivative = jax.jvp(
        lambda A: damped_least_squares(A, wanted, 0.01).x, (J,), (jnp.asarray(rng.normal(size=(6, 6))),)
    )[1]
    assert np.all(np.isfinite(derivative))


def test_null_basis_is_orthonormal_and_annihilated(rng: np.random.Generator) -> None:
    H = rng.normal(size=(3, 6))
    N = np.asarray(null_basis(H))
    np.testing.assert_allclose(N.T @ N, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(H @ N, 0.0, atol=1e-14)
    projector = np.eye(6) - np.linalg.pinv(H) @ H
    np.testing.assert_allclose(N @ N.T, projector, atol=1e-13)


def test_null_basis_of_a_matrix_with_zeros_is_finite() -> None:
    N = np.asarray(null_basis(np.zeros((3, 6))))
    assert np.all(np.isfinite(N))
