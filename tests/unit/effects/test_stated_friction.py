"""Friction that joints state, as robot files give it, acts as an effect."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.effects import Friction, JointFriction


@pytest.fixture
def arm():
    """Two joints; the second states friction, and the third body is fixed."""
    craft = ff.Spacecraft.from_base("arm", mass=50.0, inertia=(5.0, 5.0, 5.0))
    for name, parent, kind in (("a", "base", "revolute"), ("b", "a", "prismatic"), ("c", "b", "fixed")):
        craft = craft.with_link(name, parent=parent, joint=kind, at=(0.5, 0, 0), mass=2.0, inertia=(0.1, 0.1, 0.1))
    return craft


def test_each_joint_has_its_own_number(arm):
    rubbing = arm.with_value("a.friction", 2.0).with_value("b.friction", 0.5)
    effect = JointFriction.stated(rubbing)
    assert effect.joints == ("a", "b")
    v = np.zeros(8)
    v[6:] = 3.0, -4.0  # far beyond the smoothing: all of it
    state = dataclasses.replace(rubbing.at_rest(), v=v)
    np.testing.assert_allclose(effect.torques(rubbing, state), [-2.0, 0.5], rtol=1e-15)


def test_it_is_the_friction_that_could_be_given_by_hand(arm):
    rubbing = arm.with_value("b.friction", 0.5)
    by_hand = JointFriction(Friction(coulomb=0.5, smoothing=0.01), ("b",))
    v = np.concatenate([np.zeros(6), [0.2, 0.004]])
    state = dataclasses.replace(rubbing.at_rest(), v=v)
    ours, theirs = (e.torques(rubbing, state) for e in (JointFriction.stated(rubbing, smoothing=0.01), by_hand))
    np.testing.assert_allclose(ours, theirs, rtol=1e-15)


def test_none_is_said(arm):
    with pytest.raises(ff.ModelError, match=r"No joint of spacecraft 'arm' states friction\. Leave JointFriction out"):
        JointFriction.stated(arm)


def test_a_run_is_slowed_by_it(arm):
    """After the push nothing drives the joint: with friction it loses speed, without it does not."""
    rubbing = arm.with_value("a.friction", 0.2).with_value("a.rotor_inertia", 1.0)
    push = ff.WrenchPulse(frame="c", wrench=np.eye(6)[1], stop=0.5)
    free, rubbed = (
        ff.simulate(rubbing, push, *effects, duration=1.0, dt=0.002)
        for effects in ((), (JointFriction.stated(rubbing, smoothing=0.02),))
    )
    assert free.audit.holds
    assert rubbed.audit.holds
    assert rubbed["energy.kinetic"].values[-1] < rubbed["energy.kinetic"].values[250] - 1e-3
    assert free["energy.kinetic"].values[-1] == pytest.approx(free["energy.kinetic"].values[250], rel=1e-6)
