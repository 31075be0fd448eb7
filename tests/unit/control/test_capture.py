"""The capture of a target: its phases, its limits, and what it does when the target is lost."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.control import ApproachLimits, CaptureApproach, spline_to
from freefloat.control.capture import CAPTURED, COARSE, FINE, WAITING, CaptureMemory
from freefloat.control.measured import measured_motion
from freefloat.control.resolved_motion import floating_jacobian
from freefloat.dynamics import frame_pose
from freefloat.library import ets7
from freefloat.model import Clock, Spacecraft, State, Truth, World
from freefloat.sensors.ideal import IdealMeasurements
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import ModelError, SoftwareError
from support.compiling import compiled
from support.ports import clock_at

CRAFT = ets7(wheels=True)
CLIENT = Spacecraft.from_base("client", mass=100.0, inertia=(9.0, 8.0, 7.0)).with_frame("grip", body="base")
WORLD = World(servicer=CRAFT, client=CLIENT)
START = np.deg2rad([0.0, -82.7, -19.8, 115.5, 0.0, 0.0])
HAND = frame_pose(CRAFT, START, "hand")
FAR = np.array([0.13, 0.01, -0.38])  # from the hand to the target at the start [m]
DRIFT = np.array([0.0, 0.0, -0.01])  # [m/s]
SOFTWARE = CaptureApproach(craft=CRAFT, frame="hand", target="client.grip")


class Sight(IdealMeasurements):
    """Ideal measurements of a target that may be lost."""

    def __init__(self, truth: Truth, seen: Any) -> None:
        super().__init__(truth)
        self._seen = seen

    def valid(self, name: str) -> Any:
        return self._seen if name.startswith("client") else super().valid(name)


def _truth(gap: Any, turn: Any = (0.0, 0.0, 0.0), base_rate: float = 0.0) -> Truth:
    """Everything at rest but the drifting target, `gap` from the hand."""
    servicer = CRAFT.at_rest(START)
    servicer = dataclasses.replace(
        servicer,
        quat_NB=quaternion_exp(jnp.asarray(turn, dtype=float)),
        v=jnp.asarray(servicer.v).at[4].set(base_rate),
    )
    place = servicer.X_NB @ HAND
    client = State(
        p_NB=place.p + jnp.asarray(gap),
        quat_NB=place.quaternion,
        q=jnp.zeros(0),
        v=jnp.concatenate([place.R.T @ DRIFT, jnp.zeros(3)]),
    )
    return Truth(WORLD, (servicer, client))


@compiled
def remember(software: CaptureApproach, memory: CaptureMemory, gap: Any, seen: Any, t: Any) -> tuple[Any, ...]:
    """One tick at a distance from the target: new memory, joint rates and what is told."""
    y, clock = Sight(_truth(gap), seen), Clock(t=t, tick=jnp.zeros((), jnp.int32), dt=0.5)
    memory = software.remember(memory, y, clock)
    return (
        memory,
        software.rates(memory, y, clock),
        software.tell(memory, y, clock),
        software.observe(memory, y, clock, y._truth),
    )


def _begin() -> CaptureMemory:
    return SOFTWARE.begin(IdealMeasurements(_truth(FAR)))


def test_the_approach_goes_from_coarse_to_fine_to_captured() -> None:
    near, there, memory, seen = 0.2 * FAR, 0.005 * FAR, _begin(), np.asarray(True)
    modes = []
    for k, gap in enumerate([FAR, FAR, near, near, there, FAR, there, there, there, there]):
        memory, _, told, watched = remember(SOFTWARE, memory, gap, seen, np.asarray(0.5 * k))
        modes.append(int(memory.mode))
        np.testing.assert_allclose(told["capture.distance"], np.linalg.norm(gap), atol=1e-12)
        assert told["capture.mode"] == watched[2] == memory.mode
        np.testing.assert_allclose(watched[0], gap, atol=1e-12)
        np.testing.assert_allclose(watched[1], 0.0, atol=1e-12)
    # Inside for a second without leaving.
    assert modes == [COARSE, COARSE, *[FINE] * 6, CAPTURED, CAPTURED]
    assert memory.switched_at == 1.0
    assert memory.captured_at == 4.0


def test_a_target_at_an_angle_is_not_captured_however_near() -> None:
    memory = dataclasses.replace(_begin(), mode=np.asarray(FINE, np.int32))
    for angle_deg, expected in ((0.6, FINE), (0.4, CAPTURED)):  # either side of half a degree
        servicer, client = _truth(np.zeros(3)).states
        turned = quaternion_multiply(
            jnp.asarray(client.quat_NB), quaternion_exp(jnp.deg2rad(angle_deg) * jnp.eye(3)[0])
        )
        y = Sight(Truth(WORLD, (servicer, dataclasses.replace(client, quat_NB=turned))), jnp.asarray(True))
        now = memory
        for k in range(5):
            now = SOFTWARE.remember(now, y, clock_at(0.5 * k))
        assert int(now.mode) == expected


def test_a_hand_at_its_target_follows_it() -> None:
    """In the fine approach without an error the joints give the hand the target's velocity, and no turn."""
    memory = dataclasses.replace(_begin(), mode=np.asarray(FINE, np.int32))

    @compiled
    def twist(memory: CaptureMemory, gap: Any) -> Any:
        y = IdealMeasurements(_truth(gap))
        J_g, drift = floating_jacobian(CRAFT, measured_motion(CRAFT, y), "hand")
        return J_g @ SOFTWARE.rates(memory, y, clock_at(7.0)) + drift

    np.testing.assert_allclose(twist(memory, np.zeros(3)), [*DRIFT, 0.0, 0.0, 0.0], atol=1e-9)  # hardly damped


def test_the_arm_rests_while_the_target_is_lost_and_says_so() -> None:
    memory, rates, told, watched = remember(SOFTWARE, _begin(), 0.1 * FAR, np.asarray(False), np.asarray(3.0))
    assert memory.mode == COARSE  # near, but not seen
    assert np.isinf(told["capture.distance"])
    np.testing.assert_array_equal(rates, 0.0)
    assert SOFTWARE.channels()[-1].flags[int(watched[-1])] == "target lost"
    memory, rates, _, watched = remember(SOFTWARE, memory, 0.1 * FAR, np.asarray(True), np.asarray(3.5))
    assert memory.mode == FINE
    assert np.max(np.abs(rates)) > 1e-3
    assert watched[-1] != 1.0


def test_the_arm_comes_to_rest_once_captured() -> None:
    memory = dataclasses.replace(_begin(), mode=np.asarray(CAPTURED, np.int32), captured_at=np.asarray(3.0))
    sizes = [
        np.max(np.abs(remember(SOFTWARE, memory, 0.005 * FAR, np.asarray(True), np.asarray(t))[1]))
        for t in (3.0, 3.5, 8.0)
    ]
    assert sizes[1] == pytest.approx(np.exp(-1.0) * sizes[0], rel=1e-9)
    assert sizes[2] < 1e-4 * sizes[0]


@pytest.mark.slow
def test_the_conventional_approach_waits_until_the_attitude_has_recovered() -> None:
    goal = Pose(position=np.asarray(HAND.p) + FAR, rotation=np.asarray(HAND.R))
    spline = spline_to(CRAFT, "hand", goal, START, ApproachLimits())
    software, late = dataclasses.replace(SOFTWARE, spline=spline), float(spline.duration) + 1.0

    @compiled
    def mode(memory: CaptureMemory, t: Any, turn: Any, rate: Any) -> Any:
        return software.remember(memory, IdealMeasurements(_truth(FAR, turn, rate)), clock_at(t)).mode

    still, tilt = np.zeros(3), np.deg2rad([0.0, 0.2, 0.0])
    for t, turn, rate, expected in (
        (1.0, still, 0.0, COARSE),
        (late, tilt, 0.0, WAITING),
        (late, still, np.deg2rad(0.01), WAITING),
        (late, still, 0.0, FINE),
    ):
        assert mode(_begin(), np.asarray(t), turn, np.asarray(rate)) == expected


@pytest.mark.parametrize("case", [1, 2])
def test_the_limit_of_the_joints_holds_in_every_phase_of_a_capture(case: int) -> None:
    limits = ApproachLimits(joint_rate=np.deg2rad(0.5))
    goal = Pose(position=np.asarray(HAND.p) + FAR, rotation=np.asarray(HAND.R))
    spline = spline_to(CRAFT, "hand", goal, START, limits) if case == 2 else None
    software = dataclasses.replace(SOFTWARE, limits=limits, spline=spline)

    @compiled
    def asked(memory: CaptureMemory) -> Any:
        return software.command(memory, IdealMeasurements(_truth(FAR + 7.0 * DRIFT)), clock_at(7.0)).rates

    for mode in (COARSE, FINE):
        found = asked(dataclasses.replace(_begin(), mode=np.asarray(mode, np.int32)))
        fastest = np.max(np.abs(found)) / limits.joint_rate
        assert fastest == pytest.approx(1.0, abs=1e-12)  # as fast as it may, and no faster


def test_limits_of_a_capture_must_be_positive() -> None:
    with pytest.raises(ModelError, match=r"ApproachLimits\.fine_speed must be positive, got -1 m/s"):
        ApproachLimits(fine_speed=-1.0)


def test_a_base_is_no_place_to_take_hold_of() -> None:
    with pytest.raises(SoftwareError, match=r"'client\.base' is a base"):
        CaptureApproach(craft=CRAFT, frame="hand", target="client.base")
