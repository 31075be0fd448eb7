"""A wheel is a rotor: what `Wheel` saves (an angle, a mass, a placement) makes no difference to the motion.

Tolerance 1e-11 of the largest entry: float64 sums, times the condition number of the mass matrix (up to 1e4 here).
"""

import dataclasses

import numpy as np
import pytest

from freefloat import dynamics
from freefloat.model import Spacecraft
from freefloat.spatial import Pose
from support import trees
from support.compiling import compiled

TOLERANCE = 1e-11


def with_rotors_as_links(craft: Spacecraft, rng: np.random.Generator) -> Spacecraft:
    """Each wheel as an axisymmetric body on a revolute joint, somewhere on its carrier, which is lighter by it."""
    rotors = trees.rotors_of(craft, rng)
    bodies = []
    for body in craft.bodies:
        mass, com, inertia = trees.without_rotors(body, [r for r in rotors if r.body == body.name])
        bodies.append(dataclasses.replace(body, mass=mass, com=com, inertia=(inertia + inertia.T) / 2.0))
    grown = dataclasses.replace(craft, bodies=tuple(bodies), wheels=())
    for rotor in rotors:
        grown = grown.with_link(
            rotor.wheel,
            parent=rotor.body,
            joint="revolute",
            at=Pose(position=rotor.point),
            axis=rotor.axis,
            mass=rotor.mass,
            inertia=rotor.inertia,
        )
    return grown


@pytest.fixture
def pair(rng):
    """A spacecraft with wheels, the same with rotors, their coordinates, and where the first's speeds went."""
    craft = trees.draw_tree(rng, "wheels")
    rotors = with_rotors_as_links(craft, rng)
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    names = [n for n in craft.layout.velocities if craft.layout.velocity(n).stop > craft.layout.velocity(n).start]
    places = list(rotors.layout.indices(names))
    v_rotors = np.zeros_like(v)
    v_rotors[places] = v
    angles = rng.uniform(-np.pi, np.pi, size=len(craft.wheels))  # of no consequence
    return craft, q, v, rotors, np.concatenate([q, angles]), v_rotors, places


def test_mass_matrix_of_wheels_is_that_of_rotors(pair):
    craft, q, _, rotors, q_rotors, _, places = pair
    M = trees.mass_matrix(rotors, q_rotors)[np.ix_(places, places)]
    assert trees.relative_error(trees.mass_matrix(craft, q), M) < TOLERANCE


def test_bias_of_wheels_is_that_of_rotors(pair):
    """Gyroscopic torques: at 300 rad/s they are a good part of the bias."""
    craft, q, v, rotors, q_rotors, v_rotors, places = pair
    ours = trees.bias(craft, q, v)
    assert trees.relative_error(ours, trees.bias(rotors, q_rotors, v_rotors)[places]) < TOLERANCE
    still = v.copy()
    still[list(craft.layout.wheel_velocities)] = 0.0
    assert trees.relative_error(trees.bias(craft, q, still), ours) > 1e-2  # the wheels do matter here


def test_forward_dynamics_with_wheels_is_that_with_rotors(pair, rng):
    craft, q, v, rotors, q_rotors, v_rotors, places = pair
    force = rng.normal(size=v.size)
    force_rotors = np.zeros_like(force)
    force_rotors[places] = force
    theirs = trees.forward_dynamics(rotors, q_rotors, v_rotors, force_rotors)[places]
    assert trees.relative_error(trees.forward_dynamics(craft, q, v, force), theirs) < TOLERANCE


def test_momentum_and_energy_with_wheels_are_those_with_rotors(pair):
    craft, q, v, rotors, q_rotors, v_rotors, _ = pair
    for function in (trees.momentum_about_base, trees.kinetic_energy):
        assert trees.relative_error(function(craft, q, v), function(rotors, q_rotors, v_rotors)) < TOLERANCE


wheel_momentum = compiled(dynamics.wheel_momentum)
body_twists, body_poses = compiled(dynamics.body_twists), compiled(dynamics.body_poses)


def test_wheel_momentum_is_the_rotors_absolute_spin(pair):
    """I a . w of the rotor body itself, which turns in inertial space with its carrier and its own speed."""
    craft, q, v, rotors, q_rotors, v_rotors, _ = pair
    twists = body_twists(rotors, q_rotors, v_rotors)
    spins = []
    for wheel in craft.wheels:
        turning = np.asarray(twists[rotors.body_index(wheel.name)])[3:]  # in the rotor's own axes: its axis stays put
        spins.append(wheel.inertia * wheel.axis @ turning)
    assert trees.relative_error(wheel_momentum(craft, q, v), np.array(spins)) < TOLERANCE


def test_total_angular_momentum_counts_every_wheel_once(pair):
    """The wheels' relative spin adds I_w a W to the momentum of the frozen wheels, no more."""
    craft, q, v, *_ = pair
    frozen = v.copy()
    frozen[list(craft.layout.wheel_velocities)] = 0.0
    poses = [np.asarray(X.R) for X in body_poses(craft, q)]
    h_w = sum(
        v[craft.layout.velocity(w.name).start] * w.inertia * poses[craft.body_index(w.body)] @ w.axis
        for w in craft.wheels
    )
    added = trees.momentum_about_base(craft, q, v) - trees.momentum_about_base(craft, q, frozen)
    assert trees.relative_error(added, np.concatenate([np.zeros(3), h_w])) < TOLERANCE
