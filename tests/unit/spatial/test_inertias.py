"""Spatial inertias against clouds of particles and against the 6x6 congruence."""

import jax
import numpy as np
import pytest

from freefloat.spatial import Pose, SpatialInertia

# Masses are O(1) kg, arms O(1) m, sums of some twenty terms.
ROUNDING = 2e-13

exp = jax.jit(Pose.exp)


def cloud(rng, count=12):
    return rng.uniform(0.1, 1.0, count), rng.normal(size=(count, 3))


def of_cloud(masses, points) -> SpatialInertia:
    """Straight from the definition: sums over particles, about the origin."""
    inertia = sum(m * ((p @ p) * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    return SpatialInertia(mass=np.sum(masses), moment=masses @ points, inertia=np.asarray(inertia))


def same(a: SpatialInertia, b: SpatialInertia):
    for field in ("mass", "moment", "inertia"):
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=0.0, atol=ROUNDING)


def test_from_com_is_the_parallel_axis_theorem(rng):
    masses, points = cloud(rng)
    whole = of_cloud(masses, points)
    com = masses @ points / np.sum(masses)
    central = of_cloud(masses, points - com)
    same(SpatialInertia.from_com(central.mass, com, central.inertia), whole)
    np.testing.assert_allclose(whole.com, com, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(whole.about_com(), central.inertia, rtol=0.0, atol=ROUNDING)


def test_inertias_add_as_clouds_join(rng):
    (m, p), (n, q) = cloud(rng), cloud(rng)
    same(of_cloud(m, p) + of_cloud(n, q), of_cloud(np.append(m, n), np.vstack([p, q])))


def test_transport_moves_the_cloud(rng):
    masses, points = cloud(rng)
    X = exp(rng.normal(size=6))
    moved = points @ np.asarray(X.R).T + np.asarray(X.p)
    same(of_cloud(masses, points).to_A(X), of_cloud(masses, moved))


def test_transport_is_the_congruence_by_the_adjoint(rng):
    inertia, X = of_cloud(*cloud(rng)), exp(rng.normal(size=6))
    Ad = np.asarray(X.inverse().adjoint())
    expected = Ad.T @ np.asarray(inertia.matrix()) @ Ad
    np.testing.assert_allclose(inertia.to_A(X).matrix(), expected, rtol=0.0, atol=10 * ROUNDING)
    same(inertia.to_A(X).to_A(X.inverse()), inertia)


def test_momentum_is_the_sum_over_particles(rng):
    masses, points = cloud(rng)
    V = rng.normal(size=6)
    speeds = V[:3] + np.cross(V[3:], points)
    p, h = masses @ speeds, np.sum(masses[:, None] * np.cross(points, speeds), axis=0)
    inertia = of_cloud(masses, points)
    np.testing.assert_allclose(inertia @ V, [*p, *h], rtol=0.0, atol=10 * ROUNDING)
    np.testing.assert_allclose(inertia.matrix() @ V, [*p, *h], rtol=0.0, atol=10 * ROUNDING)


def test_kinetic_energy_is_the_same_in_every_frame(rng):
    inertia, X, V = of_cloud(*cloud(rng)), exp(rng.normal(size=6)), rng.normal(size=6)
    there = X.twist_to_A(V)
    assert float(there @ (inertia.to_A(X) @ there)) == pytest.approx(float(V @ (inertia @ V)), abs=1e-11)


def test_matrix_is_symmetric_positive_definite(rng):
    M = np.asarray(of_cloud(*cloud(rng)).matrix())
    np.testing.assert_allclose(M, M.T, rtol=0.0, atol=ROUNDING)
    assert np.linalg.eigvalsh(M)[0] > 0.0
