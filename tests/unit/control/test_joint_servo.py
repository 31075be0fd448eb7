"""The joint servo: what it adds up, the torques it asks for, its limits, and what it passes on."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.control import AttitudeHold, HoldJoints, JointServo, JointSpline, Line, RateSoftware, ResolvedMotion
from freefloat.control.joint_servo import POSITION_LIMIT, RATE_LIMIT, ServoMemory
from freefloat.control.rate_software import require_rate_software
from freefloat.dynamics import forward_dynamics, impose_rates, retract, state_rate
from freefloat.effects.joint_friction import Friction
from freefloat.library import ets7
from freefloat.model import Clock, Measurements, State
from freefloat.sensors.ideal import IdealMeasurements
from freefloat.values import SoftwareError, record
from support.compiling import compiled
from support.ports import clock_at, truth_of

CRAFT = ets7()
FIRST = np.deg2rad([5.0, -20.0, 40.0, 30.0, 20.0, 10.0])
POINTS = np.stack([FIRST, FIRST + np.array([0.1, -0.1, 0.2, 0.1, 0.0, -0.2])])
DT = 0.1  # [s]


def _spline(period: float | None = None) -> JointSpline:
    return JointSpline(CRAFT.layout.moving_joints, POINTS, np.array([6.0]), period=period)


def _clock(k: Any) -> Clock:
    return Clock(t=k * DT, tick=k, dt=DT)


def _advance(servo: JointServo, ticks: int) -> list[Any]:
    """Memories of a servo whose joints stand still at the first point."""
    y = IdealMeasurements.of(CRAFT, CRAFT.at_rest(FIRST))
    step = compiled(lambda memory, k: servo.remember(memory, y, _clock(k)))
    memories = [servo.begin(y)]
    for k in range(ticks):
        memories.append(step(memories[-1], np.asarray(k, np.int32)))
    return memories[1:]


def test_the_reference_of_a_sampled_arm_is_its_path_at_its_ticks() -> None:
    spline = _spline(period=3 * DT)
    memories = _advance(JointServo(craft=CRAFT, arm=spline), 10)
    for k, memory in enumerate(memories):
        np.testing.assert_allclose(memory.at, k * DT, atol=1e-15)
        if k % 3 == 0:  # the mean rates of the holds add up to the way
            np.testing.assert_allclose(memory.reference, spline.positions(jnp.asarray(k * DT)), atol=1e-14)
        else:
            np.testing.assert_array_equal(memory.command, memories[k - 1].command)


def test_the_reference_of_a_continuous_arm_follows_the_trapezoidal_rule() -> None:
    spline = _spline()
    memories = _advance(JointServo(craft=CRAFT, arm=spline), 8)
    rates = np.array([spline.rates_at(jnp.asarray(k * DT)) for k in range(8)])
    expected = FIRST + np.concatenate([np.zeros((1, 6)), np.cumsum(0.5 * DT * (rates[1:] + rates[:-1]), axis=0)])
    np.testing.assert_allclose([m.reference for m in memories], expected, atol=1e-15)
    np.testing.assert_allclose([m.rates for m in memories], rates, atol=1e-15)


@pytest.mark.parametrize("kind", ["spline", "resolved"])
def test_a_servo_without_error_accelerates_the_joints_as_asked(kind: str, rng) -> None:
    """Where joints stand and move as asked, the torques give just the change of the asked rates along the motion."""
    line = ResolvedMotion(craft=CRAFT, frame="hand", path=Line(direction=(1, 0, 0), length=0.2, speed=0.01))
    arm = _spline() if kind == "spline" else line
    servo, t, h = JointServo(craft=CRAFT, arm=arm), 5.0, 1e-5  # [s]
    rest = dataclasses.replace(CRAFT.at_rest(FIRST), v=np.concatenate([0.01 * rng.normal(size=6), np.zeros(6)]))

    @compiled
    def accelerations(rest: State) -> tuple[Any, Any]:
        y = IdealMeasurements.of(CRAFT, rest)
        rates = arm.rates(arm.begin(y), y, clock_at(t))
        moving = dataclasses.replace(rest, v=impose_rates(CRAFT, rest.q, rest.v, arm.joints, rates))
        y = IdealMeasurements.of(CRAFT, moving)
        memory = ServoMemory(moving.q, rates, jnp.zeros(6), jnp.asarray(t), arm.begin(y))
        asked = servo.command(memory, y, clock_at(t))
        vdot = forward_dynamics(CRAFT, moving.q, moving.v, jnp.zeros(12).at[6:].set(asked.torques))
        along = state_rate(CRAFT, moving, vdot)
        ahead, behind = (
            arm.rates(memory.arm, IdealMeasurements.of(CRAFT, retract(moving, along * s)), clock_at(t + s))
            for s in (h, -h)
        )
        return vdot[6:], (ahead - behind) / (2 * h)

    found, expected = accelerations(rest)
    assert np.max(np.abs(expected)) > 1e-4
    np.testing.assert_allclose(found, expected, atol=1e-9)  # differences over 1e-5 s, of rates of 1e-2 rad/s


def test_a_servo_pulls_towards_its_reference_and_makes_up_for_friction_it_knows() -> None:
    friction = Friction(coulomb=2.0, viscous=1.0)
    servo = JointServo(craft=CRAFT, arm=HoldJoints(CRAFT.layout.moving_joints), bandwidth=10.0)
    knowing = dataclasses.replace(servo, friction=friction, compensation=0.5)
    state = dataclasses.replace(CRAFT.at_rest(FIRST), v=0.01 * np.eye(12)[7])  # joint 2 moves
    y = IdealMeasurements.of(CRAFT, state)
    memory = dataclasses.replace(servo.begin(y), reference=FIRST + 0.01 * np.eye(6)[3])  # joint 4 should be ahead

    @compiled
    def torques(state: State, memory: ServoMemory) -> tuple[Any, ...]:
        y = IdealMeasurements.of(CRAFT, state)
        plain, known = (software.command(memory, y, clock_at(0.0)).torques for software in (servo, knowing))
        return plain, known, forward_dynamics(CRAFT, state.q, state.v, jnp.zeros(12).at[6:].set(plain))[6:]

    plain, known, acceleration = torques(state, memory)
    expected = 10.0**2 * 0.01 * np.eye(6)[3] - 2.0 * 10.0 * 0.01 * np.eye(6)[1]
    np.testing.assert_allclose(acceleration, expected, atol=1e-11)
    np.testing.assert_allclose(known - plain, -0.5 * np.asarray(friction.torque(state.v[6:])), atol=1e-12)


def test_limits_of_rate_and_position_are_kept_and_told() -> None:
    craft = CRAFT.with_value("arm.3.limits.upper", float(FIRST[2])).with_value("arm.6.limits.rate", 1e-3)
    servo = JointServo(craft=craft, arm=_spline())
    state = craft.at_rest(FIRST)

    @compiled
    def look(state: State, k: Any) -> tuple[Any, ...]:
        y = IdealMeasurements.of(craft, state)
        memory = servo.remember(servo.begin(y), y, Clock(t=k * DT, tick=k, dt=DT))
        return memory.rates, servo.observe(memory, y, Clock(t=k * DT, tick=k, dt=DT), truth_of(craft, state))

    rates, (error, limited) = look(state, np.asarray(30, np.int32))
    assert rates[2] == 0.0
    assert rates[5] == -1e-3
    np.testing.assert_array_equal(limited, [0.0, 0.0, POSITION_LIMIT, 0.0, 0.0, RATE_LIMIT])
    channels = {channel.name: channel for channel in servo.channels()}
    assert list(channels) == ["joints.tracking_error", "servo.condition"]
    assert channels["servo.condition"].flags[int(POSITION_LIMIT)] == "position limit"
    assert channels["servo.condition"].flags[int(RATE_LIMIT)] == "rate limit"
    # Since the start: half the rate asked for now, over 3 s.
    np.testing.assert_allclose(error[0], 0.5 * 3.0 * rates[0], atol=1e-12)


@pytest.mark.parametrize(("joint", "side"), [(2, "upper"), (1, "lower")])
def test_a_joint_at_a_position_limit_may_only_come_back(joint: int, side: str) -> None:
    """The spline moves joint 3 up and joint 2 down, each at its limit; mirrored, it moves away from it."""
    craft = CRAFT.with_value(f"arm.{joint + 1}.limits.{side}", float(FIRST[joint]))
    y = IdealMeasurements.of(craft, craft.at_rest(FIRST))
    for points, held in ((POINTS, True), (2.0 * FIRST - POINTS, False)):
        spline = JointSpline(CRAFT.layout.moving_joints, points, np.array([6.0]))
        servo = JointServo(craft=craft, arm=spline)
        rates = np.asarray(servo.remember(servo.begin(y), y, _clock(np.asarray(30, np.int32))).rates)
        asked = np.asarray(spline.rates_at(jnp.asarray(3.0)))
        expected = np.where(np.arange(6) == joint, 0.0, asked) if held else asked
        assert abs(asked[joint]) > 0.01
        np.testing.assert_allclose(rates, expected, atol=1e-15)


@record
class _Counting(RateSoftware):
    """Counts its ticks and tells them."""

    def begin(self, y: Measurements) -> Any:
        return jnp.zeros(())

    @property
    def joints(self) -> tuple[str, ...]:
        return ("arm.2",)

    def remember(self, memory: Any, y: Measurements, clock: Clock) -> Any:
        return memory + 1.0

    def rates(self, memory: Any, y: Measurements, clock: Clock) -> Any:
        return 1e-3 * memory * jnp.ones(1)

    def tell(self, memory: Any, y: Measurements, clock: Clock) -> Mapping[str, Any]:
        return {"count": memory}


def test_the_arms_memory_and_messages_pass_through_the_servo() -> None:
    memories = _advance(servo := JointServo(craft=CRAFT, arm=_Counting(period=2 * DT)), 5)
    assert [float(m.arm) for m in memories] == [1.0, 2.0, 3.0, 4.0, 5.0]
    np.testing.assert_allclose([m.command[0] for m in memories], 1e-3 * np.array([1.0, 1.0, 3.0, 3.0, 5.0]))
    y = IdealMeasurements.of(CRAFT, CRAFT.at_rest(FIRST))
    assert float(servo.tell(memories[-1], y, _clock(np.asarray(5, np.int32)))["count"]) == 5.0
    assert servo.command(memories[-1], y, _clock(np.asarray(5, np.int32))).joints == ("arm.2",)


def test_arms_that_a_servo_cannot_follow_are_refused() -> None:
    with pytest.raises(SoftwareError, match=r"JointServo\.arm must be RateSoftware.*got AttitudeHold"):
        require_rate_software("JointServo.arm", AttitudeHold(craft=ets7(wheels=True)))
    with pytest.raises(ValueError, match=r"JointSpline asked by a servo every 0\.3 s does not fit"):
        JointServo(craft=CRAFT, arm=_spline(period=0.3), period=0.2)
