"""Growing a spacecraft, the order of its coordinates, and what is said when something cannot be."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.model import JointLimits, RigidBody, Spacecraft, State
from freefloat.spatial import Pose
from freefloat.values import ModelError

ONES = (1.0, 1.0, 1.0)


def test_bodies_are_in_tree_order_and_nothing_changes_in_place(chaser):
    assert chaser.body_names == ("base", "shoulder", "slide", "wrist")
    assert chaser.joint_names == ("shoulder", "slide", "turn")
    assert chaser.parents == (-1, 0, 1, 2)
    bigger = chaser.with_frame("extra", body="wrist")
    assert "extra" in bigger.frame_names
    assert "extra" not in chaser.frame_names


def test_axes_become_unit_and_diagonal_inertias_matrices(chaser):
    np.testing.assert_array_equal(chaser.wheels[0].axis, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(chaser.body("base").inertia, np.diag([10.0, 12.0, 8.0]))


def test_an_axis_that_is_unit_keeps_its_digits(rng):
    for axis in rng.normal(size=(50, 3)):
        craft = Spacecraft.from_base("c", mass=1.0, inertia=ONES).with_link(
            "a", parent="base", joint="revolute", mass=1.0, inertia=ONES, axis=axis
        )
        again = Spacecraft.from_base("c", mass=1.0, inertia=ONES).with_body(craft.bodies[1], craft.joints[0])
        np.testing.assert_array_equal(again.joints[0].axis, craft.joints[0].axis)


def test_wheels_follow_the_body_that_carries_them(chaser):
    layout = chaser.layout
    order = ["base", "wheel_x", "wheel_y", "shoulder", "slide", "spinner", "turn"]
    assert list(layout.velocities) == order
    assert layout.velocity("base") == slice(0, 6)
    assert [layout.velocity(name).start for name in order[1:]] == [6, 7, 8, 9, 10, 11]
    assert [layout.position(name) for name in ("shoulder", "slide", "turn")] == [
        slice(0, 1),
        slice(1, 2),
        slice(2, 3),
    ]
    assert (layout.nq, layout.nv) == (3, 12)
    assert layout.joint_velocities == (8, 9, 11)
    assert layout.wheel_velocities == (6, 10, 7)  # in the order of the wheels: wheel_x, spinner, wheel_y
    assert layout.indices(("turn", "base")) == (11, 0, 1, 2, 3, 4, 5)


def test_fixed_joints_have_no_coordinate(chaser):
    craft = chaser.with_link("plate", parent="base", joint="fixed", mass=1.0, inertia=ONES)
    assert craft.layout.nv == chaser.layout.nv
    assert craft.layout.position("plate") == slice(3, 3)
    assert craft.layout.moving_joints == ("shoulder", "slide", "turn")


def test_every_body_is_a_frame(chaser):
    assert chaser.frame("wrist").body == "wrist"
    np.testing.assert_array_equal(chaser.frame("wrist").X_BF.R, np.eye(3))
    assert chaser.frame("hand").body == "wrist"
    assert [wheel.name for wheel in chaser.wheels_on("base")] == ["wheel_x", "wheel_y"]


def test_joints_place_and_move_their_child(chaser):
    shoulder, slide = chaser.joint("shoulder"), chaser.joint("slide")
    X = shoulder.placement(np.asarray(np.pi / 2))
    np.testing.assert_allclose(X.R @ np.array([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0], rtol=0.0, atol=1e-15)  # one rounding
    np.testing.assert_array_equal(slide.placement(np.asarray(0.5)).p, [0.5, 0.0, 0.0])
    np.testing.assert_array_equal(shoulder.column(), [0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(slide.column(), [1, 0, 0, 0, 0, 0])


def test_a_joint_moves_in_its_own_axes_wherever_these_are_turned(chaser):
    """Seated at 90 deg about y, a joint's z axis is the parent's x: it turns about that, and slides along it."""
    seat = Pose.from_rpy_deg((0.0, 90.0, 0.0), (1.0, 2.0, 3.0))
    hinge = dataclasses.replace(chaser.joint("shoulder"), X_PJ=seat, axis=(0.0, 0.0, 1.0))
    turned = hinge.placement(np.asarray(np.pi / 2))
    np.testing.assert_allclose(turned.R @ np.array([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(turned.R @ np.array([0.0, 0.0, 1.0]), [1.0, 0.0, 0.0], atol=1e-15)
    slider = dataclasses.replace(chaser.joint("slide"), X_PJ=seat, axis=(0.0, 0.0, 1.0))
    np.testing.assert_allclose(slider.placement(np.asarray(0.5)).p, [1.5, 2.0, 3.0], atol=1e-15)


def test_rest_is_a_checked_state(chaser):
    state = chaser.at_rest(q=(0.1, 0.2, 0.3))
    np.testing.assert_array_equal(state.q, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(state.v, np.zeros(12))
    np.testing.assert_array_equal(state.X_NB.R, np.eye(3))
    np.testing.assert_array_equal(state.V_NB, np.zeros(6))
    with pytest.raises(ModelError, match=r"'chaser': q must have 3 numbers.*Order: shoulder, slide, turn\."):
        chaser.at_rest(q=(0.1, 0.2))
    with pytest.raises(ModelError, match=r"q must be finite \[rad, m\], got \[nan"):
        chaser.at_rest(q=(np.nan, 0.0, 0.0))
    short = State(p_NB=state.p_NB, quat_NB=state.quat_NB, q=state.q, v=np.zeros(5))
    with pytest.raises(ModelError, match=r"v must have 12 numbers.*Order: base, wheel_x, wheel_y, shoulder"):
        chaser.require_state(short)


def test_joints_are_given_by_name_or_in_order(chaser):
    """Degrees for joints that turn, metres for those that slide, in both ways the same."""
    np.testing.assert_array_equal(chaser.at_rest(joints={"slide": 0.2}).q, [0.0, 0.2, 0.0])
    np.testing.assert_array_equal(chaser.at_rest(joints=(0.1, 0.2, 0.3)).q, [0.1, 0.2, 0.3])
    named, ordered = chaser.at_rest(joints_deg={"turn": 90, "slide": 0.2}), chaser.at_rest(joints_deg=(0.0, 0.2, 90.0))
    np.testing.assert_array_equal(named.q, ordered.q)
    np.testing.assert_allclose(named.q, [0.0, 0.2, np.pi / 2], rtol=1e-15)
    traced = jax.jit(lambda angle: chaser.at_rest(joints_deg={"turn": angle}).q)(90.0)
    np.testing.assert_allclose(traced, [0.0, 0.0, np.pi / 2], rtol=1e-15)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"joints": {"elbow": 1.0}}, "'chaser' has no moving joint 'elbow'. Moving joints: shoulder, slide, turn."),
        ({"joints_deg": {"wrist": 1.0, "hnd": 2.0}}, "no moving joint 'wrist', 'hnd'"),
        ({"joints": {"turn": np.nan}}, "joints['turn'] must be finite [rad, m], got nan"),
        ({"joints_deg": (1.0,)}, "joints_deg must be 3 numbers (shoulder, slide, turn) or a dictionary by joint"),
        ({"joints": (0.0, 0.0, 0.0), "joints_deg": (0.0, 0.0, 0.0)}, "joints and joints_deg both say"),
    ],
)
def test_wrong_joints_are_refused_by_name(chaser, given, said):
    with pytest.raises(ModelError) as caught:
        chaser.at_rest(**given)
    assert said in str(caught.value)


def test_a_position_will_do_where_a_pose_is_asked_for(chaser, client):
    at = (0.1, 0.2, 0.3)
    grown = link(chaser, at=at).with_frame("eye", body="base", at=at).mount(client, name="client", to="hand", at=at)
    np.testing.assert_array_equal(grown.joint("new").X_PJ.p, at)
    np.testing.assert_array_equal(grown.frame("eye").X_BF.R, np.eye(3))
    np.testing.assert_array_equal(grown.joint("client").X_PJ.p, (chaser.frame("hand").X_BF @ Pose(position=at)).p)


# ---- every message names the part and the remedy


@pytest.mark.parametrize(
    ("look", "said"),
    [
        (
            lambda c: c.frame("hnd"),
            "Spacecraft 'chaser' has no frame 'hnd'. Frames: base, shoulder, slide, wrist, hand",
        ),
        (lambda c: c.body("arm"), "has no body 'arm'. Bodies: base, shoulder, slide, wrist."),
        (lambda c: c.joint("wrist"), "has no joint 'wrist'. Joints: shoulder, slide, turn."),
        (lambda c: c.layout.position("wheel_x"), "has no joint 'wheel_x'. Joints: shoulder, slide, turn."),
        (lambda c: c.layout.velocity("hand"), "has no velocity 'hand'. Velocities: base, wheel_x"),
        (lambda c: c.with_frame("new", body="arm"), "has no body 'arm'."),
        (lambda c: c.with_wheel("new", body="arm", axis=ONES, inertia=0.1), "has no body 'arm'."),
    ],
)
def test_unknown_names_list_the_known_ones(chaser, look, said):
    with pytest.raises(ModelError) as caught:
        look(chaser)
    assert said in str(caught.value)


def link(craft, name="new", **change):
    return craft.with_link(name, **{"parent": "base", "joint": "revolute", "mass": 1.0, "inertia": ONES, **change})


@pytest.mark.parametrize(
    ("grow", "said"),
    [
        (lambda c: link(c, parent="arm"), ["has no frame 'arm'", "base, shoulder"]),
        (lambda c: link(c, name="wrist"), ["already has a", "'wrist'", "Choose another name"]),
        (lambda c: link(c, name="hand"), ["already has a", "frame 'hand'", "Choose another name"]),
        (lambda c: link(c, joint_name="turn"), ["'turn'", "Choose another name"]),
        (lambda c: link(c, joint_name="wheel_x"), ["'wheel_x'", "Choose another name"]),
        (lambda c: link(c, joint_name="base"), ["'base'", "Choose another name"]),
        (lambda c: link(c, name=""), ["needs a name"]),
        (lambda c: link(c, axis=(0.0, 0.0, 0.0)), ["Joint 'new': axis", "not all zero"]),
        (lambda c: link(c, axis=(0.0, np.nan, 0.0)), ["Joint 'new'", "finite"]),
        (lambda c: link(c, axis=(0.0, 1.0)), ["Joint 'new'", "three"]),
        # A pose of JAX arrays is not looked at when it is made, because poses are made in traced code too.
        (lambda c: link(c, at=Pose(rotation=2.0 * jnp.eye(3))), ["Joint 'new'", "not a rotation", "by 3"]),
        (lambda c: link(c, at=Pose(rotation=-jnp.eye(3))), ["Joint 'new'", "not a rotation"]),
        (lambda c: link(c, at=(1.0, 2.0)), ["Pose.position must have shape (3,), got (2,)", "x, y, z in metres"]),
        (lambda c: link(c, damping=-0.1), ["Joint 'new': damping must be at least 0, got -0.1 N m s/rad or N s/m"]),
        (lambda c: link(c, damping=np.nan), ["Joint 'new': damping must be finite [N m s/rad or N s/m], got nan"]),
        (
            lambda c: link(c, rotor_inertia=-0.1),
            ["Joint 'new': rotor_inertia must be at least 0, got -0.1 kg m2 or kg"],
        ),
        (lambda c: link(c, rotor_inertia=np.inf), ["Joint 'new': rotor_inertia must be finite"]),
        (lambda c: link(c, damping=np.inf), ["Joint 'new': damping must be finite"]),
        (lambda c: JointLimits(lower=0.2, upper=0.1), ["lower 0.2 is above upper 0.1. Exchange them"]),
        (lambda c: JointLimits(rate=-1.0), ["JointLimits.rate must be at least 0, got -1 rad/s or m/s"]),
        (lambda c: JointLimits(lower=np.nan), ["JointLimits.lower must be finite [rad or m]"]),
        (lambda c: Spacecraft(name="none", bodies=()), ["'none' has 0 bodies and 0 joints", "Spacecraft.from_base"]),
        (lambda c: link(c, mass=0.0), ["Body 'new'", "mass must be positive, got 0 kg"]),
        (lambda c: link(c, mass=np.nan), ["Body 'new'", "finite"]),
        (lambda c: link(c, com=(np.inf, 0.0, 0.0)), ["Body 'new': com must be finite [m]"]),
        (lambda c: link(c, com=(0.0, 0.0)), ["Body 'new'", "com must be three numbers, got shape (2,)"]),
        (lambda c: link(c, inertia=np.eye(2)), ["Body 'new'", "three principal moments, got shape (2, 2)"]),
        (
            lambda c: link(c, inertia=(1.0, 1.0, 0.0)),
            ["positive definite", "smallest principal moment is 0 kg m2"],
        ),
        (lambda c: link(c, inertia=(1.0, 1.0, -1.0)), ["positive definite", "-1 kg m2"]),
        (lambda c: link(c, inertia=(1.0, 1.0, 3.0)), ["triangle inequality: 1 + 1 < 3 kg m2, by 1"]),
        (lambda c: link(c, inertia=np.eye(3) + np.eye(3, k=1)), ["not symmetric (by 1 kg m2)"]),
        (lambda c: c.with_wheel("turn", axis=ONES, inertia=0.1), ["'turn'", "Choose another name"]),
        (lambda c: c.with_wheel("wheel_x", axis=ONES, inertia=0.1), ["'wheel_x'", "Choose another name"]),
        (
            lambda c: c.with_wheel("w", axis=(0.0, 0.0, 0.0), inertia=0.1),
            ["Wheel 'w': axis"],
        ),
        (
            lambda c: c.with_wheel("w", axis=ONES, inertia=-0.1),
            ["Wheel 'w'", "must be positive, got -0.1 kg m2"],
        ),
        (
            lambda c: c.with_wheel("w", axis=ONES, inertia=0.1, max_torque=-1.0),
            ["Wheel 'w': max_torque must be at least 0, got -1 N m"],
        ),
        (
            lambda c: c.with_wheel("w", axis=(0.0, 0.0, 1.0), inertia=9.0),
            ["its 9 kg m2", "8 kg m2", "includes its wheels"],
        ),
        (lambda c: c.with_frame("hand", body="base"), ["already has a", "frame 'hand'"]),
        (lambda c: c.with_frame("wrist", body="base"), ["already has a", "frame 'wrist'"]),
        (
            lambda c: c.with_frame("f", body="base", at=Pose(rotation=2.0 * jnp.eye(3))),
            ["Frame 'f'", "not a rotation"],
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(chaser, grow, said):
    with pytest.raises(ModelError) as caught:
        grow(chaser)
    for words in said:
        assert words in str(caught.value)


def test_a_mass_error_says_nothing_of_inertia(chaser):
    with pytest.raises(ModelError) as caught:
        link(chaser, mass=-1.0)
    assert str(caught.value) == "Body 'new': mass must be positive, got -1 kg."


def test_a_body_that_exists_already_is_checked_too(chaser):
    with pytest.raises(ModelError, match="Body 'part': mass must be positive"):
        chaser.mount(RigidBody(name="part", mass=-1.0, com=np.zeros(3), inertia=np.eye(3)), name="part")


def test_wheels_together_must_leave_the_body_some_inertia():
    craft = Spacecraft.from_base("c", mass=1.0, inertia=ONES).with_wheel("a", axis=(0.0, 0.0, 1.0), inertia=0.6)
    with pytest.raises(ModelError, match=r"Wheel 'b'.*its 0.6 kg m2, with the 0.6 kg m2 of the other wheels"):
        craft.with_wheel("b", axis=(0.0, 0.0, 1.0), inertia=0.6)
    craft.with_wheel("b", axis=(0.0, 1.0, 0.0), inertia=0.6)  # across, it may


def test_rounding_in_printed_tables_is_no_violation():
    thin = (0.1, 0.2, 0.3 + 1e-12)  # a plate: the sum of two moments is the third, to printed digits
    assert Spacecraft.from_base("plate", mass=1.0, inertia=thin).bodies[0].mass == 1.0
