"""Case 34: two spacecraft in orbit, latched and free, against closed forms and codes of their own.

Two balls of 1000 kg, 4 m apart and latched, librate as one body: 16.9367 deg after 3000 s from 30 deg where they are
point-like, 12.7682 deg with 250 kg m2 each. Free pairs follow Clohessy and Wiltshire with the linear field, and two
Kepler orbits with the full one.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import freefloat as ff
from freefloat.effects import (
    CircularOrbit,
    EllipticOrbit,
    GravityGradient,
    PlaceInOrbit,
    co_rotating_state,
    co_rotating_states,
    transition_matrix,
)
from freefloat.effects.neglected_gravity import neglected_drift
from freefloat.model import Clock, Spacecraft, State
from support import kepler

LOW = CircularOrbit(altitude=550e3)
IN_PLANE, OUT_OF_PLANE = (np.sin(np.pi / 6), 0.0, np.cos(np.pi / 6)), (0.0, np.sin(np.pi / 6), np.cos(np.pi / 6))
POINT_LIKE, THICK = 1e-3, 250.0  # [kg m2]


def ball(inertia: float) -> Spacecraft:
    return Spacecraft.from_base("ball", mass=1000.0, inertia=(inertia, inertia, inertia))


def latched(inertia: float, line, field: GravityGradient) -> ff.Run:
    """4 m apart along a line in the orbital frame, both turning with it."""
    apart = 4.0 * np.array(line)
    world = ff.World(one=ball(inertia), two=ball(inertia))
    world = world.connection("latch", "one.base", "two.base", on=True, at=ff.Pose(position=-apart))
    places = {"one": PlaceInOrbit(position=0.5 * apart), "two": PlaceInOrbit(position=-0.5 * apart)}
    start = co_rotating_states(world, LOW, places)
    return ff.simulate(world, field, state=start, duration=3000.0, dt=1.0, record_dt=100.0)


def angle_deg(line: np.ndarray) -> float:
    """Between a line in the orbital frame and the vertical."""
    return float(np.rad2deg(np.arccos(line[2] / np.linalg.norm(line))))


def angle_of_pair(run: ff.Run) -> float:
    return angle_deg(run["one.orbit.position"].values[-1] - run["two.orbit.position"].values[-1])


@pytest.mark.parametrize(
    ("inertia", "line", "expected", "digit"),
    [
        (POINT_LIKE, IN_PLANE, 16.9367, 1e-4),
        (THICK, IN_PLANE, 12.7682, 1e-4),
        (POINT_LIKE, OUT_OF_PLANE, 30.01, 1e-2),
    ],
)
def test_a_latched_pair_librates_as_one_body(inertia, line, expected, digit) -> None:
    run = latched(inertia, line, GravityGradient(LOW))
    assert angle_of_pair(run) == pytest.approx(expected, abs=0.5 * digit)  # half of the last printed digit
    assert run.audit.holds
    # The same as one composed body: both are integrated by the same steps, rounding is left.
    apart = 4.0 * np.array(line)
    whole = ball(inertia).mount(ball(inertia), name="two", to="base", at=ff.Pose(position=-apart))
    start = co_rotating_state(whole, LOW)
    one = ff.simulate(whole, GravityGradient(LOW), state=start, duration=3000.0, dt=1.0, record_dt=100.0)
    for name in ("base.position", "base.attitude"):
        np.testing.assert_allclose(one[name].values, run[f"one.{name}"].values, rtol=0.0, atol=1e-8)


@ff.record
class WithoutForce(GravityGradient):
    """The couple about each centre of mass only."""

    def force(self, craft: Spacecraft, state: State, clock: Clock):
        return super().force(craft, state, clock).at[:3].set(0.0)


def test_controls_without_the_force_and_with_its_sign_turned() -> None:
    """Without the force on each centre the pair turns on as it was pushed, at 30 deg; turned round it goes away."""
    # The orbital frame turns evenly, and so does a free body with the same rate: nothing changes but by rounding.
    assert angle_of_pair(latched(POINT_LIKE, IN_PLANE, WithoutForce(LOW))) == pytest.approx(30.0, abs=1e-6)
    assert angle_of_pair(latched(POINT_LIKE, IN_PLANE, GravityGradient(LOW, factor=-1.0))) > 60.0


def free_pair(orbit, place: PlaceInOrbit, field: str, duration: float) -> ff.Run:
    world = ff.World(one=ball(THICK), two=ball(THICK))
    start = co_rotating_states(world, orbit, {"one": PlaceInOrbit(), "two": place})
    return ff.simulate(world, GravityGradient(orbit, field=field), state=start, duration=duration, dt=1.0)


def test_a_free_pair_drifts_by_clohessy_and_wiltshire() -> None:
    orbit, z = CircularOrbit(altitude=600e3), np.array([0.0, 0.0, 100.0])
    n = float(orbit.rate)
    at_rest_in_N = PlaceInOrbit(position=z, velocity=-np.cross([0.0, -n, 0.0], z))
    run = free_pair(orbit, at_rest_in_N, "linear", 1200.0)
    found = run["two.com.position"].values[-1]
    np.testing.assert_allclose(found, [-114.0814, 0.0, 236.3973], atol=5e-5)  # half of the last printed digit
    exact = np.asarray(transition_matrix(n, 1200.0)) @ np.concatenate([z, at_rest_in_N.velocity])
    # RK4 loses (n dt)^5 a step, 1e-15 of the motion.
    np.testing.assert_allclose(run["two.orbit.position"].values[-1], exact[:3], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run["one.com.position"].values, 0.0, atol=1e-15)  # on the orbit it stays


ELLIPSE = EllipticOrbit(semi_major_axis=9.0e6, eccentricity=0.2, inclination=0.7, perigee=0.4, mean_anomaly=0.5)
OFF_THE_ORBIT = PlaceInOrbit(position=(40.0, -70.0, 30.0), velocity=(0.03, 0.02, -0.05))


def ellipse_in_N(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity of N's origin from the centre of the Earth, N axes, from the code of this test."""
    mu, a, e, mean = (
        float(getattr(ELLIPSE, name)) for name in ("gravity", "semi_major_axis", "eccentricity", "mean_anomaly")
    )
    r0, v0 = kepler.place(mu, a, e, mean, 0.0)
    up, normal = r0 / np.linalg.norm(r0), np.cross(r0, v0) / np.linalg.norm(np.cross(r0, v0))
    R_NP = np.stack([np.cross(normal, up), -normal, -up])  # rows: axes of N in those of the plane of the orbit
    r, v = kepler.place(mu, a, e, mean, t)
    return R_NP @ r, R_NP @ v


def start_of_second(run: ff.Run) -> tuple[np.ndarray, np.ndarray]:
    return run["two.com.position"].values[0], run["two.base.velocity"].values[0]


def test_an_elliptic_pair_moves_as_an_independent_integration_of_the_linear_field() -> None:
    run = free_pair(ELLIPSE, OFF_THE_ORBIT, "linear", 1500.0)
    mu = float(ELLIPSE.gravity)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        R = ellipse_in_N(t)[0]
        up, distance = R / np.linalg.norm(R), np.linalg.norm(R)
        return np.concatenate([x[3:], mu / distance**3 * (3.0 * up * (up @ x[:3]) - x[:3])])

    begin = np.concatenate(start_of_second(run))
    end = solve_ivp(rate, (0.0, 1500.0), begin, method="DOP853", rtol=1e-12, atol=1e-12).y[:3, -1]
    np.testing.assert_allclose(run["two.com.position"].values[-1], end, atol=1e-8)  # rtol of the other code times 200 m


@pytest.mark.parametrize("orbit", [ELLIPSE, LOW])
def test_the_full_field_moves_a_pair_on_two_kepler_orbits(orbit) -> None:
    """Also 20 km off, where the linear field is off by tens of metres."""
    far = dataclasses.replace(OFF_THE_ORBIT, position=np.array([2.0e4, -5.0e3, 8.0e3]))
    run = free_pair(orbit, far, "full", 1500.0)
    mu, (r, v) = float(orbit.gravity), start_of_second(run)
    if orbit is ELLIPSE:
        (R, V), (R_end, _) = ellipse_in_N(0.0), ellipse_in_N(1500.0)
    else:
        speed = np.sqrt(mu / float(orbit.radius))
        R, V = np.array([0.0, 0.0, -float(orbit.radius)]), np.array([speed, 0.0, 0.0])
        R_end = kepler.propagate(mu, R, V, 1500.0)
    end = kepler.propagate(mu, R + r, V + v, 1500.0) - R_end
    # The reference is the difference of two distances of 1e7 m: 1e-9 m each, and as much for every rounding of them.
    np.testing.assert_allclose(run["two.com.position"].values[-1], end, atol=1e-7)
    linear = free_pair(orbit, far, "linear", 1500.0)
    missed = np.linalg.norm(linear["two.com.position"].values[-1] - end)
    assert missed > 10.0
    # What the linear run says of it: the first correction, so right to the distance over the radius, and the warning.
    t, left_out = linear["time"].values, linear["two.orbit.neglected"].values
    assert neglected_drift(orbit, t, left_out) == pytest.approx(missed, rel=0.02)
    (warning,) = linear.audit.warnings
    assert warning.startswith("two: ")
    assert "field='full'" in warning
    assert not run.audit.warnings
    assert "two.orbit.neglected" not in run.channels


def test_a_near_pair_is_not_warned_of() -> None:
    assert not free_pair(LOW, PlaceInOrbit(position=(10.0, 0.0, 5.0)), "linear", 600.0).audit.warnings


def jacobi_integral(run: ff.Run) -> np.ndarray:
    """T - omega . L + V of two balls: their energy in the orbital frame, without what is constant of balls."""
    n, places = float(LOW.rate), [run[f"{name}.orbit.position"].values for name in ("one", "two")]
    tide = sum(500.0 * n**2 * (np.sum(r * r, axis=-1) - 3.0 * r[:, 2] ** 2) for r in places)
    turning = -n * run["world.momentum.angular"].values[:, 1]  # omega = -n y, the same in N and O
    return run["world.energy.kinetic"].values - turning + tide


def test_the_jacobi_integral_of_a_latched_and_of_a_free_pair_stays() -> None:
    free = free_pair(LOW, PlaceInOrbit(position=(30.0, -20.0, 50.0), velocity=(0.02, 0.05, -0.01)), "linear", 3000.0)
    for run in (free, latched(THICK, IN_PLANE, GravityGradient(LOW))):
        jacobi, energy = jacobi_integral(run), run["world.energy.kinetic"].values
        assert np.ptp(energy) > 1e-2 * np.max(energy)  # the energy itself does not: gravity turns with the orbit
        # RK4 loses (n dt)^4 = 1e-12 of it over the run.
        np.testing.assert_allclose(jacobi, jacobi[0], rtol=0.0, atol=1e-10 * np.max(energy))


def test_the_full_field_is_the_linear_one_nearby() -> None:
    """At 1 m the two differ by 1 m over the radius, 1.4e-7 of the force: no digit is lost to the orbit's 7e6 m."""
    craft, clock = ball(THICK), Clock(t=jnp.zeros(()), tick=jnp.zeros((), jnp.int32), dt=1.0)
    state = dataclasses.replace(craft.at_rest(), p_NB=np.array([0.3, 0.2, -0.9]))
    linear, full = (np.asarray(GravityGradient(LOW, field=f).force(craft, state, clock)) for f in ("linear", "full"))
    np.testing.assert_allclose(full[:3], linear[:3], rtol=1e-6)
    assert np.max(np.abs(full[:3] - linear[:3])) > 1e-9 * np.max(np.abs(linear))
