"""Elliptic orbits: Kepler's equation, the turning of the orbital frame, forced pitch, and the drift of an oblate Earth
against an orbit that is integrated with the oblate Earth's gravity.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import freefloat as ff
from freefloat.control import AttitudeHold
from freefloat.effects import (
    EARTH_GRAVITY,
    EARTH_J2,
    EARTH_RADIUS,
    CircularOrbit,
    EllipticOrbit,
    GravityGradient,
    co_rotating_state,
    eccentric_anomaly,
)
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply

INERTIA = (7000.0, 7500.0, 2000.0)  # [kg m2]
STRETCHED = EllipticOrbit(
    semi_major_axis=8.5e6, eccentricity=0.15, inclination=0.9, perigee=0.4, mean_anomaly=-0.7
)  # [m], [rad]


@pytest.mark.parametrize("e", [0.0, 1e-8, 0.2, 0.7, 0.95])
def test_keplers_equation(e):
    M = np.concatenate([np.linspace(-7.0, 7.0, 2001), 1e-7 * np.linspace(-1.0, 1.0, 21)])
    E = np.asarray(eccentric_anomaly(M, e))
    residual = E - e * np.sin(E) - M
    assert np.max(np.abs(residual - 2 * np.pi * np.round(residual / (2 * np.pi)))) < 5e-15


def test_a_circle_is_the_circular_orbit():
    circle, ellipse = CircularOrbit(altitude=550e3), EllipticOrbit(semi_major_axis=EARTH_RADIUS + 550e3)
    for t in (1234.5, 9000.0):
        np.testing.assert_allclose(ellipse.R_NO(t), circle.R_NO(t), atol=1e-14)
        np.testing.assert_allclose(ellipse.angular_velocity(t), circle.angular_velocity(t), atol=1e-17)
        assert float(ellipse.tidal_rate(t)) == pytest.approx(float(circle.tidal_rate(t)), rel=1e-15)
    assert float(ellipse.period) == pytest.approx(float(circle.period), rel=1e-15)


def test_the_position_obeys_newton():
    """Central acceleration -mu r / |r|^3, from the second derivative of the position."""
    place = lambda t: STRETCHED.X_CO(t).p  # noqa: E731
    times, one = jnp.array([0.0, 700.0, 5000.0]), jnp.ones(())
    velocity = lambda t: jax.jvp(place, (t,), (one,))[1]  # noqa: E731
    both = jax.jit(jax.vmap(lambda t: (place(t), jax.jvp(velocity, (t,), (one,))[1])))
    for r, acceleration in zip(*both(times), strict=True):
        np.testing.assert_allclose(acceleration, -EARTH_GRAVITY * r / np.linalg.norm(r) ** 3, rtol=1e-10, atol=1e-11)


def test_the_frame_turns_by_the_angular_momentum():
    h = np.sqrt(EARTH_GRAVITY * 8.5e6 * (1.0 - 0.15**2))
    for t in (0.0, 300.0, 4000.0):
        r = float(STRETCHED.distance(t))
        np.testing.assert_allclose(STRETCHED.angular_velocity(t), [0.0, -h / r**2, 0.0], atol=1e-16)
        nu = float(STRETCHED.true_anomaly(t))
        acceleration = -2.0 * EARTH_GRAVITY * 0.15 * np.sin(nu) / r**3
        np.testing.assert_allclose(STRETCHED.angular_acceleration(t), [0.0, -acceleration, 0.0], atol=1e-19)


def test_drift_of_node_and_perigee_is_that_of_an_oblate_earth():
    """An orbit integrated with the gravity of J2 over eight revolutions; means of its osculating elements drift."""
    orbit = EllipticOrbit(semi_major_axis=8e6, eccentricity=0.1, inclination=np.deg2rad(50.0), j2=EARTH_J2)
    T = float(orbit.period)

    def gravity(t, y):
        r = np.linalg.norm(y[:3])
        flat = 1.5 * EARTH_J2 * EARTH_GRAVITY * EARTH_RADIUS**2 / r**5
        side, up = 5.0 * y[2] ** 2 / r**2 - 1.0, 5.0 * y[2] ** 2 / r**2 - 3.0
        pull = -EARTH_GRAVITY * y[:3] / r**3 + flat * y[:3] * np.array([side, side, up])
        return np.concatenate([y[3:], pull])

    h = np.sqrt(EARTH_GRAVITY * 8e6 * 0.99)
    R = np.array([[1.0, 0, 0], [0, np.cos(0.8726646), -np.sin(0.8726646)], [0, np.sin(0.8726646), np.cos(0.8726646)]])
    start = np.concatenate([R @ [7.2e6, 0, 0], R @ [0, h / 7.2e6, 0]])
    count, revolutions = 200, 8
    t = np.arange(count * revolutions) * T / count
    y = solve_ivp(gravity, (0.0, t[-1]), start, t_eval=t, rtol=1e-10, atol=1e-6, method="DOP853").y.T
    normal = np.cross(y[:, :3], y[:, 3:])
    node = np.unwrap(np.arctan2(normal[:, 0], -normal[:, 1]))
    ecc = np.cross(y[:, 3:], normal) / EARTH_GRAVITY - y[:, :3] / np.linalg.norm(y[:, :3], axis=1)[:, None]
    along = np.column_stack([np.cos(node), np.sin(node), np.zeros_like(node)])
    across = np.cross(normal / np.linalg.norm(normal, axis=1)[:, None], along)
    perigee = np.unwrap(np.arctan2(np.sum(ecc * across, axis=1), np.sum(ecc * along, axis=1)))
    means = [x.reshape(revolutions, count).mean(axis=1) for x in (node, perigee)]
    drifts = [np.polyfit(np.arange(revolutions) * T, mean, 1)[0] for mean in means]
    # First order in J2: what is left is of second order and of the mean elements, parts in a thousand.
    assert drifts[0] == pytest.approx(float(orbit.node_drift), rel=6e-3)
    assert drifts[1] == pytest.approx(float(orbit.perigee_drift), rel=2e-2)


def test_printed_drifts():
    """The closed form: a sun-synchronous orbit drifts with the Sun; at 63.43 deg the perigee stands still."""
    sun = EllipticOrbit(semi_major_axis=7.17814e6, inclination=np.deg2rad(98.6), j2=EARTH_J2)
    assert np.rad2deg(float(sun.node_drift)) * 86400 == pytest.approx(0.9856, rel=5e-3)  # [deg/day]
    still = EllipticOrbit(semi_major_axis=26.6e6, eccentricity=0.7, inclination=np.arcsin(np.sqrt(0.8)), j2=EARTH_J2)
    assert abs(float(still.perigee_drift)) < 1e-22


def test_with_drift_the_frame_turns_with_the_node():
    orbit = dataclasses.replace(STRETCHED, j2=EARTH_J2)
    spin = np.asarray(orbit.angular_velocity(500.0))
    assert np.linalg.norm(spin[[0, 2]]) == pytest.approx(abs(float(orbit.node_drift)) * np.sin(0.9), rel=1e-9)


# ---- attitude in an eccentric orbit


def pitch_of(run) -> np.ndarray:
    return run["orbit.roll_pitch_yaw"].values[:, 1]


def forced_pitch_error(e: float) -> float:
    """Largest deviation of pitch from the linear forced libration, by its amplitude."""
    craft = ff.Spacecraft.from_base("satellite", mass=1000.0, inertia=INERTIA)
    k, orbit = (INERTIA[0] - INERTIA[2]) / INERTIA[1], EllipticOrbit(semi_major_axis=6.93e6, eccentricity=e)
    n = float(orbit.mean_motion)
    amplitude = 2.0 * e / (3.0 * k - 1.0)  # theta'' + 3 k n^2 theta = 2 e n^2 sin M
    start = co_rotating_state(craft, orbit, np.zeros(0))
    v = np.array(start.v)
    v[4] -= amplitude * n  # O pitches with -n about y
    start = dataclasses.replace(start, v=v)
    run = ff.simulate(craft, GravityGradient(orbit=orbit), state=start, duration=8000.0, dt=4.0, record_dt=20.0)
    linear = -amplitude * np.sin(n * run["time"].values)
    return float(np.max(np.abs(pitch_of(run) - linear)) / amplitude)


def test_an_eccentric_orbit_forces_pitch():
    assert forced_pitch_error(1e-3) < 5e-3


@pytest.mark.slow
def test_what_is_left_of_forced_pitch_is_of_second_order():
    assert forced_pitch_error(2e-3) / forced_pitch_error(1e-3) == pytest.approx(2.0, rel=0.1)


def test_a_hold_that_turns_with_the_orbit_points_to_the_nadir():
    orbit = EllipticOrbit(semi_major_axis=7.5e6, eccentricity=0.05)
    craft = ff.Spacecraft.from_base("satellite", mass=1000.0, inertia=INERTIA)
    for axis, direction in zip("xyz", np.eye(3), strict=True):
        craft = craft.with_wheel(f"wheel.{axis}", axis=direction, inertia=0.5)
    start = co_rotating_state(craft, orbit, np.zeros(0))
    tilt = quaternion_multiply(jnp.asarray(start.quat_NB), quaternion_exp(jnp.array([0.05, -0.03, 0.02])))
    start = dataclasses.replace(start, quat_NB=np.asarray(tilt))
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    software = AttitudeHold(craft=craft, stiffness=20.0, damping=600.0, reference=upright, orbit=orbit, period=1.0)
    run = ff.simulate(
        craft, GravityGradient(orbit=orbit), software, state=start, duration=1200.0, dt=0.5, record_dt=10.0
    )
    late = run["orbit.roll_pitch_yaw"].values[-20:]
    # Kepler's angular acceleration and gyroscopic torque leave an offset: torque over stiffness, below 1e-3 rad.
    assert np.max(np.abs(late)) < 1e-3


def test_a_hold_may_push_the_base_itself():
    orbit = CircularOrbit(altitude=550e3)
    craft = ff.Spacecraft.from_base("satellite", mass=1000.0, inertia=INERTIA)
    start = co_rotating_state(craft, orbit, np.zeros(0))
    software = AttitudeHold(craft=craft, stiffness=20.0, damping=600.0, orbit=orbit, actuator="base torque")
    run = ff.simulate(
        craft, GravityGradient(orbit=orbit), software, state=start, duration=300.0, dt=0.5, record_dt=10.0
    )
    assert np.max(np.abs(run["orbit.roll_pitch_yaw"].values)) < 1e-6
    # Negative control: held among the stars, the Earth turns away below, by n t.
    still = dataclasses.replace(software, orbit=None)
    run = ff.simulate(craft, GravityGradient(orbit=orbit), still, state=start, duration=300.0, dt=0.5, record_dt=10.0)
    assert abs(pitch_of(run)[-1]) > 0.25
    with pytest.raises(ff.ModelError, match=r"no actuator 'thrust'. Choose wheels or base torque"):
        AttitudeHold(craft=craft, actuator="thrust")


def test_bad_orbits_are_refused():
    with pytest.raises(ff.ModelError, match=r"perigee is .* below the surface"):
        EllipticOrbit(semi_major_axis=7e6, eccentricity=0.5)
    with pytest.raises(ff.ModelError, match=r"eccentricity must be at most 0.95"):
        EllipticOrbit(semi_major_axis=7e6, eccentricity=1.2)
