"""Whole runs with gyros: slews, momentum, limits, two clusters, and who may drive a gimbal."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.library import with_gyro_pyramid

HUB = ff.Spacecraft.from_base("hub", mass=400.0, inertia=(60.0, 70.0, 50.0))  # [kg], [kg m2]
GYRO = {"spin_inertia": 0.05, "mass": 8.0, "inertia": (0.06, 0.05, 0.04)}  # [kg m2], [kg]
CRAFT = with_gyro_pyramid(HUB, radius=0.3, **GYRO)
GYROS = ff.actuators.ControlMomentGyros.of(CRAFT)
SPEED = 400.0  # [rad/s]
H = 0.05 * SPEED  # of one gyro [N m s]
AWAY = np.array([np.cos(0.3), 0.6 * np.sin(0.3), 0.8 * np.sin(0.3), 0.0])  # 34 deg from the reference


def steering(craft: ff.Spacecraft, stiffness: float = 5.0, damping: float = 30.0) -> ff.control.GyroSteering:
    attitude = ff.control.AttitudeHold(
        craft, stiffness, damping, reference=np.array([1.0, 0.0, 0.0, 0.0]), actuator="base torque"
    )
    return ff.control.GyroSteering(craft, ff.actuators.ControlMomentGyros.of(craft), attitude)


def spun_up(craft: ff.Spacecraft, quaternion=AWAY) -> ff.State:
    start = craft.at_rest(at=ff.Pose.from_quaternion(quaternion, np.zeros(3)))
    return craft.in_motion(start, wheels=np.full(len(craft.wheels), SPEED))


@ff.record
class Turning(ff.Software):
    """Constant gimbal rates [rad/s], and torques of the wheels' motors [N m] where given."""

    rates: np.ndarray
    torques: np.ndarray | None = None
    gyros: str = ff.static(default="gyros")

    def command(self, memory, y, clock):
        turn = ff.PortCommand(f"{self.gyros}.gimbal_rate", jnp.asarray(self.rates), unit="rad/s")
        if self.torques is None:
            return turn
        return turn, ff.PortCommand(f"{self.gyros}.spin_torque", jnp.asarray(self.torques), unit="N m")


@pytest.fixture(scope="module")
def slew() -> ff.Run:
    return ff.simulate(CRAFT, GYROS, steering(CRAFT), state=spun_up(CRAFT), duration=60.0, dt=0.05)


def test_gyros_slew_the_base_and_come_back_to_rest(slew):
    """What is left after 60 s decays as exp(-t / 8 s) and more: 34 deg become less than 0.02 deg."""
    np.testing.assert_allclose(slew["base.attitude"].values[-1], [1.0, 0.0, 0.0, 0.0], atol=2e-4)
    assert np.max(np.linalg.norm(slew["base.rate"].values, axis=1)) > 0.02  # [rad/s]; it did move
    assert slew.audit.holds


def test_no_momentum_comes_from_outside(slew):
    """Zero at the start; RK4 at 50 ms loses 5e-12 N m s of the 20 N m s that each gyro turns."""
    assert np.max(np.abs(slew["momentum.angular"].values)) < 1e-9 * H
    assert np.max(np.abs(slew["gyros.momentum"].values)) > 0.1 * H  # while they do hold momentum


def test_wheels_without_torque_keep_their_absolute_spin(slew):
    spin = slew["wheels.absolute_momentum"].values
    assert np.max(np.abs(spin - spin[0])) < 1e-9 * H
    assert np.max(np.abs(np.diff(slew["wheels.speed"].values, axis=0))) > 0.0  # relative speeds do change
    np.testing.assert_array_equal(slew["wheels.torque"].values, 0.0)


def test_steering_gives_what_is_wanted_far_from_singular_states(slew):
    """det(A A^T) stays near 32/27, where lambda is 1e-7."""
    assert np.min(slew["gyros.singularity"].values) > 1.1
    missed = np.max(np.abs(slew["gyros.missed_torque"].values))
    assert missed < 1e-6 * np.max(np.abs(slew["gyros.wanted_torque"].values))


def test_gimbals_turn_no_faster_than_their_limit():
    craft = with_gyro_pyramid(HUB, radius=0.3, max_gimbal_rate=0.02, **GYRO)
    run = ff.simulate(
        craft, ff.actuators.ControlMomentGyros.of(craft), steering(craft), state=spun_up(craft), duration=5.0, dt=0.05
    )
    rates = run["joints.rate"].values
    assert np.max(np.abs(rates)) <= 0.02
    assert np.max(np.abs(rates)) == pytest.approx(0.02, rel=1e-12)
    assert np.any(run["gyros.gimbal_condition"].values == 1.0)
    assert any("gyros.gimbal_condition" in line and "rate limit" in line for line in run.conditions)


def test_a_wheel_on_a_gimbal_stops_at_its_momentum_limit():
    """Inside a step: the torque of 0.2 N m fills 1 N m s after nearly 5 s, in a hold of 10 s."""
    craft = with_gyro_pyramid(HUB, max_momentum=21.0, **GYRO)
    software = Turning(np.zeros(4), np.array([0.2, 0.0, 0.0, 0.0]), period=10.0)
    run = ff.simulate(
        craft, ff.actuators.ControlMomentGyros.of(craft), software, state=spun_up(craft), duration=10.0, dt=0.1
    )
    spin = 0.05 * run["wheels.speed"].values[:, 0]
    assert np.max(spin) <= 21.0 * (1.0 + 1e-9)
    assert spin[-1] == pytest.approx(21.0, rel=1e-9)
    (event,) = run.events
    assert (event["name"], event["kind"]) == ("gyro.1.wheel", "wheel full")
    assert run["gyros.spin_condition"].values[-1, 0] == 2.0


def test_two_clusters_are_commanded_apart():
    """The second cluster's momenta cancel as its gimbals turn alike in pairs; only it moves."""
    craft = with_gyro_pyramid(CRAFT, "spare", **GYRO)
    first = ff.actuators.ControlMomentGyros.of(craft, "gyro.")
    second = ff.actuators.ControlMomentGyros.of(craft, "spare.", name="spare")
    rates = np.array([0.1, -0.2, 0.3, 0.0])
    run = ff.simulate(
        craft,
        first,
        second,
        Turning(np.zeros(4), period=1.0, name="first"),
        Turning(rates, gyros="spare", period=1.0, name="second"),
        state=spun_up(craft),
        duration=2.0,
        dt=0.05,
    )
    np.testing.assert_allclose(run["joints.position"].values[-1], [0.0] * 4 + list(2.0 * rates), atol=1e-12)
    assert run["spare.momentum"].values.shape == run["gyros.momentum"].values.shape
    assert np.max(np.abs(run["spare.momentum"].values)) > 1.0


def test_a_gimbal_has_one_master():
    """Rates by the cluster and a torque of the joint's own motor: an error that names joint and both."""
    both = (Turning(np.zeros(4), period=1.0, name="steering"), TorqueOnGimbal(period=1.0, name="motor"))
    with pytest.raises((ff.ModelError, ff.SoftwareError), match=r"gyro\.1"):
        ff.simulate(CRAFT, GYROS, *both, state=spun_up(CRAFT), duration=1.0, dt=0.1)


@ff.record
class TorqueOnGimbal(ff.Software):
    """A torque of the first gimbal's own motor."""

    def command(self, memory, y, clock):
        return ff.JointTorques(("gyro.1",), jnp.array([0.1]))


def test_leaving_a_singular_state():
    """From the elliptic state of the pyramid: the plain inverse stays there, the one with sines turns the base.

    Also that one depends on the sense: with as small a torque the other way it has not left after 20 s.
    """
    start = CRAFT.in_motion(CRAFT.at_rest(np.deg2rad([-90.0, 0.0, 90.0, 0.0])), wheels=np.full(4, SPEED))
    turned = np.array([np.cos(0.1), np.sin(0.1), 0.0, 0.0])  # wants a torque along x, which is singular
    roll = {}
    for dither in (0.0, 0.1):
        software = steering(CRAFT)
        attitude = dataclasses.replace(software.attitude, reference=turned)
        software = dataclasses.replace(software, dither=dither, attitude=attitude)
        run = ff.simulate(CRAFT, GYROS, software, state=start, duration=20.0, dt=0.05)
        roll[dither] = 2.0 * np.arcsin(run["base.attitude"].values[-1, 1])
    assert abs(roll[0.0]) < 1e-4  # [rad]
    assert roll[0.1] == pytest.approx(0.2, abs=0.01)


def test_failures_wrap_a_cluster():
    """A gimbal that sticks, a wheel whose motor is dead, and gimbals that follow half of each rate, all from 1 s on."""
    rates, torques = np.array([0.1, -0.2, 0.3, 0.05]), np.array([0.1, 0.1, 0.0, 0.0])
    failures = (
        ff.actuators.StuckJoint(joint="gyro.1", at=1.0),
        ff.actuators.DeadWheel(wheel="gyro.2.wheel", at=1.0),
        ff.actuators.WeakActuator(actuator="gyros", share=0.5, at=1.0),
    )
    angles, spins = [], []
    for failure in failures:
        software = Turning(rates, torques, period=1.0)
        run = ff.simulate(CRAFT, GYROS, software, failure, state=spun_up(CRAFT), duration=2.0, dt=0.05)
        angles.append(run["joints.position"].values[-1])
        gained = run["wheels.absolute_momentum"].values
        spins.append(gained[-1] - gained[0])
    np.testing.assert_allclose(angles[0], [0.1, -0.4, 0.6, 0.1], atol=1e-12)
    np.testing.assert_allclose(angles[1], [0.2, -0.4, 0.6, 0.1], atol=1e-12)
    np.testing.assert_allclose(angles[2], [0.15, -0.3, 0.45, 0.075], atol=1e-12)
    # A motor's torque is all that changes the absolute spin: 0.1 N m for 2 s, or for 1 s.
    np.testing.assert_allclose(spins[1], [0.2, 0.1, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(spins[2], [0.15, 0.15, 0.0, 0.0], atol=1e-9)
