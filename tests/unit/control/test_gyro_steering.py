"""Steering of gyros by its methods: wanted torque, singular states. Whole runs are in tests/physics."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.actuators.control_moment_gyros import ControlMomentGyros
from freefloat.control import AttitudeHold, GyroSteering, HoldJoints
from freefloat.library import with_gyro_pyramid
from freefloat.model import Spacecraft, State
from freefloat.sensors import IdealMeasurements
from freefloat.values import ModelError
from support.compiling import compiled
from support.ports import clock_at, truth_of

HUB = Spacecraft.from_base("hub", mass=400.0, inertia=(60.0, 70.0, 50.0))  # [kg], [kg m2]
CRAFT = with_gyro_pyramid(HUB, spin_inertia=0.05, mass=8.0, inertia=(0.06, 0.05, 0.04))
GYROS = ControlMomentGyros.of(CRAFT)
ATTITUDE = AttitudeHold(CRAFT, stiffness=5.0, damping=30.0, actuator="base torque")
STEERING = GyroSteering(CRAFT, GYROS, ATTITUDE)
SPEEDS = np.array([400.0, 410.0, 390.0, 400.0])  # [rad/s]
START = clock_at(0.0, hold=0.1)


def measured(angles_deg, rate=(0.0, 0.0, 0.0), speeds=SPEEDS) -> IdealMeasurements:
    state = CRAFT.in_motion(CRAFT.at_rest(np.deg2rad(angles_deg)), rate=rate, wheels=speeds)
    return IdealMeasurements.of(CRAFT, state)


def test_rates_give_the_wanted_torque_far_from_singular_states(rng):
    """Missing by lambda (A A^T)^-1 with lambda = 0.01 exp(-10 det), below 1e-4 here; also on a base that turns."""
    plain = dataclasses.replace(STEERING, dither=0.0)
    for rate in (np.zeros(3), 0.02 * rng.normal(size=3)):
        y, wanted = measured([10.0, -20.0, 5.0, 15.0], rate), rng.normal(size=3)
        given = plain.given_torque(plain.steer(jnp.asarray(wanted), y, jnp.zeros(())), y)
        np.testing.assert_allclose(given, wanted, atol=1e-4 * np.linalg.norm(wanted))
    exact = dataclasses.replace(plain, robustness=1e-15)
    np.testing.assert_allclose(
        exact.given_torque(exact.steer(jnp.asarray(wanted), y, jnp.zeros(())), y), wanted, atol=1e-12
    )


def test_the_torque_on_the_base_is_that_of_the_equations_of_motion():
    """Inverse dynamics with these gimbal rates, wheels without torque, the base held: what holds it is minus ours."""
    from freefloat.dynamics import inverse_dynamics

    rate, wanted = np.array([0.02, -0.01, 0.015]), np.array([0.3, -0.5, 0.2])
    y = measured([10.0, -20.0, 5.0, 15.0], rate)
    state = CRAFT.in_motion(CRAFT.at_rest(np.deg2rad([10.0, -20.0, 5.0, 15.0])), rate=rate, wheels=SPEEDS)
    rates = STEERING.steer(jnp.asarray(wanted), y, jnp.zeros(()))
    places = list(CRAFT.layout.joint_velocities)

    def holding(gimbal_rates, speeds):
        v = np.array(state.v)
        v[places], v[list(CRAFT.layout.wheel_velocities)] = gimbal_rates, speeds
        return np.asarray(inverse_dynamics(CRAFT, np.asarray(state.q), v, np.zeros(CRAFT.layout.nv)))[3:6]

    # Of the torque that holds the base, what the spins need: without spin the gimbals' own inertia is left.
    due_to_spins = holding(rates, SPEEDS) - holding(rates, np.zeros(4))
    np.testing.assert_allclose(due_to_spins, -STEERING.given_torque(rates, y), atol=1e-12)


def test_native_code_steers_as_plain_jax_does(rng):
    """Sines and exponentials of the two libraries differ by a unit in the last place."""
    q, v = rng.uniform(-1.0, 1.0, size=4), np.zeros(CRAFT.layout.nv)
    v[3:6], v[list(CRAFT.layout.wheel_velocities)] = 0.02 * rng.normal(size=3), SPEEDS

    def steer(torque, q, v, t):
        state = State(jnp.zeros(3), jnp.array([1.0, 0.0, 0.0, 0.0]), q, v)
        return STEERING.steer(torque, IdealMeasurements.of(CRAFT, state), t)

    arguments = np.array([0.3, -0.5, 0.2]), q, v, np.asarray(0.7)
    np.testing.assert_allclose(compiled(steer)(*arguments), steer(*map(jnp.asarray, arguments)), rtol=1e-12)


def test_a_singular_state_needs_the_dither():
    """At (-90, 0, 90, 0) deg no rates give torque about x: the plain inverse does nothing, the other leads out."""
    y, along = measured([-90.0, 0.0, 90.0, 0.0], speeds=np.full(4, 400.0)), jnp.array([1.0, 0.0, 0.0])
    plain = dataclasses.replace(STEERING, dither=0.0)
    assert np.max(np.abs(plain.steer(along, y, jnp.asarray(0.3)))) < 1e-12
    led = np.asarray(STEERING.steer(along, y, jnp.asarray(0.3)))
    assert np.all(np.isfinite(led))
    assert 1e-3 < np.max(np.abs(led)) < 10.0
    still = STEERING.steer(along, measured([0.0] * 4, speeds=np.zeros(4)), jnp.zeros(()))
    np.testing.assert_array_equal(still, 0.0)  # wheels at rest: nothing to steer


def test_it_takes_the_torque_of_other_software_and_records_what_is_missed():
    y = measured([10.0, -20.0, 5.0, 15.0], (0.01, 0.0, 0.0))
    memory = STEERING.begin(y)
    command = STEERING.command(STEERING.remember(memory, y, START), y, START)
    assert (command.port, command.unit) == ("gyros.gimbal_rate", "rad/s")
    wanted, missed = STEERING.observe(memory, y, START, truth_of(CRAFT, CRAFT.at_rest()))
    np.testing.assert_allclose(wanted, [-30.0 * 0.01, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(STEERING.given_torque(command.values, y), wanted - missed, atol=1e-12)
    assert np.linalg.norm(missed) < 1e-3 * np.linalg.norm(wanted)


def test_steering_that_cannot_work_is_rejected():
    other, y = dataclasses.replace(STEERING, attitude=HoldJoints(("gyro.1",))), measured([0.0] * 4)
    with pytest.raises(ModelError, match="commands no torque on the base"):
        other.command(other.begin(y), y, START)
    with pytest.raises(ModelError, match="needs a period"):
        GyroSteering(CRAFT, GYROS, ATTITUDE, period=None)
    with pytest.raises(ModelError, match="has no moving joint"):
        GyroSteering(HUB, GYROS, ATTITUDE)
