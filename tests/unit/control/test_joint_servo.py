"""The joint servo: what it adds up, the torques it asks for, its limits, and what it passes on."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import compiled
from freefloat.control import AttitudeHold, JointServo, JointSpline, Line, RateLaw, ResolvedMotion
from freefloat.dynamics import forward_dynamics
from freefloat.effects.joint_friction import Friction
from freefloat.library import ets7
from freefloat.model import Clock, State
from freefloat.sensors.ideal import IdealMeasurements
from freefloat.values import LawError, record, static
from ports import clock_at, truth_of

CRAFT = ets7()
FIRST = np.deg2rad([5.0, -20.0, 40.0, 30.0, 20.0, 10.0])
POINTS = np.stack([FIRST, FIRST + [0.1, -0.1, 0.2, 0.1, 0.0, -0.2]])
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
    servo, h, places = JointServo(craft=CRAFT, arm=arm), 1e-5, np.array(CRAFT.layout.joint_velocities)
    base = 0.01 * rng.normal(size=6)

    @compiled
    def accelerations(base: Any) -> tuple[Any, Any]:
        state = _moving(arm, CRAFT.at_rest(FIRST), base)
        y = IdealMeasurements.of(CRAFT, state)
        memory = servo.remember(servo.begin(y), y, clock_at(0.0, dt=DT))
        asked = servo.command(memory, y, clock_at(0.0, dt=DT))
        force = jnp.zeros(12).at[places].set(asked.torques)
        vdot = forward_dynamics(CRAFT, state.q, state.v, force)
        start, pair = arm.begin(y), []
        for s in (h, -h):
            pair.append(arm.rates(start, IdealMeasurements.of(CRAFT, _after(state, vdot, s)), clock_at(s)))
        return vdot[places], (pair[0] - pair[1]) / (2 * h)

    found, expected = accelerations(base)
    # Central differences over 1e-5 s are good to about 1e-9; the ramp of the line begins at zero, so it has half its
    # slope there.
    if kind == "spline":
        np.testing.assert_allclose(found, expected, atol=1e-6)
    else:
        assert np.max(np.abs(found - expected)) < 0.02


def _moving(arm: RateLaw, state: State, base: Any) -> State:
    """The state with its joints at the asked rates."""
    state = State(state.p_NB, state.quat_NB, state.q, jnp.concatenate([base, jnp.zeros(6)]))
    y = IdealMeasurements.of(CRAFT, state)
    return State(state.p_NB, state.quat_NB, state.q, state.v.at[6:].set(arm.rates(arm.begin(y), y, clock_at(0.0))))
