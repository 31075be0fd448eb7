"""Starts in orbit: at rest in the frame that turns, by centre of mass or by any frame; clear errors."""

import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import inertial_frame_pose, inertial_frame_twist, momentum_about_origin
from freefloat.effects import CircularOrbit, EllipticOrbit, PlaceInOrbit, co_rotating_state, co_rotating_states
from freefloat.spatial import angular, linear
from support.trees import draw_rotation

ORBITS = CircularOrbit(altitude=550e3), EllipticOrbit(semi_major_axis=8e6, eccentricity=0.1, mean_anomaly=0.6)
CHASER = ff.library.ets7()
WORLD = ff.World(chaser=CHASER, client=ff.library.envisat())
Q = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])


@pytest.mark.parametrize("orbit", ORBITS)
def test_what_rests_in_the_orbital_frame_turns_with_it(orbit, rng) -> None:
    R_OB, place = draw_rotation(rng), rng.uniform(-50.0, 50.0, 3)
    places = {"chaser": PlaceInOrbit(place, attitude=R_OB, q=Q), "client": PlaceInOrbit(-place)}
    states = co_rotating_states(WORLD, orbit, places)
    turning = np.asarray(orbit.angular_velocity(0.0))
    for name, sign in (("chaser", 1.0), ("client", -1.0)):
        craft, state = WORLD.craft(name), states[name]
        momentum = np.asarray(momentum_about_origin(craft, state))
        np.testing.assert_allclose(momentum[:3] / float(craft.mass), sign * np.cross(turning, place), atol=1e-14)
        rate = np.asarray(angular(inertial_frame_twist(craft, state, "base")))
        np.testing.assert_allclose(rate, turning, atol=1e-17)
    np.testing.assert_allclose(states["chaser"].X_NB.R, R_OB, atol=1e-14)


def test_a_place_can_be_that_of_a_frame_and_have_a_velocity(rng) -> None:
    orbit, place, velocity = ORBITS[0], rng.normal(size=3), rng.normal(size=3)
    hand = PlaceInOrbit(place, attitude=draw_rotation(rng), velocity=velocity, rate=rng.normal(size=3), q=Q, of="hand")
    state = co_rotating_states(WORLD, orbit, {"chaser": hand, "client": PlaceInOrbit()})["chaser"]
    np.testing.assert_allclose(inertial_frame_pose(CHASER, state, "hand").p, place, atol=1e-14)
    expected = velocity + np.cross(np.asarray(orbit.angular_velocity(0.0)), place)
    np.testing.assert_allclose(linear(inertial_frame_twist(CHASER, state, "hand")), expected, atol=1e-13)


def test_one_spacecraft_is_the_world_of_one() -> None:
    orbit = ORBITS[0]
    states = co_rotating_states(ff.World.of(CHASER), orbit, {CHASER.name: PlaceInOrbit(q=Q)})
    alone = co_rotating_state(CHASER, orbit, Q)
    for name in ("p_NB", "quat_NB", "q", "v"):
        np.testing.assert_array_equal(getattr(states[CHASER.name], name), getattr(alone, name))


def test_errors_name_the_thing_and_the_remedy() -> None:
    orbit, here = ORBITS[0], PlaceInOrbit()
    with pytest.raises(ff.ModelError, match=r"no spacecraft 'target'\. Spacecraft: chaser, client"):
        co_rotating_states(WORLD, orbit, {"target": here})
    with pytest.raises(ff.ModelError, match="Say where 'client' is in orbit"):
        co_rotating_states(WORLD, orbit, {"chaser": here})
    with pytest.raises(ff.ModelError, match="must be a rotation matrix R_OB"):
        PlaceInOrbit(attitude=2.0 * np.eye(3))
    with pytest.raises(ff.ModelError, match="has no frame 'hnd'"):
        co_rotating_states(WORLD, orbit, {"chaser": PlaceInOrbit(of="hnd"), "client": here})
    with pytest.raises(ValueError, match=r"PlaceInOrbit\.position"):
        PlaceInOrbit(position=(1.0, 2.0))
