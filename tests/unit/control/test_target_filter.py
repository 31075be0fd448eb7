"""The target filter as software: what it tells, when it uses a picture, what it refuses to be built with."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.control import PictureNoise, TargetGuess
from freefloat.control.picture_update import Picture, TargetView, expected_view
from freefloat.control.target_errors import true_target_state
from freefloat.control.target_motion import POSE_ERRORS, apply_error, error_between
from freefloat.library import ets7
from freefloat.model import State, Truth, World
from freefloat.sensors.ideal import IdealMeasurements
from freefloat.spatial.rotations import quaternion_exp
from freefloat.values import ModelError, SoftwareError
from support.compiling import compiled
from support.ports import clock_at
from support.tumbling_client import BUS, CLIENT, GUESS, target_filter

WORLD = World(servicer=BUS, client=CLIENT)
MOVING = State(
    p_NB=jnp.array([4.0, 0.5, -1.0]),
    quat_NB=quaternion_exp(jnp.array([0.3, -0.7, 0.2])),
    q=jnp.zeros(0),
    v=jnp.array([0.02, -0.01, 0.03, 0.05, 0.08, -0.03]),
)
TRUTH = Truth(WORLD, (BUS.in_motion(), MOVING))


class Seen:
    """A camera that sees the client at a place in N, from a bus at rest in the origin."""

    def __init__(self, view: TargetView, taken: Any, valid: Any) -> None:
        eye = np.array([1.0, 0.0, 0.3])
        self._values = {"camera.position": view.position - eye, "camera.attitude": view.quaternion}
        self._taken, self._valid, self._own = taken, valid, IdealMeasurements(TRUTH)

    def __getitem__(self, name: str) -> Any:
        return self._values[name] if name in self._values else self._own[name]

    def valid(self, name: str) -> Any:
        return jnp.asarray(self._valid)

    def taken(self, name: str) -> Any:
        return jnp.asarray(self._taken)


def test_what_is_told_is_what_an_ideal_sensor_would_measure() -> None:
    software, ideal = target_filter(), IdealMeasurements(TRUTH)
    memory = software.begin(ideal)
    belief = dataclasses.replace(
        memory.belief, state=true_target_state(software.body, TRUTH, software.target), time=jnp.asarray(2.0)
    )
    memory = dataclasses.replace(memory, belief=belief, used=jnp.asarray(2.0))
    told = software.tell(memory, ideal, clock_at(2.0))
    for owner in ("client.base", "client.ring"):
        for kind in ("position", "velocity", "rate"):
            np.testing.assert_allclose(told[f"{owner}.{kind}"], ideal[f"{owner}.{kind}"], atol=1e-14)
        attitude = told[f"{owner}.attitude"]
        np.testing.assert_allclose(abs(attitude @ ideal[f"{owner}.attitude"]), 1.0, atol=1e-14)
        assert bool(told[f"{owner}.valid"])
    np.testing.assert_allclose(told["target.inertia_ratios"], [0.2, 0.44, 0.36, 0, 0, 0], atol=1e-15)
    assert not bool(software.tell(memory, ideal, clock_at(2.0 + 5.1))["client.ring.valid"])  # after its patience


SOFTWARE = target_filter(guess=TargetGuess(), noise=PictureNoise(position=0.01, angle=0.02))
TRUE = true_target_state(SOFTWARE.body, TRUTH, SOFTWARE.target)


@compiled
def look(memory: Any, view: TargetView, taken: Any, valid: Any, t: Any) -> Any:
    """The filter's memory after a tick at which it is shown a view."""
    return SOFTWARE.remember(memory, Seen(view, taken, valid), clock_at(t, dt=0.1))


def view_with(noises: Any, shift: float = 0.0) -> TargetView:
    """What the camera sees of the client, or of one that is shifted along x [m]."""
    place = Picture(TargetView(TRUE.quaternion, TRUE.position), jnp.array([1.0, 0.0, 0.3]))
    return expected_view(SOFTWARE.body, apply_error(TRUE, jnp.zeros(20).at[3].set(shift)), place, jnp.asarray(noises))


def test_a_start_at_a_picture_is_as_wrong_as_the_picture() -> None:
    noises = np.concatenate([0.01 * np.array([1.0, -2.0, 0.5]), 0.02 * np.array([0.3, 1.5, -1.0]), np.zeros(6)])
    empty = SOFTWARE.begin(IdealMeasurements(TRUTH))
    assert not bool(empty.started)
    memory = look(empty, view_with(noises), 0.0, True, 0.0)
    assert bool(memory.started)
    error, P = error_between(memory.belief.state, TRUE)[POSE_ERRORS], memory.belief.covariance[POSE_ERRORS, POSE_ERRORS]
    # 5.25 and 3.34 are the squares of the noises above, each over its sigma.
    np.testing.assert_allclose(error @ np.linalg.solve(P, error), 5.25 + 3.34, rtol=1e-9)


def test_a_picture_counts_once_for_the_time_it_was_taken_and_a_wild_one_never() -> None:
    right, wild = view_with(np.zeros(12)), view_with(np.zeros(12), shift=9.0)
    blind = look(SOFTWARE.begin(IdealMeasurements(TRUTH)), right, 0.0, False, 0.0)
    assert (bool(blind.started), float(blind.looked)) == (False, -np.inf)
    late = look(blind, right, 0.0, True, 0.1)
    assert (float(late.used), float(late.belief.time)) == (0.0, 0.0)
    again = look(late, right, 0.0, True, 0.2)
    np.testing.assert_array_equal(again.belief.covariance, late.belief.covariance)
    unknown = look(again, right, 0.15, True, 0.2)  # not taken at one of its ticks
    assert float(unknown.looked) == 0.0
    refused = look(again, wild, 0.2, True, 0.2)
    assert (int(refused.refused), float(refused.looked), float(refused.used)) == (1, 0.2, 0.0)
    used = look(again, right, 0.2, True, 0.2)
    assert (int(used.refused), float(used.belief.time)) == (0, 0.2)
    assert float(used.belief.covariance[0, 0]) < float(refused.belief.covariance[0, 0])


def test_after_so_many_refused_pictures_it_begins_anew() -> None:
    wild = view_with(np.zeros(12), shift=9.0)
    memory = look(SOFTWARE.begin(IdealMeasurements(TRUTH)), view_with(np.zeros(12)), 0.0, True, 0.0)
    for tick in range(1, SOFTWARE.most_refused + 1):
        assert int(memory.refused) == tick - 1
        memory = look(memory, wild, 0.1 * tick, True, 0.1 * tick)
    assert (int(memory.refused), float(memory.nis)) == (0, 0.0)
    np.testing.assert_allclose(memory.belief.state.position, wild.position, atol=1e-12)


def test_without_pictures_the_belief_follows_at_the_age_of_the_oldest_that_could_come() -> None:
    memory = look(SOFTWARE.begin(IdealMeasurements(TRUTH)), view_with(np.zeros(12)), 0.0, True, 0.0)
    for tick in (1, 15, 16):
        memory = look(memory, view_with(np.zeros(12)), 0.0, True, 0.1 * tick)
    np.testing.assert_allclose(memory.belief.time, 0.1, atol=1e-12)  # 15 ticks back
    assert float(memory.used) == 0.0


def test_what_cannot_work_is_refused_by_name() -> None:
    with pytest.raises(SoftwareError, match=r"must name a frame of a client, such as 'client\.ring'"):
        target_filter(target="client.base")
    with pytest.raises(SoftwareError, match="'ets7' has joints, modes or wheels"):
        target_filter(client=ets7(), target="client.hand")
    with pytest.raises(ModelError, match="has no frame 'rong'"):
        target_filter(target="client.rong")
    with pytest.raises(ModelError, match="position and attitude together"):
        TargetGuess(position=np.zeros(3))
    with pytest.raises(ModelError, match=r"TargetGuess\.rate_sigma must be positive"):
        dataclasses.replace(GUESS, rate_sigma=0.0)
    with pytest.raises(ModelError, match=r"PictureNoise\.angle must be positive"):
        PictureNoise(position=0.1, angle=0.0)
    with pytest.raises(ModelError, match=r"must be at most 0\.5"):
        target_filter(false_alarm=0.9)
