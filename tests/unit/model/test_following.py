"""Joints that follow others: impossible couplings are refused, and so is who asks for a coordinate of theirs."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics
from freefloat.actuators import StuckJoint
from freefloat.control import HoldJoints, JointServo
from freefloat.dynamics import JointRows, row_jacobian
from freefloat.dynamics.row_response import prescribed_dofs
from freefloat.effects import JointSpring
from freefloat.model import Follow, Spacecraft
from freefloat.model.following import joint_place, joint_position
from freefloat.values import ModelError, SoftwareError

LINK = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


def arm() -> Spacecraft:
    """A shoulder, an elbow that follows it, a fixed bracket and a slider."""
    craft = Spacecraft.from_base("arm", mass=9.0, inertia=(3.0, 3.0, 3.0))
    craft = craft.with_link("shoulder", parent="base", joint="revolute", **LINK)
    craft = craft.with_link("elbow", parent="shoulder", joint="revolute", follows=Follow("shoulder", -2.0, 0.1), **LINK)
    craft = craft.with_link("bracket", parent="elbow", joint="fixed", **LINK)
    return craft.with_link("slider", parent="bracket", joint="prismatic", **LINK)


def following(**couplings: Follow) -> Spacecraft:
    """The arm with other couplings, put together at once."""
    craft = arm()
    joints = (dataclasses.replace(j, follows=couplings.get(j.name)) for j in craft.joints)
    return dataclasses.replace(craft, joints=tuple(joints))


def test_a_follower_has_no_coordinate_but_a_position():
    craft = arm()
    assert craft.layout.moving_joints == ("shoulder", "slider")
    assert craft.layout.leaders == {"elbow": "shoulder"}
    q = craft.at_rest(joints={"shoulder": 0.5, "slider": 0.2}).q
    assert joint_position(craft, q, "elbow") == pytest.approx(-0.9)
    assert joint_position(craft, q, "slider") == 0.2
    assert joint_place(craft, "elbow") == (6, -2.0)
    assert joint_place(craft, "slider") == (7, None)


@pytest.mark.parametrize(
    ("couplings", "words"),
    [
        ({"elbow": Follow("wrist")}, "'elbow' of spacecraft 'arm' cannot follow 'wrist': there is no joint 'wrist'"),
        ({"elbow": Follow("elbow")}, "'elbow' .* cannot follow 'elbow': that is itself"),
        ({"elbow": Follow("bracket")}, "'elbow' .* cannot follow 'bracket', which comes after it. Add 'bracket' first"),
        (
            {"slider": Follow("bracket")},
            "cannot follow 'bracket', which is fixed. Joints that can lead: shoulder, elbow",
        ),
        (
            {"elbow": Follow("shoulder"), "slider": Follow("elbow")},
            "cannot follow 'elbow', which itself follows 'shoulder'. Follow that one. Joints that can lead: shoulder.",
        ),
        ({"shoulder": Follow("elbow"), "elbow": Follow("shoulder")}, "cannot follow 'elbow', which comes after it"),
    ],
    ids=["missing", "itself", "late", "fixed", "follower", "cycle"],
)
def test_impossible_couplings_are_refused_however_the_spacecraft_is_made(couplings, words):
    with pytest.raises(ModelError, match=words):
        following(**couplings)


@pytest.mark.parametrize(
    "ask",
    [
        lambda craft: craft.at_rest(joints={"elbow": 0.1}),
        lambda craft: craft.at_rest(joints_deg={"elbow": 10.0}),
        lambda craft: ff.World(arm=craft).brake("elbow"),
        lambda craft: ff.simulate(craft, StuckJoint("elbow", at=0.1), duration=1.0),
        lambda craft: dynamics.hybrid_dynamics(craft, np.zeros(2), np.zeros(8), np.zeros(8), ("elbow",), np.zeros(1)),
        lambda craft: dynamics.impose_rates(craft, np.zeros(2), np.zeros(8), ("elbow",), np.zeros(1)),
        lambda craft: prescribed_dofs((craft,), (("elbow",),)),
        lambda craft: row_jacobian((craft,), (craft.at_rest(),), (JointRows((0, "elbow")),)),
    ],
    ids=["start", "start in degrees", "brake", "failure", "hybrid", "rates", "prescribed", "rows"],
)
def test_whoever_asks_for_the_coordinate_of_a_follower_is_told_its_leader(ask):
    with pytest.raises(ModelError, match=r"'elbow' of spacecraft 'arm' follows 'shoulder'.* Name 'shoulder' instead"):
        ask(arm())


@pytest.mark.parametrize(
    "software", [HoldJoints(("elbow",)), JointServo(arm(), HoldJoints(("elbow",)))], ids=["rates", "servo"]
)
def test_software_cannot_command_a_follower(software):
    with pytest.raises((SoftwareError, ModelError), match=r"'elbow'.* follows 'shoulder'"):
        ff.simulate(arm(), software, duration=1.0)


def test_other_names_are_refused_as_before():
    with pytest.raises(ModelError, match=r"no moving joint 'bracket'. Moving joints: shoulder, slider"):
        arm().at_rest(joints={"bracket": 0.1})
    with pytest.raises(ModelError, match=r"JointSpring.*no moving joint 'wrist'"):
        JointSpring("wrist", stiffness=1.0).check(arm())
