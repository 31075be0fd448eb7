"""Rotors of joint motors: they resist the joint's acceleration and hold energy, and do nothing else.

Unless a test says otherwise: 1e-12 of the largest entry, some hundred roundings; where a system with the mass matrix is
solved its condition number, up to 1e3 with rotors on every joint, takes the digits that are left.
"""

import dataclasses

import jax
import numpy as np
import pytest

from freefloat import dynamics, engine
from freefloat.dynamics import articulated
from freefloat.dynamics.inner_motion import inner_energy, inner_motion
from freefloat.library import ets7
from freefloat.model import Follow, Spacecraft
from freefloat.spatial import Pose
from support import trees
from support.clouds import random_cloud
from support.compiling import compiled

TOLERANCE = 1e-12
every_topology = pytest.mark.parametrize("name", ["chain of 6", "branched 7", "wheels"])

by_mass_matrix = compiled(dynamics.forward_dynamics_by_mass_matrix)
inner = compiled(inner_motion)
inner_energy_of = compiled(inner_energy)
composite_inertia = compiled(dynamics.composite_inertia)


def draw(rng, name):
    """A tree without rotors, the same with, q, v, and the rotors along v."""
    bare = trees.draw_tree(rng, name)
    craft = trees.with_joint_rotors(rng, bare)
    along = np.zeros(craft.layout.nv)
    for joint in craft.joints:
        along[craft.layout.velocity(joint.name)] = joint.rotor_inertia
    return bare, craft, trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft), along


@every_topology
def test_rotors_stand_on_the_diagonal_of_the_mass_matrix(rng, name):
    bare, craft, q, _, along = draw(rng, name)
    M = trees.mass_matrix(craft, q)
    assert np.array_equal(M, M.T)
    assert trees.relative_error(M - np.diag(along), trees.mass_matrix(bare, q)) < 1e-14


@every_topology
def test_three_ways_to_the_acceleration_agree(rng, name):
    _, craft, q, v, _ = draw(rng, name)
    force = 5.0 * rng.normal(size=v.size)
    vdot = trees.forward_dynamics(craft, q, v, force)
    assert trees.relative_error(by_mass_matrix(craft, q, v, force), vdot) < TOLERANCE
    # The bias of fast wheels is the scale of the sum that gives the force back.
    scale = np.max(np.abs(force)) + np.max(np.abs(trees.bias(craft, q, v)))
    assert np.max(np.abs(trees.inverse_dynamics(craft, q, v, vdot) - force)) < TOLERANCE * scale


@every_topology
def test_energy_has_the_rotors_and_momentum_has_not(rng, name):
    bare, craft, q, v, along = draw(rng, name)
    M, more = trees.mass_matrix(craft, q), 0.5 * along @ v**2
    energy = trees.kinetic_energy(craft, q, v)
    assert trees.relative_error(energy, 0.5 * v @ M @ v) < TOLERANCE
    assert abs(energy - trees.kinetic_energy(bare, q, v) - more) < TOLERANCE * energy
    inside, before = inner(craft, q, v), inner(bare, q, v)
    assert abs(inside.energy - before.energy - more) < TOLERANCE * energy
    assert abs(inner_energy_of(craft, q, v) - inside.energy) < TOLERANCE * energy
    assert np.array_equal(inside.angular_momentum, before.angular_momentum)
    for same in (trees.momentum_about_base, trees.bias):
        assert np.array_equal(same(craft, q, v), same(bare, q, v)), same
    assert np.array_equal(trees.centre_of_mass(craft, q), trees.centre_of_mass(bare, q))
    assert np.array_equal(composite_inertia(craft, q).inertia, composite_inertia(bare, q).inertia)


def power_two_ways(craft, q, v, force):
    """Rate of the kinetic energy along the flow, and the power of the forces."""
    vdot = dynamics.forward_dynamics(craft, q, v, force)
    qdot = v[np.array(craft.layout.coordinates, dtype=int)]
    _, rate = jax.jvp(lambda q, v: dynamics.kinetic_energy(craft, q, v), (q, v), (qdot, vdot))
    return rate, force @ v


power_of = compiled(power_two_ways)


@every_topology
def test_energy_changes_by_the_power_of_the_forces(rng, name):
    _, craft, q, v, _ = draw(rng, name)
    force = 5.0 * rng.normal(size=v.size)
    rate, power = power_of(craft, q, v, force)
    assert abs(rate - power) < 10.0 * TOLERANCE * np.sum(np.abs(force * v))  # a sum with both signs


@compiled
def derivatives(craft, q, v, force):
    """Of the acceleration by the spacecraft's numbers: by the package's rule, and by differentiating the recursion."""
    ways = dynamics.forward_dynamics, dynamics.articulated_forward_dynamics
    return [jax.jacfwd(way)(craft, q, v, force).joints[1].rotor_inertia for way in ways]


@pytest.mark.slow
def test_acceleration_is_differentiated_by_the_rotors(rng):
    _, craft, q, v, _ = draw(rng, "small")
    by_rule, by_recursion = derivatives(craft, q, v, rng.normal(size=v.size))
    assert trees.relative_error(by_rule, by_recursion) < 1e-10  # two solutions of systems with the mass matrix


# ---- cases by hand


@pytest.mark.parametrize(("joint", "own"), [("revolute", 0.4 + 3.0 * 0.5**2), ("prismatic", 3.0)])
def test_on_a_heavy_base_the_rotor_adds_to_the_inertia_about_the_joint(joint, own):
    """qdd = torque / (I + I_rotor), I about the joint's axis; a base of 1e15 kg moves by 1e-15 of it."""
    craft = Spacecraft.from_base("stand", mass=1e15, inertia=(1e15,) * 3).with_link(
        "rod", parent="base", joint=joint, mass=3.0, inertia=(0.3, 0.4, 0.4), com=(0.5, 0.0, 0.0), rotor_inertia=2.0
    )
    force = np.zeros(7)
    force[6] = 7.0
    vdot = trees.forward_dynamics(craft, np.zeros(1), np.zeros(7), force)
    assert vdot[6] == pytest.approx(7.0 / (own + 2.0), rel=1e-13)


def test_the_rotor_of_a_follower_reaches_its_leader_by_the_ratio_squared():
    pair = Spacecraft.from_base("pair", mass=20.0, inertia=(3.0, 4.0, 5.0))
    part = {"joint": "revolute", "mass": 2.0, "inertia": (0.1, 0.1, 0.1)}
    pair = pair.with_link("a", parent="base", rotor_inertia=0.5, **part)
    pair = pair.with_link("b", parent="a", at=Pose(position=(1.0, 0.0, 0.0)), follows=Follow("a", ratio=-3.0), **part)
    geared, q = pair.with_value("b.rotor_inertia", 0.2), np.array([0.3])
    assert dynamics.mass_matrix(geared, q)[6, 6] - dynamics.mass_matrix(pair, q)[6, 6] == pytest.approx(9.0 * 0.2)
    v, vdot = np.ones(7), np.arange(7.0)
    more = dynamics.inverse_dynamics(geared, q, v, vdot) - dynamics.inverse_dynamics(pair, q, v, vdot)
    np.testing.assert_allclose(more, [0.0] * 6 + [9.0 * 0.2 * 6.0], atol=1e-13)


def test_rotors_of_joints_on_flexible_bodies(rng):
    """The rotor turns with the joint, not with the modes that carry it."""
    cloud = random_cloud(rng, 3)
    bare = Spacecraft.from_base("hub", mass=20.0, inertia=(3.0, 4.0, 5.0)).mount(cloud.body(), name="panel")
    tool = Spacecraft.from_base("tool", mass=3.0, inertia=(0.3, 0.4, 0.5), com=(0.3, 0.1, 0.2))
    bare = bare.mount(tool, name="tool", to="panel.tip", joint="revolute")
    craft = bare.with_value("tool.rotor_inertia", 1.5)
    q, v = 0.2 * rng.normal(size=craft.layout.nq), 0.2 * rng.normal(size=craft.layout.nv)
    more = dynamics.mass_matrix(craft, q) - dynamics.mass_matrix(bare, q)
    at = craft.layout.velocity("tool").start
    assert more[at, at] == pytest.approx(1.5, rel=1e-13)
    assert np.count_nonzero(more) == 1
    force = rng.normal(size=v.size)
    # Constants, not inputs: general flexible bodies as inputs make long code.
    rate, power = compiled(lambda q, v, f: power_two_ways(craft, q, v, f))(q, v, force)
    assert abs(rate - power) < 10.0 * TOLERANCE * np.sum(np.abs(force * v))


# ---- what it costs


class Nothing:
    """Stands for rotors that are not in the code at all."""

    def __getitem__(self, _):
        return self

    def __radd__(self, other):
        return other


def count_operations(craft):
    q, v = np.zeros(craft.layout.nq), np.zeros(craft.layout.nv)
    program = engine.compile(lambda q, v, force: dynamics.forward_dynamics(craft, q, v, force), q, v, v)
    return program.operations["total"]


def test_no_rotor_costs_nothing(monkeypatch):
    """Zeros fold away: as many operations as code that knows no rotors. The count does see real ones."""
    craft = ets7()
    joints = tuple(dataclasses.replace(joint, rotor_inertia=3.0) for joint in craft.joints)
    with_zeros, with_rotors = count_operations(craft), count_operations(dataclasses.replace(craft, joints=joints))
    monkeypatch.setattr(articulated, "rotor_inertias", lambda craft: Nothing())
    assert count_operations(craft) == with_zeros
    assert with_rotors > with_zeros
