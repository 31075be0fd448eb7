"""The tracker of a target: pictures that come late from a camera that moves."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.control import TargetTracker
from freefloat.library import ets7
from freefloat.model import Clock, Spacecraft, State, Truth, World
from freefloat.sensors import RelativePoseCamera
from freefloat.sensors.ideal import IdealMeasurements, true_value
from freefloat.spatial.rotations import quaternion_exp, rotation_matrix
from freefloat.values import ModelError
from support.compiling import compiled
from support.ports import Told

CRAFT = ets7()
CLIENT = Spacecraft.from_base("client", mass=100.0, inertia=(9.0, 8.0, 7.0)).with_frame("grip", body="base")
WORLD = World(servicer=CRAFT, client=CLIENT)
VELOCITY = np.array([0.01, -0.02, 0.005])  # of the client, N axes [m/s]
DT = 0.05  # [s]


def _truth(t: Any) -> Truth:
    """The base drifts and turns, the arm moves, and the client drifts."""
    servicer = State(
        p_NB=jnp.array([0.02, 0.0, 0.01]) * t,
        quat_NB=quaternion_exp(jnp.array([0.03, -0.02, 0.05]) * t),
        q=jnp.linspace(0.1, 0.6, 6) + 0.2 * jnp.sin(0.7 * t) * jnp.array([1.0, -1.0, 1.0, 0.5, 1.0, -1.0]),
        v=jnp.zeros(12),
    )
    attitude = quaternion_exp(jnp.array([0.2, 0.1, -0.3]))
    velocity = jnp.concatenate([rotation_matrix(attitude).T @ VELOCITY, jnp.zeros(3)])
    return Truth(WORLD, (servicer, State(jnp.array([2.0, 0.1, 1.0]) + VELOCITY * t, attitude, jnp.zeros(0), velocity)))


class Both(Told):
    """The camera's measurements, and the truth about everything else."""

    def __init__(self, truth: Truth, clock: Clock, *sensors: Any) -> None:
        super().__init__(clock, *sensors)
        self._ideal = IdealMeasurements(truth, clock.t)

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name) if name.startswith("camera.") else self._ideal[name]


def _track(tracker: TargetTracker, camera: RelativePoseCamera, ticks: int, works_until: float = np.inf) -> list[Any]:
    """What is told at each tick, and the true position and attitude."""
    each = round(camera.period / DT)

    @compiled
    def tick(seen: Any, memory: Any, k: Any, works: Any) -> tuple[Any, ...]:
        clock = Clock(t=k * DT, tick=k, dt=DT)
        truth = _truth(clock.t)
        picture = camera.sense(seen, truth, k // each, clock)
        fresh = jax.tree.map(lambda a, b: jnp.where(works & (k % each == 0), a, b), picture, seen)
        y = Both(truth, clock, (camera, fresh))
        memory = tracker.remember(memory, y, clock)
        there = tuple(true_value(truth, f"client.grip.{kind}") for kind in ("position", "attitude", "velocity"))
        return fresh, memory, tracker.tell(memory, y, clock), there

    clock = Clock(t=jnp.zeros(()), tick=jnp.zeros((), jnp.int32), dt=DT)
    seen, memory = camera.begin(_truth(clock.t), clock), tracker.begin(IdealMeasurements(_truth(clock.t)))
    told = []
    for k in range(ticks):
        works = np.asarray(k * DT <= works_until)
        seen, memory, message, there = tick(seen, memory, np.asarray(k, np.int32), works)
        told.append((message, there))
    return told


def _tracker(**settings: Any) -> TargetTracker:
    return TargetTracker(craft=CRAFT, frame="hand", target="client.grip", velocity=VELOCITY, **settings)


CAMERA = RelativePoseCamera(frame="hand", target="client.grip", latency=0.3)  # a picture every 0.25 s


def test_late_pictures_of_a_good_camera_give_the_true_pose_now() -> None:
    told = _track(_tracker(), CAMERA, 40)
    for k, (message, (position, attitude, velocity)) in enumerate(told):
        assert bool(message["client.grip.valid"]) == (k * DT >= 0.3 - 1e-9)
        if message["client.grip.valid"]:
            np.testing.assert_allclose(message["client.grip.position"], position, atol=1e-12)
            # A quaternion and its negative are one attitude.
            assert abs(message["client.grip.attitude"] @ attitude) == pytest.approx(1.0, abs=1e-12)
            np.testing.assert_allclose(message["client.grip.velocity"], velocity, atol=1e-12)


def test_an_error_of_the_first_picture_fades_by_the_share_of_each_new_one() -> None:
    """Pictures with noise: the mean of many is better than one."""
    camera = RelativePoseCamera(frame="hand", target="client.grip", latency=0.3, noise=1e-2)
    told = _track(_tracker(share=0.1), camera, 400)
    error = np.array([message["client.grip.position"] - there[0] for message, there in told[200:]])
    # The steady variance of such a filter is share / (2 - share) of a picture's.
    assert np.sqrt(np.mean(error**2)) == pytest.approx(1e-2 * np.sqrt(0.1 / 1.9), rel=0.5)


def test_a_target_is_lost_after_patience_without_a_picture() -> None:
    told = _track(_tracker(patience=0.8), CAMERA, 60, works_until=1.0)
    valid = [bool(message["client.grip.valid"]) for message, _ in told]
    # The last picture was taken at 1 s: it serves until 1.8 s.
    assert [k for k in range(len(valid)) if valid[k]] == list(range(6, 37))


@pytest.mark.parametrize(("slots", "any_used"), [(6, False), (7, True)])
def test_pictures_older_than_what_is_remembered_are_not_used(slots: int, any_used: bool) -> None:
    """0.3 s ago is six ticks: with the present one that makes seven poses."""
    told = _track(_tracker(slots=slots), CAMERA, 20)
    assert any(bool(message["client.grip.valid"]) for message, _ in told) == any_used


def test_a_tracker_that_learns_nothing_is_refused() -> None:
    with pytest.raises(ModelError, match=r"TargetTracker\.share must be positive"):
        _tracker(share=0.0)
    with pytest.raises(ModelError, match=r"TargetTracker\.velocity must be x, y, z"):
        TargetTracker(craft=CRAFT, frame="hand", target="client.grip", velocity=(1.0, 2.0))
