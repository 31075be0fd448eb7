"""Circular orbit, relative motion and the gravity gradient against independent derivations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from freefloat.dynamics import body_poses, composite_inertia
from freefloat.effects import CircularOrbit, GravityGradient, RelativeState, co_rotating_state, relative_drift
from freefloat.library import ets7
from freefloat.spatial.rotations import rotation_exp
from support.ports import clock_at

ORBIT = CircularOrbit(altitude=550e3)


def test_rate_and_frame_of_the_spec() -> None:
    np.testing.assert_allclose(ORBIT.rate, 1.094824e-3, rtol=5e-7)  # the printed digits
    t = np.asarray(100.0)
    R_NO = np.asarray(ORBIT.R_NO(t))
    X = ORBIT.X_CO(t)
    h = 1e-3
    velocity = (ORBIT.X_CO(t + h).p - ORBIT.X_CO(t - h).p) / (2 * h)
    speed = float(np.linalg.norm(velocity))
    np.testing.assert_allclose(R_NO[:, 0], velocity / speed, atol=1e-9)  # x: flight direction
    np.testing.assert_allclose(R_NO[:, 2], -X.p / np.linalg.norm(X.p), atol=1e-15)  # z: nadir
    np.testing.assert_allclose(R_NO[:, 1], -np.cross(X.p, velocity) / (speed * ORBIT.radius), atol=1e-9)  # y: -normal


def test_an_orbit_inside_the_earth_is_refused() -> None:
    with pytest.raises(ValueError, match="altitude must be at least 0"):
        CircularOrbit(altitude=-7000e3)


def test_relative_drift_is_the_difference_of_two_kepler_orbits(rng: np.random.Generator) -> None:
    n, t_end = float(ORBIT.rate), 600.0
    start = RelativeState(position=rng.uniform(-10, 10, 3), velocity=rng.uniform(-0.01, 0.01, 3))
    X, spin = ORBIT.X_CO(np.zeros(())), np.array([0.0, -n, 0.0])

    def kepler(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[3:], -float(ORBIT.gravity) * y[:3] / np.linalg.norm(y[:3]) ** 3])

    chaser = np.asarray(X.p)
    position = chaser + start.position
    velocity = np.cross(spin, chaser) + start.velocity + np.cross(spin, start.position)
    end = solve_ivp(kepler, (0, t_end), np.concatenate([position, velocity]), rtol=1e-12, atol=1e-9).y[:, -1]
    there = ORBIT.X_CO(np.asarray(t_end))
    expected = np.asarray(there.R).T @ (end[:3] - np.asarray(there.p))
    # Second-order terms are (distance / radius) of the distance: 30^2 / 7e6 = 1e-4 m.
    np.testing.assert_allclose(relative_drift(start, n, t_end).position, expected, atol=3e-4)


def test_torque_and_joint_torques_are_the_sum_of_gravity_on_every_body(rng: np.random.Generator) -> None:
    craft = ets7()
    q = rng.uniform(-1, 1, 6)
    c = np.asarray(rotation_exp(jnp.asarray(rng.normal(size=3))))[:, 2]  # nadir in base axes
    n = float(ORBIT.rate)
    com = np.asarray(composite_inertia(craft, q).com)

    def tide(joints):
        """Potential of point-like and spinning bodies, summed one by one; a second way to the same energy."""
        total = 0.0
        centre = composite_inertia(craft, joints).com
        for body, X in zip(craft.bodies, body_poses(craft, joints), strict=True):
            r = X.apply(body.com) - centre
            inertia = X.R @ body.inertia @ X.R.T
            points = 0.5 * jnp.trace(inertia) * jnp.eye(3) - inertia  # second moments
            total = total - 0.5 * n**2 * (
                body.mass * (3.0 * (c @ r) ** 2 - r @ r) + 3.0 * c @ points @ c - jnp.trace(points)
            )
        return total

    torque = np.zeros(3)
    for body, X in zip(craft.bodies, body_poses(craft, q), strict=True):
        r = np.asarray(X.apply(body.com)) - com
        force = n**2 * body.mass * (3.0 * c * (c @ r) - r)
        inertia = np.asarray(X.R @ body.inertia @ X.R.T)
        torque += np.cross(r, force) + 3.0 * n**2 * np.cross(c, inertia @ c)
    # At t = 0 the nadir is z of N: turn the base so that it is c in base axes; the centre of mass is on the orbit.
    state = co_rotating_state(craft, ORBIT, q, np.stack(_frame_with_third_row(c)))
    force = np.asarray(GravityGradient(orbit=ORBIT).force(craft, state, clock_at(0.0)))
    np.testing.assert_allclose(force[:3], 0.0, atol=1e-17)  # 3000 kg, n^2 = 1e-6 / s2, and 1e-16 m of rounding
    np.testing.assert_allclose(force[3:6], torque, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(force[6:], -np.asarray(jax.grad(tide)(jnp.asarray(q))), rtol=1e-9, atol=1e-14)


def _frame_with_third_row(c: np.ndarray) -> list[np.ndarray]:
    """A rotation whose third row is c: it turns c into z."""
    x = np.cross(c, [0.3, 0.5, 0.8])
    x /= np.linalg.norm(x)
    return [x, np.cross(c, x), c]


def test_free_drift_starts_on_the_orbit_without_linear_momentum() -> None:
    from freefloat.dynamics import momentum_about_base

    craft = ets7()
    state = co_rotating_state(craft, ORBIT, np.deg2rad([0, 0, 10, -32.8, 0, 0]))
    momentum = np.asarray(momentum_about_base(craft, state.q, state.v))
    np.testing.assert_allclose(momentum[:3], 0.0, atol=1e-12)
    assert momentum[4] < 0.0
    centre = state.X_NB.apply(composite_inertia(craft, state.q).com)
    np.testing.assert_allclose(centre, 0.0, atol=1e-15)  # it was 0.10 m off
