"""Closest points against brute force, and distances that grow along their normals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from freefloat.dynamics import closest_points as near

RANDOM = np.random.default_rng(14)
POINTS = RANDOM.normal(size=(60, 3))
ENDS = RANDOM.normal(size=(16, 4, 3))
HALF = np.array([0.5, 0.8, 0.3])  # [m]
MOUTH, DEPTH, THROAT = 0.9, 0.7, 0.2  # [m]


def along(a, b, count=20001):
    return a + np.linspace(0.0, 1.0, count)[:, None] * (b - a)


def sampled_box(p):
    over = np.abs(p) - HALF
    return np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(np.max(over, axis=-1), 0.0)


def sampled_circle(p, radius):
    return np.hypot(np.hypot(p[..., 0], p[..., 1]) - radius, p[..., 2])


@pytest.mark.parametrize(
    "surface",
    [
        lambda p: near.point_to_ball(p, 0.4),
        lambda p: near.point_to_box(p, HALF),
        lambda p: near.point_to_funnel(p, MOUTH, DEPTH, THROAT).near,
        lambda p: near.point_to_funnel(p, MOUTH, DEPTH, THROAT).far,
        lambda p: near.point_to_funnel(p, MOUTH, DEPTH, THROAT).floor,
    ],
)
def test_distance_grows_along_its_normal_by_one_metre_a_metre(surface):
    slopes = jax.jit(jax.vmap(jax.grad(lambda p: surface(p).distance)))(POINTS)
    normals = jax.jit(jax.vmap(lambda p: surface(p).normal))(POINTS)
    np.testing.assert_allclose(slopes, normals, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)


def test_distance_from_a_box():
    found = jax.jit(jax.vmap(lambda p: near.point_to_box(p, HALF).distance))(0.6 * POINTS)
    np.testing.assert_allclose(found, sampled_box(0.6 * POINTS), atol=1e-14)
    assert np.sum(found < 0.0) > 5  # inside, too


def test_distance_from_a_funnel():
    wall = np.linspace([THROAT, 0.0], [MOUTH, DEPTH], 20001)
    for p in POINTS[:20]:
        rho, z = np.hypot(p[0], p[1]), p[2]
        found = near.point_to_funnel(p, MOUTH, DEPTH, THROAT)
        for one, x in ((found.near, rho), (found.far, -rho)):
            sampled = np.min(np.hypot(wall[:, 0] - x, wall[:, 1] - z))  # too far by up to half a sample along the wall
            assert -1e-14 <= sampled**2 - one.distance**2 <= 0.25 * np.sum((wall[1] - wall[0]) ** 2) + 1e-14
        assert found.floor.distance == pytest.approx(np.hypot(max(rho - THROAT, 0.0), z), abs=1e-14)


def test_closest_points_of_segments():
    found = jax.jit(jax.vmap(lambda e: jnp.stack(near.closest_of_segments(*e))))(ENDS)
    for ends, (p, q) in zip(ENDS[:20], found, strict=False):

        def to_other(s, e=ends):
            return float(
                np.linalg.norm(e[0] + s * (e[1] - e[0]) - near.closest_on_segment(e[0] + s * (e[1] - e[0]), e[2], e[3]))
            )

        best = minimize_scalar(to_other, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12})
        assert np.linalg.norm(p - q) <= min(best.fun, to_other(0.0), to_other(1.0)) + 1e-12


def test_parallel_segments_touch_in_the_middle_of_what_they_share():
    a, b = np.zeros(3), np.array([2.0, 0.0, 0.0])
    c, d = np.array([1.0, 0.5, 0.0]), np.array([4.0, 0.5, 0.0])
    p, q = near.closest_of_segments(a, b, c, d)
    np.testing.assert_allclose(p, [1.5, 0.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(q, [1.5, 0.5, 0.0], atol=1e-14)


def test_segment_and_circle():
    found = jax.jit(jax.vmap(lambda e: jnp.stack(near.closest_on_segment_to_circle(e[0], e[1], 0.7))))(ENDS)
    for ends, (p, c) in zip(ENDS, found, strict=True):
        sampled = np.min(sampled_circle(along(ends[0], ends[1]), 0.7))
        assert np.linalg.norm(p - c) == pytest.approx(sampled, abs=1e-3)
        assert np.linalg.norm(p - c) <= sampled + 1e-12
        assert np.hypot(c[0], c[1]) == pytest.approx(0.7, abs=1e-14)


def test_segment_and_box():
    points = jax.jit(jax.vmap(lambda e: near.closest_on_segment_to_box(e[0], e[1], HALF)))(ENDS)
    for ends, p in zip(ENDS, points, strict=True):
        sampled = np.min(sampled_box(along(ends[0], ends[1])))
        assert sampled_box(np.asarray(p)) <= sampled + 1e-12


def test_where_nothing_is_closest_something_is_taken():
    assert np.all(np.isfinite(near.point_to_ball(jnp.zeros(3), 0.1).normal))
    assert np.all(np.isfinite(near.closest_on_circle(jnp.zeros(3), 0.1)))
    found = near.point_to_funnel(jnp.array([0.0, 0.0, 0.3]), MOUTH, DEPTH, THROAT)
    np.testing.assert_allclose(found.near.distance, found.far.distance, rtol=1e-15)
    np.testing.assert_allclose(found.near.normal[:2], -found.far.normal[:2], atol=1e-15)  # their pushes cancel
