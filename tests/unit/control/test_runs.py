"""Software in runs: momentum with wheels, motors and their limits, thrusters, filter; and trouble that needs a name."""

import dataclasses

import numpy as np
import pytest

from freefloat.actuators import Thrusters
from freefloat.actuators.thrusters import STANDARD_GRAVITY, torque_pairs
from freefloat.control import (
    AttitudeFilter,
    AttitudeHold,
    JointServo,
    JointSpline,
    Line,
    MomentumUnloading,
    ResolvedAcceleration,
    ResolvedMotion,
)
from freefloat.dynamics import momentum_about_origin
from freefloat.effects import Friction, JointFriction
from freefloat.library import ets7
from freefloat.model import Spacecraft
from freefloat.sensors import Gyro, Imperfection, StarTracker
from freefloat.sim import simulate

Q0_DEG = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)
LINE = Line(direction=(1.0, 0.0, 0.0), length=0.2, speed=0.01)
HUB = Spacecraft.from_base("hub", mass=500.0, inertia=(200.0, 300.0, 250.0))  # [kg], [kg m2]
for _letter, _axis in zip("xyz", np.eye(3), strict=True):
    HUB = HUB.with_wheel(f"wheel.{_letter}", axis=_axis, inertia=0.05, max_torque=0.2)


@pytest.mark.slow
def test_total_angular_momentum_with_wheels_is_constant() -> None:
    """With spinning wheels under control and a moving arm, to 1e-10 of the momentum there is."""
    craft = ets7(wheels=True)
    start = craft.at_rest(np.deg2rad(Q0_DEG))
    start = dataclasses.replace(start, v=start.v + np.concatenate([np.zeros(6), [40.0, -60.0, 30.0], np.zeros(6)]))
    arm = ResolvedMotion(craft=craft, frame="hand", path=LINE)
    run = simulate(craft, arm, AttitudeHold(craft=craft, period=0.05), state=start, duration=22.0, dt=0.05)
    L = run["momentum.angular_com"].values
    size = float(np.linalg.norm(np.asarray(momentum_about_origin(craft, start))[3:]))
    assert size > 5.0  # [N m s], nearly all of it in the wheels
    assert np.max(np.linalg.norm(L - L[0], axis=1)) < 1e-10 * size
    # The arm still draws its line: the software knows what the wheels carry.
    assert np.max(np.abs(run["hand.position_error"].values)) < 1e-9


@pytest.fixture(scope="module")
def servo_craft() -> Spacecraft:
    craft = ets7()
    for k in range(1, 7):
        craft = craft.with_value(f"arm.{k}.limits.effort", 20.0).with_value(f"arm.{k}.limits.rate", 0.1)
    return craft


def _servo(craft: Spacecraft, **settings) -> JointServo:
    spline = JointSpline.through(ets7(), [Q0_DEG, (3.0, 7.0, 20.0, -20.0, -3.0, 1.0)], [10.0])
    return JointServo(craft=craft, arm=spline, bandwidth=10.0, **settings)


def _run_servo(craft: Spacecraft, *effects: JointFriction, **settings):
    servo = _servo(craft, **settings)
    return simulate(craft, servo, *effects, joints_deg=Q0_DEG, duration=12.0, dt=0.02, check=False)


@pytest.mark.slow
def test_friction_holds_the_joints_back_unless_the_motors_know_it(servo_craft: Spacecraft) -> None:
    friction = Friction(coulomb=2.0, viscous=1.0)  # [N m], [N m s/rad]
    craft = servo_craft
    for joint in craft.layout.moving_joints:
        craft = craft.with_value(f"{joint}.rotor_inertia", 20.0)  # [kg m2]
    smooth, rough, known = (
        _run_servo(craft, JointFriction(friction=rubbing), friction=rubbing, compensation=share)
        for rubbing, share in ((Friction(), 0.0), (friction, 0.0), (friction, 1.0))
    )
    for run in (smooth, rough, known):
        assert run.completed
        assert run.conditions == ()
    lag = {name: np.abs(run["joints.tracking_error"].values) for name, run in (("rough", rough), ("known", known))}
    # A moving joint lags until the spring of the loop carries the friction: 2 N m over at least 20 kg m2 (10 rad/s)^2.
    assert 2e-4 < lag["rough"].max() < 2.2 / (20.0 * 10.0**2)
    assert lag["known"].max() < 0.05 * lag["rough"].max()
    against = rough["joints.friction"].values * rough["joints.rate"].values
    assert np.all(against <= 0.0)  # friction only ever takes
    assert np.abs(rough["joints.friction"].values).max() > 1.9
    more = np.abs(known["joints.motor_torque"].values).max() - np.abs(smooth["joints.motor_torque"].values).max()
    assert more == pytest.approx(2.0, rel=0.1)  # the motors carry the friction
    np.testing.assert_allclose(
        np.rad2deg(known["joints.position"].values[-1]), (3.0, 7.0, 20.0, -20.0, -3.0, 1.0), atol=2e-3
    )


def test_motors_at_their_torque_limit_say_so_and_stay_finite(servo_craft: Spacecraft) -> None:
    weak = servo_craft
    for k in range(1, 7):
        weak = weak.with_value(f"arm.{k}.limits.effort", 0.02).with_value(f"arm.{k}.limits.rate", 0.02)
    run = _run_servo(weak)
    assert run.completed
    assert np.all(np.isfinite(run["joints.position"].values))
    assert np.max(np.abs(run["joints.torque"].values)) <= 0.02 + 1e-12
    told = " ".join(run.conditions)
    assert "torque limit" in told
    assert "joints.condition" in told


def test_a_joint_at_its_position_limit_stops_there(servo_craft: Spacecraft) -> None:
    stop = np.deg2rad(15.0)
    run = _run_servo(servo_craft.with_value("arm.3.limits.upper", stop))
    assert any("servo.condition" in line and "position limit" in line for line in run.conditions)
    overshoot = np.max(run["joints.position"].values[:, 2]) - stop
    assert overshoot < 0.1 * 0.02  # [rad]: one tick at the largest rate


@pytest.mark.slow
def test_resolved_acceleration_draws_the_line_with_momentum() -> None:
    """Torques computed in hand space, the base drifting and turning at the start: the loop closes the initial error."""
    craft = ets7()
    start = craft.at_rest(np.deg2rad(Q0_DEG))
    start = dataclasses.replace(
        start, v=start.v + np.concatenate([[0.002, 0.0, -0.001, 1e-3, -5e-4, 8e-4], np.zeros(6)])
    )
    software = ResolvedAcceleration(follow=ResolvedMotion(craft=craft, frame="hand", path=LINE), bandwidth=2.0)
    run = simulate(craft, software, state=start, duration=22.0, dt=0.02, check=False)
    error = np.linalg.norm(run["hand.position_error"].values, axis=1)
    # The hand starts with the base's velocity: at most 3.6 mm/s / (e w) off, then exactly on the line.
    assert error.max() < 2e-3
    assert error[-1] < 1e-8


def test_a_singular_arm_is_damped_and_says_so() -> None:
    """Stretched until the elbow is straight: the path leaves the workspace."""
    craft = ets7()
    # Arm nearly straight along x and asked to go 0.8 m farther than it can.
    path = Line(direction=(1.0, 0.0, 0.0), length=1.2, speed=0.06)
    software = ResolvedMotion(craft=craft, frame="hand", path=path, singular_below=0.05)
    run = simulate(craft, software, joints_deg=(0.0, 60.0, -40.0, -20.0, 0.0, 0.0), duration=22.0, dt=0.05, check=False)
    assert np.all(np.isfinite(run["joints.position"].values))
    assert "nearly singular, rates damped" in " ".join(run.conditions)
    assert np.max(np.abs(run["joints.rate"].values)) < 0.06 / 0.05 + 1.0


def test_full_wheels_say_so_and_thrusters_unload_them() -> None:
    craft = HUB
    for letter in "xyz":
        craft = craft.with_value(f"wheel.{letter}.max_momentum", 4.0)
    start = craft.at_rest()
    start = dataclasses.replace(start, v=start.v + np.concatenate([np.zeros(6), [0.0, 79.9, 0.0]]))  # 3.995 N m s in y
    thrusters = Thrusters.from_nozzles(torque_pairs(arm=1.0, thrust=1.0, shortest_pulse=0.02), specific_impulse=220.0)
    unloading = MomentumUnloading(craft=craft, thrusters=thrusters, start=3.0, stop=0.3, torque=0.1)
    hold = AttitudeHold(craft=craft, stiffness=20.0, damping=100.0, period=0.1)
    run = simulate(craft, thrusters, hold, unloading, state=start, duration=60.0, dt=0.02)
    stored = np.linalg.norm(run["wheels.momentum"].values, axis=1)
    assert stored[-1] < 0.4  # it stops below 0.3; the base then gives back what it still turns with
    assert np.rad2deg(2 * np.max(np.linalg.norm(run["base.attitude"].values[:, 1:], axis=1))) < 0.6
    # Every newton metre second costs impulse / arm: 3.7 N m s with 1 m arms.
    taken = stored[0] - stored[-1]
    used = float(run["thrusters.propellant"].values[-1])
    assert used == pytest.approx(taken / (1.0 * 220.0 * STANDARD_GRAVITY), rel=0.05)
    burning = run["thrusters.burning"].values
    assert set(np.unique(burning)) == {0.0, 1.0}
    # Pairs push without a net force.
    np.testing.assert_allclose(run["momentum.linear"].values, 0.0, atol=1e-9)


def test_saturated_wheels_let_the_attitude_go_and_say_so() -> None:
    craft = HUB.with_value("wheel.y.max_momentum", 0.5)
    start = craft.at_rest()
    # More momentum than the wheel can hold: 300 kg m2 at 5 mrad/s is 1.5 N m s.
    start = dataclasses.replace(start, v=start.v + np.concatenate([[0, 0, 0, 0, 5e-3, 0], np.zeros(3)]))
    run = simulate(craft, AttitudeHold(craft=craft, period=0.1), state=start, duration=40.0, dt=0.05)
    assert run.completed
    assert any("momentum limit" in line and "wheel.y" in line for line in run.conditions)
    spin = 0.05 * run["wheels.speed"].values[:, 1]
    assert np.max(np.abs(spin)) < 0.5 * (1.0 + 1e-9)
    assert [event["kind"] for event in run.events] == ["wheel full"]


def test_thrusters_that_cannot_turn_the_base_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot make the torque"):
        Thrusters.from_nozzles(torque_pairs(arm=1.0, thrust=1.0)[:8])


def test_filter_finds_attitude_and_bias_and_survives_lost_stars() -> None:
    bias, star_noise = np.array([2e-5, -1e-5, 3e-5]), 1e-4
    gyro = Gyro(bias=bias, noise=1e-5, imperfection=Imperfection(seed=5), period=0.1)
    stars = StarTracker(
        cross_noise=star_noise, roll_noise=star_noise, imperfection=Imperfection(seed=5, dropout=0.3), period=0.25
    )
    filtered = AttitudeFilter.steady(0.25, star_noise, gyro_noise=1e-5 * 0.1**0.5, bias_walk=2e-7, period=0.1)
    hold = AttitudeHold(craft=HUB, stiffness=5.0, damping=60.0, period=0.1)
    run = simulate(HUB, gyro, stars, filtered, hold, state=HUB.at_rest(), duration=600.0, dt=0.05)
    late = run["time"].values > 400.0
    error = run["filter.attitude_error"].values[late]
    assert np.sqrt(np.mean(error**2)) < 0.5 * star_noise  # better than a single star fix
    np.testing.assert_allclose(run["filter.bias"].values[-1], bias, atol=6e-6)
    assert run.conditions == ()
    blind = dataclasses.replace(stars, imperfection=Imperfection(seed=5, dropout=1.0))
    run = simulate(HUB, gyro, blind, filtered, hold, state=HUB.at_rest(), duration=60.0, dt=0.05)
    assert "no stars, gyro only" in " ".join(run.conditions)
    assert np.all(np.isfinite(run["base.attitude"].values))
