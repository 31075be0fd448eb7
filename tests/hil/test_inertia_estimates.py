"""Which mass and inertia explain a motion: exact on made-up motions, honest about what a motion cannot tell."""

import dataclasses

import numpy as np
import pytest

from freefloat.hil.judging import BodyMotion, estimate_inertia
from freefloat.hil.judging.tracks import rotate_vectors, rotation_matrices, rotation_vectors
from freefloat.spatial import SpatialInertia

SEED = 17
TIMES = np.linspace(0.0, 4.0, 400)  # [s]


def body(factors=(1.0, 1.0, 1.0), mass=1.0):
    """A body off its origin; moments about its centre of mass, and mass, times factors."""
    moments = np.array([[30.0, 2.0, -1.0], [2.0, 40.0, 3.0], [-1.0, 3.0, 50.0]])  # [kg m2]
    scale = np.sqrt(np.asarray(factors))
    made = SpatialInertia.from_com(mass * 80.0, np.array([0.1, -0.2, 0.05]), moments * scale[:, None] * scale)
    return SpatialInertia(float(made.mass), np.asarray(made.moment), np.asarray(made.inertia))


def motion(rng, flown, *, pushed=True, noise=0.0):
    """Any smooth motion, and the momentum that it takes: of one that nobody pushes, what a factor would not change.

    No dynamics are solved: momentum of a given motion is what its impulse must have been.
    """
    quat = np.stack([np.cos(0.3 * TIMES), 0.5 * np.sin(TIMES), 0.4 * np.sin(0.7 * TIMES), 0.3 * np.cos(1.3 * TIMES)], 1)
    R, p = rotation_matrices(quat), np.stack([np.sin(TIMES), 0.5 * TIMES, np.cos(TIMES) - 1.0], 1)
    v, w = (rng.normal(size=(3, 3)) @ np.stack([np.sin(TIMES), np.cos(2.0 * TIMES), 0.2 * TIMES]) for _ in range(2))
    h = np.asarray(flown @ np.concatenate([v, w])).T
    P = rotate_vectors(R, h[:, :3])
    L = rotate_vectors(R, h[:, 3:]) + np.cross(p, P)
    noisy = [x - x[0] + noise * rng.normal(size=x.shape) for x in (P, L)]
    return BodyMotion(R, p, v.T, w.T, *(noisy if pushed else (0.0 * P, 0.0 * L)))


def test_the_flown_body_is_found_whatever_was_declared() -> None:
    flown = body(factors=(1.2, 0.9, 1.1), mass=1.3)
    found = estimate_inertia(body(), motion(np.random.default_rng(SEED), flown))
    assert found.mass == pytest.approx(1.3, abs=1e-9)
    np.testing.assert_allclose(found.moments, np.diag(flown.inertia) / np.diag(body().inertia), atol=1e-8)
    ratio, deviation = found.ratio(0, 1)
    assert ratio == pytest.approx(found.moments[0] / found.moments[1])
    assert deviation < 1e-6


def test_deviations_are_those_of_the_noise() -> None:
    """White noise of 0.05 N s and N m s: over 20 draws the errors are as large as they are said to be, to a third."""
    rng, declared, flown, off = np.random.default_rng(SEED), body(), body(factors=(1.1, 1.1, 1.1)), []
    true = np.diag(flown.inertia) / np.diag(declared.inertia)
    for _ in range(20):
        found = estimate_inertia(declared, motion(rng, flown, noise=0.05))
        off += [(found.moments[k] - true[k]) / found.moment_deviation(k) for k in range(3)]
        off.append((found.mass - 1.0) / found.mass_deviation)
    assert np.sqrt(np.mean(np.square(off))) == pytest.approx(1.0, abs=0.33)


def test_smooth_errors_are_not_taken_for_knowledge() -> None:
    """An error that turns slowly is alike from one instant to the next: it counts as few, and the deviations grow."""
    rng, declared, off = np.random.default_rng(SEED), body(), []
    for _ in range(10):
        made = motion(rng, declared)
        slow = 0.5 * np.stack([np.sin(w * TIMES + rng.uniform(0.0, 6.0)) for w in rng.uniform(0.5, 3.0, 6)], 1)
        found = estimate_inertia(
            declared, dataclasses.replace(made, linear=made.linear + slow[:, :3], angular=made.angular + slow[:, 3:])
        )
        off += [(found.moments[k] - 1.0) / found.moment_deviation(k) for k in range(3)]
    assert np.sqrt(np.mean(np.square(off))) < 3.0


def free_tumble(moments):
    """A body that nobody pushes, about its centre of mass: steps of the exact change of frame at constant momentum."""
    inertia, L = np.diag(moments), np.array([1.0, 8.0, 2.0])  # [kg m2], [N m s]
    R, Rs, ws, dt = np.eye(3), [], [], 4e-3  # [s]
    for _ in range(1000):
        w = np.linalg.solve(inertia, R.T @ L)
        Rs.append(R)
        ws.append(w)
        middle = np.linalg.solve(inertia, (R @ _turn(0.5 * dt * w)).T @ L)
        R = R @ _turn(dt * middle)
    n = np.zeros((len(ws), 3))
    return BodyMotion(np.array(Rs), n, n, np.array(ws), n, n)


def _turn(x):
    angle = np.linalg.norm(x)
    a, b, c = x / angle
    K = np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def test_a_free_tumble_tells_ratios_and_no_more() -> None:
    declared = SpatialInertia(80.0, np.zeros(3), np.diag([30.0, 40.0, 50.0]))
    found = estimate_inertia(declared, free_tumble((36.0, 40.0, 50.0)), noise=(1e-6, 1e-6))
    for pair, true in (((0, 1), 1.2), ((0, 2), 1.2), ((1, 2), 1.0)):
        ratio, deviation = found.ratio(*pair)
        assert ratio == pytest.approx(true, abs=1e-4)
        assert deviation < 1e-3
    assert min(found.moment_deviation(k) for k in range(3)) > 0.3  # a common factor is open: nothing was pushed
    assert found.mass_deviation > 0.9


def test_a_spin_about_one_axis_does_not_tell_ratios() -> None:
    still = free_tumble((30.0, 40.0, 50.0))
    n = np.zeros_like(still.rate)
    angle = 0.2 * 1e-3 * np.arange(len(n))
    R = np.array([_turn(np.array([0.0, a + 1e-12, 0.0])) for a in angle])
    spin = BodyMotion(R, n, n, n + np.array([0.0, 0.2, 0.0]), n, n)
    found = estimate_inertia(SpatialInertia(80.0, np.zeros(3), np.diag([30.0, 40.0, 50.0])), spin)
    assert found.ratio(0, 1)[1] > 0.3


def test_rotation_vectors_near_nothing_and_far() -> None:
    rng = np.random.default_rng(SEED)
    for size in (0.0, 1e-9, 1e-3, 1.0, 3.0):
        x = rng.normal(size=3)
        x *= size / np.linalg.norm(x)
        R = _turn(x) if size else np.eye(3)
        np.testing.assert_allclose(rotation_vectors(R[None])[0], x, atol=1e-9)
