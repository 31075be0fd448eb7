"""Failures at a time: before it the run is the same, after it the thing has failed, and the books still balance."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import actuators, control, sensors
from freefloat.values import record

HUB = (
    ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, 24.0))
    .with_link("rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42))
    .with_link(
        "tip", parent="rod", joint="revolute", at=ff.Pose(position=np.array([1.0, 0.0, 0.0])), mass=2.0,
        com=(0.3, 0.0, 0.0), inertia=(0.01, 0.1, 0.1), axis=(0.0, 1.0, 0.0),
    )
)  # fmt: skip
for letter, direction in zip("xyz", np.eye(3), strict=True):
    HUB = HUB.with_wheel(f"wheel.{letter}", axis=direction, inertia=0.1)


@record
class Swing(ff.Software):
    """Pushes both joints to and fro."""

    def command(self, memory, y, clock):
        wanted = jnp.array([0.5, 0.3]) * jnp.sin(0.7 * clock.t)
        return ff.JointTorques(("rod", "tip"), 3.0 * (wanted - y["joints.position"]) - 2.0 * y["joints.rate"])


@record
class Rates(ff.Software):
    """Prescribes the rates of both joints."""

    def command(self, memory, y, clock):
        return ff.JointRates(("rod", "tip"), jnp.array([0.1, -0.2]) * jnp.cos(0.7 * clock.t))


def before_and_after(plain: ff.Run, failed: ff.Run, at: float) -> None:
    """Until the failure both are the same, to the rounding of a program with one branch more; afterwards not."""
    until = plain["time"].values <= at
    for name in ("state.q", "state.v"):
        np.testing.assert_allclose(plain[name].values[until], failed[name].values[until], rtol=1e-11, atol=1e-14)
        assert not np.array_equal(plain[name].values, failed[name].values)


@pytest.mark.parametrize("software", [Swing(), Rates(), Rates(period=0.5)], ids=["torques", "rates", "sampled rates"])
def test_a_stuck_joint_stops_and_stays(software):
    plain = ff.simulate(HUB, software, duration=6.0, dt=0.02)
    failed = ff.simulate(HUB, software, actuators.StuckJoint(joint="tip", at=3.0), duration=6.0, dt=0.02)
    before_and_after(plain, failed, 3.0)
    assert failed.audit.holds
    later = failed["time"].values > 3.0
    place = list(failed.data["joint"].values).index("tip")
    assert np.all(failed["joints.rate"].values[later, place] == 0.0)
    assert np.ptp(failed["joints.position"].values[later, place]) == 0.0
    assert np.ptp(failed["joints.position"].values[later, 1 - place]) > 0.05  # the other one goes on


def test_two_joints_may_stick_one_after_the_other():
    faults = actuators.StuckJoint(joint="tip", at=2.0), actuators.StuckJoint(joint="rod", at=4.0)
    run = ff.simulate(HUB, Swing(), *faults, duration=6.0, dt=0.02)
    assert run.audit.holds
    assert np.all(run["joints.rate"].values[run["time"].values > 4.0] == 0.0)
    # Momentum was and is zero, so the whole spacecraft stands still.
    np.testing.assert_allclose(run["base.rate"].values[-1], 0.0, atol=1e-9)  # RK4 keeps momentum to its own error


def test_a_stuck_joint_loses_the_energy_of_a_plastic_stop():
    """Momentum stays; what energy the stop takes is booked as work."""
    start = dataclasses.replace(HUB.at_rest(), v=np.r_[np.zeros(6), [50.0, 0.0, 0.0], [0.3, 0.4]])
    run = ff.simulate(HUB, actuators.StuckJoint(joint="rod", at=1.0), duration=2.0, dt=0.01, state=start)
    assert run.audit.holds
    lost = -np.diff(run["energy.kinetic"].values).min()
    assert lost > 1e-3
    np.testing.assert_allclose(run["energy.work"].values[-1], -lost, rtol=1e-6)
    np.testing.assert_allclose(run["momentum.angular"].values[-1], run["momentum.angular"].values[0], atol=1e-9)


def test_a_dead_wheel_gives_no_torque_and_spins_on():
    hold = control.AttitudeHold(craft=HUB, stiffness=1.0, damping=8.0, period=0.1)
    plain = ff.simulate(HUB, Swing(), hold, duration=6.0, dt=0.02)
    failed = ff.simulate(HUB, Swing(), hold, actuators.DeadWheel(wheel="wheel.z", at=3.0), duration=6.0, dt=0.02)
    before_and_after(plain, failed, 3.0)
    later = failed["time"].values > 3.0
    z = list(failed.data["wheel"].values).index("wheel.z")
    assert np.all(failed["wheels.torque"].values[later, z] == 0.0)
    assert np.ptp(failed["wheels.absolute_momentum"].values[later, z]) < 1e-9
    assert np.any(failed["wheels.torque"].values[later] != 0.0)
    assert failed.audit.holds
    assert any(said.startswith("failure.wheel.z: failed, 3.02 s to 6 s") for said in failed.conditions)


def test_a_wheel_may_recover():
    hold = control.AttitudeHold(craft=HUB, stiffness=1.0, damping=8.0, period=0.1)
    fault = actuators.DeadWheel(wheel="wheel.z", at=2.0, until=4.0)
    torque = ff.simulate(HUB, Swing(), hold, fault, duration=6.0, dt=0.02)["wheels.torque"]
    dead = (torque["time"].values > 2.0) & (torque["time"].values <= 4.0)
    values = torque.sel(wheel="wheel.z").values
    assert np.all(values[dead] == 0.0)
    assert np.any(values[~dead] != 0.0)


def test_a_blinded_sensor_keeps_its_last_measurement_and_its_time():
    parts = (
        sensors.StarTracker(period=0.5),
        sensors.Gyro(period=0.1),
        sensors.Ideal(),
        control.AttitudeFilter(period=0.1, patience=1.0),
        control.AttitudeHold(craft=HUB, stiffness=1.0, damping=8.0, period=0.1),
        Swing(),
    )
    plain = ff.simulate(HUB, *parts, duration=6.0, dt=0.02)
    failed = ff.simulate(HUB, *parts, actuators.BlindSensor(sensor="StarTracker", at=3.0), duration=6.0, dt=0.02)
    assert not np.any(plain["filter.condition"].values)
    told = failed["filter.condition"].values
    assert not np.any(told[failed["time"].values < 3.4])
    assert np.all(told[failed["time"].values > 4.0] == 1.0)  # the last fix came at 2.5 s


def test_a_thruster_that_stays_open_pushes_on():
    thrusters = actuators.Thrusters.from_nozzles(actuators.torque_pairs(arm=1.0, thrust=0.1))
    quiet = ff.simulate(HUB, thrusters, duration=4.0, dt=0.02)
    assert not np.any(quiet["thrusters.burning"].values)
    fault = actuators.OpenThruster(thruster="z+a", at=1.0, until=3.0)
    open_ = ff.simulate(HUB, thrusters, fault, duration=4.0, dt=0.02)
    assert open_.audit.holds
    # Two seconds at 0.1 N: thrust times time over exhaust velocity.
    used = 0.1 * 2.0 / (220.0 * 9.80665)
    np.testing.assert_allclose(open_["thrusters.propellant"].values[-1], used, rtol=1e-12)
    assert np.any(open_["impulse.linear"].values[-1])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (actuators.DeadWheel(wheel="wheel.w"), "wheel.w.*wheel.x, wheel.y, wheel.z"),
        (actuators.StuckJoint(joint="elbow"), "elbow.*rod, tip"),
        (actuators.StuckJoint(joint="rod", until=3.0), "may not recover"),
        (actuators.BlindSensor(sensor="camera"), "no sensor 'camera'.*ideal ones do not fail"),
        (actuators.OpenThruster(thruster="a"), "no thruster 'a'.*none"),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else "",
)
def test_a_failure_of_something_that_is_not_there_is_refused(fault, said):
    with pytest.raises(ff.ModelError, match=said):
        ff.simulate(HUB, fault, duration=1.0)
