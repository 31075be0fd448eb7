"""A cluster of gyros by its methods: ports, limits, rates, force, channels. Whole runs are in tests/physics."""

import numpy as np
import pytest

from freefloat.actuators.control_moment_gyros import ControlMomentGyros
from freefloat.library import with_gyro_pyramid
from freefloat.model import PortCommand, PortCommands, Spacecraft
from freefloat.values import ModelError
from support.ports import clock_at, commands_to, truth_of

HUB = Spacecraft.from_base("hub", mass=400.0, inertia=(60.0, 70.0, 50.0))  # [kg], [kg m2]
CRAFT = with_gyro_pyramid(
    HUB,
    spin_inertia=0.05,
    mass=8.0,
    inertia=(0.06, 0.05, 0.04),
    max_gimbal_rate=1.5,
    max_torque=0.2,
    max_momentum=20.0,
)
GYROS = ControlMomentGyros.of(CRAFT)
NAMES = tuple(f"gyro.{k}" for k in range(1, 5))
NOW = clock_at(0.0)
STATE = CRAFT.in_motion(CRAFT.at_rest((0.1, 0.2, 0.3, 0.4)), wheels=np.array([300.0, 300.0, 300.0, 400.0]))


def commands(*given: PortCommand) -> PortCommands:
    return commands_to(GYROS, CRAFT, *given)


def test_a_cluster_accepts_rates_and_torques_and_drives_its_joints_and_wheels():
    rates, torques = GYROS.accepts(CRAFT)
    assert (rates.name, rates.unit, rates.parts, rates.drives) == ("gyros.gimbal_rate", "rad/s", NAMES, NAMES)
    wheels = tuple(f"{name}.wheel" for name in NAMES)
    assert (torques.name, torques.unit, torques.parts, torques.drives) == ("gyros.spin_torque", "N m", wheels, wheels)


def test_two_clusters_have_ports_of_their_own():
    craft = with_gyro_pyramid(CRAFT, "spare", spin_inertia=0.05, mass=8.0, inertia=(0.06, 0.05, 0.04))
    first, second = ControlMomentGyros.of(craft, "gyro."), ControlMomentGyros.of(craft, "spare.", name="spare")
    assert first.gimbals == NAMES
    assert second.gimbals == tuple(f"spare.{k}" for k in range(1, 5))
    ports = [port.name for cluster in (first, second) for port in cluster.accepts(craft)]
    assert len(set(ports)) == 4


def test_gimbals_follow_their_rates_within_limits():
    """In the order of the command; one that is not commanded is not prescribed."""
    port = "gyros.gimbal_rate"
    asked = commands(PortCommand(port, np.array([2.0, -0.5]), names=("gyro.3", "gyro.1")))
    assert GYROS.prescribes(CRAFT, {port: ("gyro.3", "gyro.1"), "gyros.spin_torque": ()}) == ("gyro.3", "gyro.1")
    np.testing.assert_array_equal(GYROS.rates(CRAFT, (), asked, NOW), [1.5, -0.5])
    np.testing.assert_array_equal(GYROS.rates(CRAFT, (), commands(), NOW), np.zeros(0))
    limited = GYROS.limited_commands(truth_of(CRAFT, STATE), (), asked, NOW)
    np.testing.assert_array_equal(limited[port], [-0.5, 0.0, 1.5, 0.0])
    assert limited.commanded_parts(port) == ("gyro.3", "gyro.1")


def test_wheels_get_their_torques_within_torque_and_momentum():
    """The fourth is full at 400 rad/s: it can only be slowed down."""
    truth, port = truth_of(CRAFT, STATE), "gyros.spin_torque"
    asked = commands(PortCommand(port, np.array([0.1, -0.5, 0.0, 0.1])))
    given = GYROS.limited_commands(truth, (), asked, NOW)
    np.testing.assert_allclose(given[port], [0.1, -0.2, 0.0, 0.0])
    force = np.asarray(GYROS.force(truth, (), given, NOW))
    np.testing.assert_allclose(force[list(CRAFT.layout.wheel_velocities)], [0.1, -0.2, 0.0, 0.0])
    assert np.count_nonzero(force) == 2
    slower = GYROS.limited_commands(truth, (), commands(PortCommand(port, np.array([0.0, 0.0, 0.0, -0.1]))), NOW)
    np.testing.assert_allclose(slower[port], [0.0, 0.0, 0.0, -0.1])


def test_channels_say_which_limit_is_met():
    truth = truth_of(CRAFT, STATE)
    u = commands(
        PortCommand("gyros.gimbal_rate", np.array([1.0, 2.0, -3.0, 0.0])),
        PortCommand("gyros.spin_torque", np.array([0.1, -0.5, 0.0, 0.1])),
    )
    channels, values = GYROS.channels(CRAFT), GYROS.observe(truth, (), u, NOW)
    found = dict(zip([channel.name for channel in channels], values, strict=True))
    np.testing.assert_array_equal(found["gyros.gimbal_condition"], [0.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(found["gyros.spin_condition"], [0.0, 1.0, 0.0, 2.0])
    np.testing.assert_allclose(found["gyros.momentum"], GYROS.momentum(CRAFT, STATE))
    assert 0.0 < float(found["gyros.singularity"]) < (4.0 / 3.0) ** 3  # three eigenvalues with the sum 4
    for channel, value in zip(channels, values, strict=True):
        assert np.shape(value) == ((len(channel.components),) if channel.components else ())


def test_a_cluster_that_does_not_fit_is_rejected():
    with pytest.raises(ModelError, match="has no gyro 'cmg'"):
        ControlMomentGyros.of(CRAFT, "cmg")
    with pytest.raises(ModelError, match=r"is on 'gyro\.2', not on 'gyro\.1'"):
        ControlMomentGyros(("gyro.1",), ("gyro.2.wheel",)).check(CRAFT)
    with pytest.raises(ModelError, match="has 1 gimbals and 0 wheels"):
        ControlMomentGyros(("gyro.1",), ())
    with pytest.raises(ModelError, match="no wheel 'gone'"):
        ControlMomentGyros(("gyro.1",), ("gone",)).check(CRAFT)
    GYROS.check(CRAFT)
