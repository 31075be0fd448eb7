"""Flexible joints in runs: who is driven, braked, measured. A base of a test stand, so that closed forms are short."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.control import JointServo, JointSpline
from freefloat.sim.audit.frequencies import unresolved_rates

GEAR = ff.JointFlexibility(stiffness=200.0, motor_inertia=2e-3, ratio=50.0)  # [N m/rad], [kg m2]
LINK = 2.0  # inertia about the joint [kg m2]
RATE = np.sqrt(GEAR.stiffness / LINK)  # of the link against a motor that stands still [rad/s]


@pytest.fixture(scope="module")
def craft():
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 30.0))
    return hub.with_link("arm", parent="base", joint="revolute", mass=5.0, inertia=(1.5, 1.5, LINK), flexibility=GEAR)


@pytest.mark.slow  # the world with a brake is a long program
def test_a_brake_holds_the_motor_and_the_link_swings(craft):
    start = dataclasses.replace(craft.at_rest(), q=np.array([0.05, 0.0]))  # wound up
    world = ff.World.of(craft).hold_base().brake("arm", on=True)
    run = ff.simulate(world, state=start, duration=2.0, dt=1e-3)
    t = run["time"].values
    assert np.max(np.abs(run["motors.position"].values)) < 1e-13
    # RK4 at w dt = 0.01: 2e-9 of the amplitude after twenty radians.
    assert np.max(np.abs(run["joints.position"].values[:, 0] - 0.05 * np.cos(RATE * t))) < 1e-8 * 0.05
    assert run.audit.holds


@pytest.fixture(scope="module")
def driven(craft):
    """A servo around the motor follows a spline; the link hangs on the gear."""
    spline = JointSpline.through(craft, [(0.0,), (30.0,)], durations=[1.0])
    servo = JointServo(craft, spline, bandwidth=40.0)
    others = ff.sensors.Ideal(("base.velocity", "base.rate", "base.position", "base.attitude"))
    parts = (servo, ff.sensors.MotorEncoder(), others)
    return ff.simulate(ff.World.of(craft).hold_base(), *parts, duration=3.0, dt=1e-3)


@pytest.mark.slow
def test_a_servo_that_sees_the_motor_moves_the_motor(driven):
    motor, joint = (np.rad2deg(driven[f"{name}.position"].values[:, 0]) for name in ("motors", "joints"))
    late = driven["time"].values > 1.5
    # The servo takes the gear as stiff: the link that swings pulls the motor along a little.
    assert np.max(np.abs(motor[late] - 30.0)) < 0.2
    swing = joint[late] - 30.0
    assert np.max(np.abs(swing)) > 0.5
    assert driven.audit.holds
    crossings = np.flatnonzero(np.diff(np.sign(swing)))
    period = 2.0 * np.mean(np.diff(driven["time"].values[late][crossings]))
    assert 2.0 * np.pi / period == pytest.approx(RATE, rel=0.05)


@pytest.mark.slow
def test_prescribed_rates_are_those_of_the_motor(craft):
    spline = JointSpline.through(craft, [(0.0,), (30.0,)], durations=[0.5])
    run = ff.simulate(ff.World.of(craft).hold_base(), spline, duration=1.0, dt=1e-3)
    assert np.rad2deg(run["motors.position"].values[-1, 0]) == pytest.approx(30.0, abs=1e-9)
    assert np.max(np.abs(run["motors.torsion"].values[run["time"].values > 0.5])) > 0.005
    assert run.audit.holds


def test_a_step_that_cannot_follow_a_gear_is_told(craft):
    stiff = craft.with_value("arm.flexibility.stiffness", 1e6)
    system, _ = ff.Experiment.of(stiff, duration=0.01, dt=0.01).begin()
    (sentence,) = unresolved_rates(system, (stiff.at_rest(),))
    assert "arm.gear: dt = 0.01 s cannot follow its mode at" in sentence
    assert "leave its flexibility out" in sentence
