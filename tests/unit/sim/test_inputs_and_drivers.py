"""Inputs are seen from the start and recorded; commands without an actuator, or with two masters, are refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff

CRAFT = (
    ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
    .with_link("rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42))
    .with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.1)
)


@ff.record
class Spring(ff.Software):
    """Pulls the rod to where it was first measured."""

    def begin(self, y):
        return y["joints.position"]

    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), memory - y["joints.position"])


@ff.record
class Burn(ff.Software):
    """Burns all thrusters that it believes in."""

    count: int = ff.static(default=12)

    def command(self, memory, y, clock):
        return ff.ThrusterDuty(jnp.ones(self.count))


def test_software_begins_with_the_first_input_and_the_input_is_recorded() -> None:
    told = np.linspace(0.3, 0.4, 10)[:, None]
    run = ff.simulate(CRAFT, Spring(), inputs={"joints.position": told}, duration=0.1, dt=0.01)
    # A record shows the end of a step: what came in during it.
    np.testing.assert_array_equal(run["input.joints.position"].values[1:], told)
    # It holds 0.3, the first input, not the true 0: the torque is exactly the difference.
    np.testing.assert_allclose(run["joints.motor_torque"].values[1:, 0], 0.3 - told[:, 0], atol=1e-15)


def test_a_named_sensor_is_read_by_its_name_at_the_start() -> None:
    encoder = ff.sensors.JointEncoder(offset=0.1, name="left")

    @ff.record
    class Named(Spring):
        """The same with another encoder's name."""

        def begin(self, y):
            return y["left.joints.position"]

    software = Named()
    assert ff.check_software(software, CRAFT, encoder, ff.sensors.Ideal()) == []


def test_two_of_one_kind_cannot_drive_one_joint() -> None:
    with pytest.raises(ff.SoftwareError, match="Joint 'rod' is driven by two parts, Spring and Spring"):
        ff.simulate(CRAFT, Spring(), Spring(), duration=0.1)


def test_thrusters_that_are_not_there_are_refused() -> None:
    with pytest.raises(ff.SoftwareError, match="no actuator of spacecraft 'hub' accepts"):
        ff.simulate(CRAFT, Burn(), duration=0.1)
    pairs = ff.actuators.Thrusters.from_nozzles(ff.actuators.torque_pairs(arm=1.0, thrust=0.1))
    with pytest.raises(ff.SoftwareError, match="must give 12 numbers"):
        ff.simulate(CRAFT, pairs, Burn(count=3), duration=0.1)
    assert ff.check_software(Burn(), CRAFT, pairs) == []
