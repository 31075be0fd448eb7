"""Actuators: limits of wheels and joints, and thrusters that burn in pulses."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.actuators import (
    Thruster,
    Thrusters,
    joint_motor_channels,
    limit_joint_torques,
    limit_wheel_torques,
    torque_pairs,
    wheel_channel,
)
from freefloat.actuators.thrusters import STANDARD_GRAVITY
from freefloat.library import ets7
from freefloat.model import JointLimits, PortCommands, Spacecraft, State, Truth, World
from freefloat.values import ModelError
from support.ports import clock_at

HUB = Spacecraft.from_base("hub", mass=500.0, inertia=(200.0, 300.0, 250.0))  # [kg], [kg m2]
for _letter, _axis in zip("xyz", np.eye(3), strict=True):
    HUB = HUB.with_wheel(f"wheel.{_letter}", axis=_axis, inertia=0.05, max_torque=0.2, max_momentum=4.0)
WHEELS = HUB.wheel_names
PAIRS = torque_pairs(arm=1.0, thrust=2.0, shortest_pulse=0.06)
NONE = jnp.zeros(12)
NOTHING = PortCommands((), ())  # commands


def spinning(*speeds: float) -> State:
    start = HUB.at_rest()
    return dataclasses.replace(start, v=np.array([0, 0, 0, 0, 0, 0, *speeds], float))


# ---- limits


def test_wheels_keep_their_torque_limit() -> None:
    torques, condition = limit_wheel_torques(HUB, spinning(0, 0, 0), WHEELS, jnp.array([0.1, -0.5, 0.2]))
    np.testing.assert_array_equal(torques, [0.1, -0.2, 0.2])
    np.testing.assert_array_equal(condition, [0.0, 1.0, 0.0])


def test_a_full_wheel_can_only_be_slowed_down() -> None:
    full = spinning(80.0, -80.0, 80.0)  # 4 N m s each
    torques, condition = limit_wheel_torques(HUB, full, WHEELS, jnp.array([0.1, 0.1, -0.3]))
    np.testing.assert_array_equal(torques, [0.0, 0.1, -0.2])
    np.testing.assert_array_equal(condition, [2.0, 0.0, 1.0])


def test_some_wheels_in_any_order() -> None:
    full = spinning(80.0, 0.0, 0.0)
    torques, condition = limit_wheel_torques(HUB, full, ("wheel.z", "wheel.x"), jnp.array([0.1, 0.1]))
    np.testing.assert_array_equal(torques, [0.1, 0.0])
    np.testing.assert_array_equal(condition, [0.0, 2.0])
    channel = wheel_channel(HUB, ("wheel.z", "wheel.x"))
    assert (channel.name, channel.components) == ("wheels.condition", ("wheel.z", "wheel.x"))
    with pytest.raises(ModelError, match=r"no wheel 'wheel.w'. Wheels: wheel.x"):
        wheel_channel(HUB, ("wheel.w",))


def test_joint_motors_keep_the_joints_effort() -> None:
    craft = Spacecraft.from_base("arm", mass=10.0, inertia=(1.0, 1.0, 1.0))
    for name, effort in (("first", 2.0), ("second", np.inf)):
        limits = JointLimits(effort=effort)
        craft = craft.with_link(name, parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1), limits=limits)
    names = craft.layout.moving_joints[::-1]
    torques, condition = limit_joint_torques(craft, names, jnp.array([-100.0, -3.0]))
    np.testing.assert_array_equal(torques, [-100.0, -2.0])
    np.testing.assert_array_equal(condition, [0.0, 1.0])
    assert [c.name for c in joint_motor_channels(craft, names)] == ["joints.motor_torque", "joints.condition"]
    with pytest.raises(ModelError, match="no moving joint 'third'"):
        joint_motor_channels(craft, ("third",))


# ---- thrusters


def burn(thrusters: Thrusters, duties: np.ndarray, stuck: jax.Array = NONE, hold: float = 0.02) -> tuple:
    """All pulses, one row for each tick, and the valves at the end."""

    def tick(pulses, given):
        k, duty = given
        after = thrusters.move_valves(pulses, duty, clock_at(k * hold, hold), stuck)
        return after, after.burning

    start = jax.tree.map(jnp.asarray, thrusters.begin(HUB))
    end, burning = jax.lax.scan(tick, start, (jnp.arange(len(duties)), jnp.asarray(duties)))
    return np.asarray(burning), end


def test_a_nozzle_pushes_at_its_place() -> None:
    """2 N along x at y = 1.5 m turns about -z. Pairs turn about the axis, and the way, that their names say."""
    one = Thruster("one", position=(0.0, 1.5, 0.0), direction=(3.0, 0.0, 0.0), thrust=2.0)
    np.testing.assert_allclose(one.wrench(), [2.0, 0.0, 0.0, 0.0, 0.0, -3.0], atol=1e-15)
    for k, name in enumerate(f"{axis}{sign}" for axis in "xyz" for sign in "+-"):
        both = sum(np.asarray(nozzle.wrench()) for nozzle in PAIRS if nozzle.name.startswith(name))
        np.testing.assert_allclose(both, (1.0 - 2.0 * (k % 2)) * 4.0 * np.eye(6)[3 + k // 2], atol=1e-15)


def test_pulses_add_up_to_the_impulse_that_was_asked_for(rng: np.random.Generator) -> None:
    thrusters = Thrusters.from_nozzles(PAIRS)
    duties = np.abs(rng.normal(size=(2000, 12))) * rng.uniform(0.0, 0.4, 12)
    duties = np.clip(duties, 0.0, 1.0)
    burning, end = burn(thrusters, duties)
    asked, given = 2.0 * 0.02 * duties.sum(axis=0), 2.0 * 0.02 * burning.sum(axis=0)
    # A thruster waits for a shortest pulse, and closes a tick late at most.
    assert np.all(np.abs(asked - given) <= 2.0 * (0.06 + 0.02) + 1e-9)
    np.testing.assert_allclose(end.debt, asked - given, atol=1e-9)
    np.testing.assert_allclose(end.propellant, given.sum() / (220.0 * STANDARD_GRAVITY), rtol=1e-12)
    for k in range(12):  # no pulse is shorter than the shortest, but for the last that is cut off
        edges = np.flatnonzero(np.diff(np.concatenate([[0.0], burning[:, k], [0.0]])))
        assert np.all((edges[1::2] - edges[::2])[:-1] >= 3)


def test_a_valve_waits_until_a_shortest_pulse_is_owed() -> None:
    """Asked for half the time it owes 10 ms more at every tick: 60 ms at the sixth. Burning pays 20 ms a tick, so that
    at the eleventh less than a tick is owed."""
    duties = np.tile(0.5 * np.eye(12)[0], (11, 1))
    burning, end = burn(Thrusters.from_nozzles(PAIRS), duties)
    np.testing.assert_array_equal(np.flatnonzero(burning[:, 0]), [5, 6, 7, 8, 9])
    assert not np.any(burning[:, 1:])
    np.testing.assert_allclose(end.debt[0], 2.0 * 0.01, atol=1e-12)


def test_a_valve_stays_open_for_the_shortest_pulse() -> None:
    """50 ms in ticks of 20 ms: after two ticks 40 ms are no pulse yet; it closes in the middle of the third."""
    nozzles = torque_pairs(arm=1.0, thrust=2.0, shortest_pulse=0.05)
    duties = np.zeros((8, 12))
    duties[:3, 0], duties[2, 0] = 1.0, 0.5  # 20, 40 and then 50 ms are owed
    duties[:, 5] = 1e-6  # others still work, so that debts are not forgotten
    burning, end = burn(Thrusters.from_nozzles(nozzles), duties)
    np.testing.assert_allclose(burning[:, 0], [0, 0, 1, 1, 0.5, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(end.debt[0], 0.0, atol=1e-12)


def test_nobody_burns_more_than_all_of_the_time_or_less_than_none() -> None:
    thrusters = Thrusters.from_nozzles(PAIRS)
    pulses = thrusters.move_valves(
        thrusters.begin(HUB), NONE.at[:3].set(jnp.array([3.0, 1.0, -2.0])), clock_at(0.0, 0.02), NONE
    )
    np.testing.assert_allclose(pulses.debt[:3], [2.0 * 0.02, 2.0 * 0.02, 0.0], atol=1e-15)


def test_a_stuck_thruster_burns_whatever_is_asked() -> None:
    thrusters = Thrusters.from_nozzles(PAIRS)
    stuck = NONE.at[4].set(1.0)
    burning, end = burn(thrusters, np.zeros((50, 12)), stuck)
    np.testing.assert_array_equal(burning.sum(axis=0), 50.0 * np.eye(12)[4])
    np.testing.assert_allclose(end.propellant, 2.0 * 1.0 / (220.0 * STANDARD_GRAVITY), rtol=1e-12)
    np.testing.assert_array_equal(thrusters.wrench(end.burning), PAIRS[4].wrench())
    np.testing.assert_array_equal(end.debt, 0.0)  # and owes nothing when it closes again
    after = thrusters.move_valves(end, NONE, clock_at(1.0, 0.02), NONE)
    np.testing.assert_array_equal(after.burning, 0.0)


def test_debts_are_forgotten_when_nothing_is_asked() -> None:
    thrusters = Thrusters.from_nozzles(PAIRS)
    pulses = thrusters.move_valves(thrusters.begin(HUB), jnp.full(12, 0.5), clock_at(0.0, 0.02), NONE)
    np.testing.assert_allclose(pulses.debt, 0.02)
    half = thrusters.move_valves(pulses, NONE.at[0].set(0.5), clock_at(0.02, 0.02), NONE)
    np.testing.assert_allclose(half.debt[1:], 0.02)  # others still work
    none = thrusters.move_valves(pulses, NONE, clock_at(0.02, 0.02), NONE)
    np.testing.assert_array_equal(none.debt, 0.0)


def test_allocated_pulses_make_the_wanted_torque() -> None:
    thrusters = Thrusters.from_nozzles(PAIRS)
    wanted = np.array([0.0, 0.0, 0.0, 0.3, -0.2, 0.1])
    duty = thrusters.allocate(jnp.asarray(wanted))
    burning, _ = burn(thrusters, np.tile(duty, (2000, 1)))
    mean = np.asarray(thrusters.wrench(jnp.asarray(burning.mean(axis=0))))
    # Two thrusters make each torque; each may owe a pulse of 0.16 N s over the 40 s.
    np.testing.assert_allclose(mean, wanted, atol=2 * 0.16 / 40.0)


def test_force_is_on_the_base_alone() -> None:
    craft, thrusters = ets7(wheels=True), Thrusters.from_nozzles(PAIRS)
    pulses = dataclasses.replace(thrusters.begin(HUB), burning=np.eye(12)[3])
    force = np.asarray(
        thrusters.force(Truth(World.of(craft), (craft.at_rest(),)), pulses, NOTHING, clock_at(0.0, 0.02))
    )
    np.testing.assert_array_equal(force[:6], PAIRS[3].wrench())
    np.testing.assert_array_equal(force[6:], 0.0)


def test_two_sets_of_thrusters_have_channels_of_their_own() -> None:
    coarse, fine = (Thrusters.from_nozzles(PAIRS, **fields) for fields in ({}, {"name": "fine", "period": 0.1}))
    assert [c.name for c in coarse.channels(HUB)] == ["thrusters.burning", "thrusters.propellant"]
    assert [c.name for c in fine.channels(HUB)] == ["fine.burning", "fine.propellant"]
    assert coarse.channels(HUB)[0].axis != fine.channels(HUB)[0].axis
    truth = Truth(World.of(HUB), (HUB.at_rest(),))
    assert [np.shape(value) for value in coarse.observe(truth, coarse.begin(HUB), NOTHING, clock_at(0.0, 0.02))] == [
        (12,),
        (),
    ]


def test_thrusters_that_cannot_turn_the_base_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot make the torque"):
        Thrusters.from_nozzles(PAIRS[:8])
