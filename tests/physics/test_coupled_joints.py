"""Joints that follow others: one coordinate moves several joints, as gears and linkages make them.

Tolerance 1e-10 of the largest entry, as in tests/reference/test_against_pinocchio.py.
"""

import dataclasses

import jax
import numpy as np
import pinocchio as pin
import pytest

from freefloat import dynamics, simulate
from freefloat.control import HoldJoints
from freefloat.model import Follow, Spacecraft
from freefloat.readers import read_urdf, write_urdf
from freefloat.readers.reports import ReadingNote
from freefloat.values import ModelError, SoftwareError
from support import trees

TOLERANCE = 1e-10
# Followers outboard of their leader in the same chain, on another branch, and a slider driven by a turning joint.
COUPLED = {
    "joint3": Follow("joint1", -0.5, 0.3),
    "joint4": Follow("joint2", 0.2, -0.1),
    "joint7": Follow("joint6", 1.5),
}


def couple(craft: Spacecraft, couplings=COUPLED, **numbers) -> Spacecraft:
    joints = [
        dataclasses.replace(j, follows=couplings[j.name], **numbers) if j.name in couplings else j for j in craft.joints
    ]
    return dataclasses.replace(craft, joints=tuple(joints))


def lift(free: Spacecraft, coupled: Spacecraft, q, v):
    """q and v of the tree without couplings, and the matrix G with v_free = G v."""
    full, G = np.zeros(free.layout.nq), np.zeros((free.layout.nv, coupled.layout.nv))
    G[:6, :6] = np.eye(6)
    for joint in coupled.joints:
        follows = joint.follows or Follow(joint.name)
        at = coupled.layout.position(follows.leader).start
        full[free.layout.position(joint.name)] = follows.ratio * q[at] + follows.offset
        G[free.layout.velocity(joint.name), coupled.layout.velocity(follows.leader)] = follows.ratio
    return full, G @ v, G


def test_coupled_trees_are_the_free_ones_projected(rng):
    free = trees.draw_tree(rng, "branched 7")
    craft = couple(free)
    assert craft.layout.moving_joints == ("joint1", "joint2", "joint5", "joint6")
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    full, speeds, G = lift(free, craft, q, v)
    pairs = {
        "mass matrix": (dynamics.mass_matrix(craft, q), G.T @ dynamics.mass_matrix(free, full) @ G),
        "bias": (dynamics.bias(craft, q, v), G.T @ dynamics.bias(free, full, speeds)),
        "Jacobian": (dynamics.frame_jacobian(craft, q, "hand"), dynamics.frame_jacobian(free, full, "hand") @ G),
        "energy": (dynamics.kinetic_energy(craft, q, v), dynamics.kinetic_energy(free, full, speeds)),
        "place": (dynamics.frame_pose(craft, q, "hand").p, dynamics.frame_pose(free, full, "hand").p),
    }
    for name, (mine, expected) in pairs.items():
        assert trees.relative_error(mine, expected) < TOLERANCE, name


def test_damping_of_a_follower_acts_on_its_leader(rng):
    free = trees.draw_tree(rng, "branched 7")
    craft = couple(free, damping=0.7)
    free = dataclasses.replace(
        free, joints=tuple(dataclasses.replace(j, damping=0.7 if j.name in COUPLED else 0.0) for j in free.joints)
    )
    q, v = np.zeros(craft.layout.nq), trees.draw_speeds(rng, craft)
    full, speeds, G = lift(free, craft, q, v)
    expected = G.T @ dynamics.damping_force(free, full, speeds)
    assert trees.relative_error(dynamics.damping_force(craft, q, v), expected) < TOLERANCE


@pytest.mark.slow
def test_forward_dynamics_undoes_inverse_dynamics(rng):
    craft = couple(trees.draw_tree(rng, "branched 7"))
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    vdot = rng.normal(size=v.size)
    force = dynamics.inverse_dynamics(craft, q, v, vdot)
    assert trees.relative_error(dynamics.forward_dynamics(craft, q, v, force), vdot) < 1e-9  # condition 1e5
    with pytest.raises(ModelError, match="joints that share a coordinate"):
        dynamics.articulated_forward_dynamics(craft, q, v, force)
    _, rate = jax.jvp(lambda f: dynamics.forward_dynamics(craft, q, v, f), (force,), (np.ones(v.size),))
    assert trees.relative_error(dynamics.mass_matrix(craft, q) @ rate, np.ones(v.size)) < 1e-9


def test_they_are_those_of_pinocchio(rng):
    """Through a URDF with <mimic>, which Pinocchio reads by itself; it couples joints of one kind only."""
    craft = couple(trees.draw_tree(rng, "branched 7"), {k: COUPLED[k] for k in ("joint3", "joint7")})
    text = write_urdf(craft)
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer(), mimic=True)
    model.gravity.setZero()
    data = model.createData()
    assert model.nv == craft.layout.nv
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    theirs, speeds, order = pin.neutral(model), np.zeros(model.nv), list(range(6))
    for name in craft.layout.moving_joints:
        joint = model.joints[model.getJointId(name)]
        at = q[craft.layout.position(name).start]
        theirs[joint.idx_q : joint.idx_q + joint.nq] = at if joint.nq == 1 else (np.cos(at), np.sin(at))
        order.append(joint.idx_v)
    speeds[order] = v
    M = pin.crba(model, data, theirs)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
    assert trees.relative_error(dynamics.mass_matrix(craft, q), M) < TOLERANCE
    h = pin.nonLinearEffects(model, data, theirs, speeds)[order]
    assert trees.relative_error(dynamics.bias(craft, q, v), h) < TOLERANCE


def test_energy_and_momentum_stay(rng):
    craft = couple(trees.draw_tree(rng, "chain of 6"), {"joint4": Follow("joint1", 2.0)})
    v = np.zeros(craft.layout.nv)
    v[craft.layout.velocity("joint1")] = 0.2
    state = dataclasses.replace(craft.at_rest(joints={"joint2": 0.4}), v=v)
    run = simulate(craft, state=state, duration=1.0)
    assert run.status == "completed"  # a violated balance would have been raised


def test_couplings_survive_composition_and_files(rng):
    craft = couple(trees.draw_tree(rng, "branched 7"))
    bus = Spacecraft.from_base("bus", mass=500.0, inertia=(80.0, 80.0, 80.0))
    both = bus.mount(craft, name="arm")
    assert both.joint("arm.joint3").follows.leader == "arm.joint1"
    _, arm = both.detach("arm")
    assert arm.joint("joint3").follows.leader == "joint1"
    with pytest.warns(ReadingNote, match="follows -0.5 times 'joint1' plus 0.3.*The same for joint 'joint4'"):
        again = read_urdf(write_urdf(craft))
    assert [j.follows and (j.follows.leader, j.follows.ratio, j.follows.offset) for j in again.joints] == [
        j.follows and (j.follows.leader, j.follows.ratio, j.follows.offset) for j in craft.joints
    ]
    assert craft.with_value("joint3.follows.ratio", 2.0).joint("joint3").follows.ratio == 2.0
    with pytest.raises(ModelError, match="would part joint 'joint3' from 'joint1', which it follows"):
        craft.detach("link2")


def test_impossible_couplings_are_refused(rng):
    craft = trees.draw_tree(rng, "chain of 2")
    link = {"parent": "base", "joint": "revolute", "mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    with pytest.raises(ModelError, match="no joint 'elbow'"):
        craft.with_link("a", follows=Follow("elbow"), **link)
    follower = craft.with_link("a", follows=Follow("joint1"), **link)
    with pytest.raises(ModelError, match=r"cannot follow 'a'.*can lead: joint1, joint2"):
        follower.with_link("b", follows=Follow("a"), **link)
    with pytest.raises(ModelError, match="is fixed, so it cannot follow"):
        craft.with_link("a", follows=Follow("joint1"), **{**link, "joint": "fixed"})
    with pytest.raises(SoftwareError, match=r"follows 'joint1'\. Move that one"):
        simulate(follower, HoldJoints(("a",)), duration=1.0)
