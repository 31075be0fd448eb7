"""Magnetorquers by their methods: limits, torque, channels, allocation. Whole runs are in tests/physics."""

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.actuators.magnetorquers import Magnetorquers
from freefloat.model import PortCommand, PortCommands, Spacecraft
from freefloat.model.magnetic_field import UniformMagneticField
from freefloat.spatial import Pose
from freefloat.values import ModelError
from support import trees
from support.ports import clock_at, commands_to, truth_of

HUB = Spacecraft.from_base("hub", mass=20.0, inertia=(0.5, 0.6, 0.7)).with_link(
    "flap", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1)
)
FIELD = UniformMagneticField(flux_density=(1e-5, -2e-5, 3e-5))  # [T]
RODS = Magnetorquers(FIELD, max_dipole=np.array([5.0, 5.0, 2.0]))
NOW = clock_at(0.0)


def commands(torquers: Magnetorquers, *given: PortCommand) -> PortCommands:
    return commands_to(torquers, HUB, *given)


def test_they_accept_one_port_by_their_name():
    (port,) = RODS.accepts(HUB)
    assert (port.name, port.unit, port.parts, port.drives) == ("torquers.dipole", "A m2", ("x", "y", "z"), ())
    (second,) = Magnetorquers(FIELD, name="spare").accepts(HUB)
    assert second.name == "spare.dipole"


def test_torque_is_across_dipole_and_field_without_a_force(rng):
    """m x B in base axes, however the base is turned and placed; nothing on the joint."""
    for _ in range(3):
        X_NB, dipole = trees.draw_pose(rng), rng.normal(size=3)
        truth = truth_of(HUB, HUB.at_rest((0.3,), at=X_NB))
        u = commands(RODS, PortCommand("torquers.dipole", dipole))
        force = np.asarray(RODS.force(truth, (), u, NOW))
        B = np.asarray(X_NB.R).T @ FIELD.flux_density
        np.testing.assert_allclose(force[3:6], np.cross(dipole, B), atol=1e-20)
        np.testing.assert_array_equal(force[[0, 1, 2, 6]], 0.0)
        assert abs(force[3:6] @ B) < 1e-24
        assert abs(force[3:6] @ dipole) < 1e-20


def test_the_sign_is_that_of_a_compass_needle():
    """A needle along x in a field along y turns about +z, towards the field."""
    truth = truth_of(HUB, HUB.at_rest())
    rods = Magnetorquers(UniformMagneticField(flux_density=(0.0, 3e-5, 0.0)))
    u = commands(rods, PortCommand("torquers.dipole", np.array([2.0]), names=("x",)))
    np.testing.assert_allclose(rods.force(truth, (), u, NOW)[3:6], [0.0, 0.0, 6e-5], atol=1e-20)


def test_each_rod_has_its_largest_dipole():
    truth = truth_of(HUB, HUB.at_rest())
    asked = commands(RODS, PortCommand("torquers.dipole", np.array([-9.0, 4.0, 2.5])))
    given = RODS.limited_commands(truth, (), asked, NOW)
    np.testing.assert_array_equal(given["torquers.dipole"], [-5.0, 4.0, 2.0])
    by_name = dict(zip([c.name for c in RODS.channels(HUB)], RODS.observe(truth, (), asked, NOW), strict=True))
    np.testing.assert_array_equal(by_name["torquers.dipole"], [-5.0, 4.0, 2.0])
    np.testing.assert_array_equal(by_name["torquers.condition"], [1.0, 0.0, 1.0])
    np.testing.assert_allclose(by_name["torquers.magnetic_field"], FIELD.flux_density)
    np.testing.assert_allclose(by_name["torquers.torque"], np.cross([-5.0, 4.0, 2.0], FIELD.flux_density), atol=1e-20)
    one = commands(RODS, PortCommand("torquers.dipole", np.array([7.0]), names=("z",)))
    np.testing.assert_array_equal(RODS.limited_commands(truth, (), one, NOW)["torquers.dipole"], [0.0, 0.0, 2.0])


def test_what_nobody_commands_rests():
    truth = truth_of(HUB, HUB.at_rest())
    for values in RODS.force(truth, (), RODS.limited_commands(truth, (), commands(RODS), NOW), NOW):
        assert values == 0.0


def test_allocation_makes_the_dipole_with_any_rods():
    """Four skewed rods: the dipole of all is the wanted one, and no other choice is smaller (least squares)."""
    axes = np.array([[1.0, 0, 0], [1.0, 1.0, 0], [0, 1.0, 1.0], [0, 0, 2.0]])
    rods = Magnetorquers(FIELD, axes, rods=("a", "b", "c", "d"))
    np.testing.assert_allclose(np.linalg.norm(rods.axes, axis=1), 1.0)
    wanted = np.array([0.3, -1.0, 2.0])
    found = np.asarray(rods.allocate(jnp.asarray(wanted)))
    np.testing.assert_allclose(np.asarray(rods.axes).T @ found, wanted, atol=1e-14)
    np.testing.assert_allclose(found, np.linalg.pinv(np.asarray(rods.axes).T) @ wanted, atol=1e-14)


def test_a_field_changes_with_the_place_of_the_base():
    """They ask for the field where the base is, not at N's origin."""

    class Ramp(UniformMagneticField):
        def at(self, p_N, t):
            return self.flux_density * p_N[0]

    rods = Magnetorquers(Ramp(flux_density=(0.0, 1e-5, 0.0)))
    truth = truth_of(HUB, HUB.at_rest(at=Pose(position=(3.0, 0.0, 0.0))))
    np.testing.assert_allclose(rods.flux_density(truth, NOW), [0.0, 3e-5, 0.0])


def test_impossible_torquers_are_rejected():
    with pytest.raises(ModelError, match="axis of rod 'y' must be three finite numbers, not all zero"):
        Magnetorquers(FIELD, np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 1.0]]))
    with pytest.raises(ModelError, match="one axis for each of 2 rods"):
        Magnetorquers(FIELD, rods=("a", "b"))
    with pytest.raises(ModelError, match="one number, or one for each of 3 rods"):
        Magnetorquers(FIELD, max_dipole=np.ones(2))
    with pytest.raises(ModelError, match="at least 0"):
        Magnetorquers(FIELD, max_dipole=-1.0)
