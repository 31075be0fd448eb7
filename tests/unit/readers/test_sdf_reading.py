"""Robots in SDF: random trees written by hand, in the model's frame, are read back as they were."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from freefloat import dynamics
from freefloat.readers import ReadingNote, read_sdf
from freefloat.readers.sdf.reader import lint_sdf
from freefloat.spatial.rotations import roll_pitch_yaw
from freefloat.values import ModelError
from support import trees

ROOT = Path(__file__).parents[3]
ARM = ROOT / "examples" / "data" / "robots" / "bench_arm.sdf"
MASS = "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
TOLERANCE = 1e-12  # angles pass through roll, pitch and yaw, twice; 2e-15 was measured


def read(source, **options):
    """The spacecraft and the lines of the note."""
    with pytest.warns(ReadingNote) as caught:
        craft = read_sdf(source, **options)
    return craft, [line.strip() for line in str(caught[0].message).splitlines()[1:]]


def quietly(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        return read_sdf(source, **options)


def model(inside, version="1.11"):
    return f'<sdf version="{version}"><model name="m">{inside}</model></sdf>'


def hinge(name, parent, child, more="", axis="<axis><xyz>0 0 1</xyz></axis>"):
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="revolute">{ends}{more}{axis}</joint>'


TWO = f'<link name="a">{MASS}</link><link name="b"><pose>1 2 3 0 0 0</pose>{MASS}</link>'


def refusal(text, **options):
    with pytest.raises(ModelError) as caught:
        quietly(text, **options)
    return str(caught.value)


# ---- random trees


def _pose(X, tag="pose", **attributes):
    said = "".join(f' {name}="{value}"' for name, value in attributes.items())
    numbers = [*np.asarray(X.p).tolist(), *np.asarray(roll_pitch_yaw(X.R)).tolist()]
    return f"<{tag}{said}>{' '.join(repr(x) for x in numbers)}</{tag}>"


def _written(rng, craft, offset=None):
    """SDF of a tree: links in the model's frame, joints relative to the model, a link, or where they are by default.

    With an offset the frame of every link but the base's is moved away from its joint by that pose.
    """
    zero = dynamics.body_poses(craft, np.zeros(craft.layout.nq))
    X_BL = trees.Pose() if offset is None else offset
    parts = []
    for index, body in enumerate(craft.bodies):
        X_ML = zero[index] @ (X_BL if index else trees.Pose())
        in_link = X_BL.inverse() if index else trees.Pose()
        com = trees.Pose(position=np.asarray(body.com))
        I = np.asarray(body.inertia)
        names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        inertia = "".join(f"<{name}>{float(I[at])!r}</{name}>" for name, at in names.items())
        mass = f"<mass>{float(body.mass)!r}</mass>{_pose(in_link @ com)}<inertia>{inertia}</inertia>"
        parts.append(f'<link name="{body.name}">{_pose(X_ML)}<inertial>{mass}</inertial></link>')
    for index, joint in enumerate(craft.joints, start=1):
        child, X_MJ = craft.body_names[index], zero[index]
        where = [_pose(X_BL.inverse()), _pose(X_MJ, relative_to="__model__")]
        where.append(_pose(zero[0].inverse() @ X_MJ, relative_to="base"))
        axis = " ".join(repr(float(x)) for x in np.asarray(joint.axis))
        ends = f"<parent>{joint.parent}</parent><child>{child}</child>"
        pose = where[int(rng.integers(3))]
        parts.append(
            f'<joint name="{joint.name}" type="{joint.kind}">{pose}{ends}<axis><xyz>{axis}</xyz></axis></joint>'
        )
    return model("".join(str(part) for part in rng.permutation(parts)))


@pytest.mark.parametrize("moved", [False, True], ids=["at their joints", "beside their joints"])
@pytest.mark.parametrize("name", ["chain of 6", "branched 7", pytest.param("branched 20", marks=pytest.mark.slow)])
def test_random_trees_are_read_back(rng, name, moved):
    craft = trees.draw_tree(rng, name)
    text = _written(rng, craft, trees.draw_pose(rng) if moved else None)
    again = quietly(text, keep=[joint.name for joint in craft.joints if joint.kind == "fixed"])
    q = rng.uniform(-1.0, 1.0, craft.layout.nq)
    places = again.layout.indices(craft.layout.order("v"))
    theirs = dict(zip(craft.layout.moving_joints, q, strict=True))
    mixed = np.array([theirs[joint] for joint in again.layout.moving_joints])
    M = np.asarray(dynamics.mass_matrix(again, mixed))[np.ix_(places, places)]
    assert trees.relative_error(M, trees.mass_matrix(craft, q)) < TOLERANCE
    for body, X in zip(craft.body_names[1:], dynamics.body_poses(craft, q)[1:], strict=True):
        frame = again.frame(body)
        Y = dynamics.body_poses(again, mixed)[again.body_index(frame.body)] @ frame.X_BF
        moved_by = 0.0 if not moved else 1e-3
        gap = np.max(np.abs(np.asarray(Y.p) - np.asarray(X.p)))
        assert gap > moved_by if moved else gap < TOLERANCE


# ---- read as meant


def test_everything_unusual_is_told_in_one_line_each():
    craft, told = read(ARM)
    assert craft.body_names == ("base", "upper", "elbow.body", "weight")
    assert craft.frame_names[4:] == ("world", "pedestal", "forearm", "mount", "tip")
    assert craft.layout.moving_joints == ("shoulder", "elbow")
    slide = craft.joint("slide").follows
    assert (slide.leader, slide.ratio, slide.offset) == ("elbow", 0.05, pytest.approx(0.01 - 0.05 * 0.1))
    expected = (
        "note: link 'weight': it has no <inertial>, which in SDF means 1 kg and 1 kg m2.",
        "note: joint 'shoulder': dry friction 0.7 is kept as joint.friction",
        "note: link 'world': it held the robot to the ground",
        "note: joint 'slide': it follows 0.05 times 'elbow'",
        "note: robot: springs are no part of the model; give to the simulation: ff.effects.JointSpring('elbow', stif",
    )
    for line, start in zip(told, expected, strict=True):
        assert line.startswith(start)


def test_an_axis_may_be_expressed_in_another_frame():
    """The frame `mount` is turned by 30 and 20 degrees; the axis is given in the axes of the pedestal."""
    craft = quietly(ARM)
    R_PJ = np.asarray(craft.joint("shoulder").X_PJ.R)
    R_BP = np.asarray(craft.frame("pedestal").X_BF.R)
    stated = np.array([0.0, 1.0, 0.5]) / np.hypot(1.0, 0.5)
    np.testing.assert_allclose(R_BP.T @ R_PJ @ np.asarray(craft.joint("shoulder").axis), stated, atol=1e-15)


def test_old_files_give_axes_in_the_model_s_frame():
    turned = TWO.replace("1 2 3 0 0 0", "1 2 3 1.5707963267948966 0 0")
    text = hinge("j", "a", "b")
    old, new = (quietly(model(turned + text, version)).joint("j").axis for version in ("1.4", "1.6"))
    np.testing.assert_allclose(new, [0.0, 0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(old, [0.0, 1.0, 0.0], atol=1e-15)


def test_limits_follow_the_specification():
    limits = quietly(ARM).joint("shoulder").limits
    assert (limits.lower, limits.upper, limits.effort, limits.rate) == (-2.0, 2.0, 100.0, np.inf)
    assert quietly(ARM).joint("elbow").limits.upper == np.inf


def test_quaternions_and_degrees():
    quat = '<pose rotation_format="quat_xyzw">1 2 3 0 0 0.7071067811865476 0.7071067811865476</pose>'
    degrees = '<pose degrees="true">1 2 3 0 0 90</pose>'
    for pose in (quat, degrees):
        craft = quietly(model(TWO.replace("<pose>1 2 3 0 0 0</pose>", pose) + hinge("j", "a", "b")))
        np.testing.assert_allclose(craft.joint("j").X_PJ.R[:, 0], [0.0, 1.0, 0.0], atol=1e-15)


def test_a_model_may_stand_in_a_world_and_is_drawn():
    text = ARM.read_text().replace('<model name="bench_arm">', '<world name="w"><model name="bench_arm">')
    craft = quietly(text.replace("</model>", "</model></world>"))
    assert [len(body.shapes) for body in craft.bodies] == [1, 1, 0, 0]
    assert craft.body("upper").shapes[0].colour == "#cc331a"


# ---- refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<sdf/>", "sdf: it has 0 models"),
        ("<robot/>", "its outermost element is <robot>, not <sdf>, so it is not an SDF"),
        ("<!DOCTYPE a><sdf/>", "it has a <!DOCTYPE ...>, which an SDF does not need"),
        (model(TWO + '<joint name="j" type="ball"><parent>a</parent><child>b</child></joint>'), "type 'ball' is not"),
        (model(TWO + hinge("j", "a", "c")), "joint 'j': its child link 'c' does not exist. Links: a, b."),
        (model(TWO + hinge("j", "a", "b", axis="")), "joint 'j': it has no <axis>"),
        (model(TWO), "2 links have no parent: a, b"),
        (model(TWO + hinge("a", "a", "b")), "joint 'a': link 'a' has its name"),
        (model(TWO + "<include><uri>model://arm</uri></include>"), "model: it has a <include> ('model://arm')"),
        (model('<link name="a"><pose relative_to="b"/></link>'), "link 'a': its <pose> is relative to 'b', which does"),
        (
            model('<link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link>'),
            "its <pose> is relative to 'a', which is relative to it in turn",
        ),
        (model('<link name="a"><pose>1 2 x 0 0 0</pose></link>'), "link 'a': <pose>: 'x' is not a finite number"),
        (model('<link name="a"><inertial auto="true"/></link>'), "link 'a': <inertial auto> leaves the mass"),
        (model(f'<link name="a">{MASS}<inertal/></link>'), "unknown element <inertal>; 'inertial' was meant?"),
    ],
)
def test_what_cannot_be_read_is_said_by_name(text, words):
    assert words in refusal(text)


def test_impossible_bodies_are_repaired_as_in_urdf():
    text = model(
        TWO.replace(
            "<izz>0.1</izz></inertia></inertial></link><link", "<izz>0.5</izz></inertia></inertial></link><link"
        )
        + hinge("j", "a", "b")
    )
    assert "link 'a': it is the free base, but principal moments violate the triangle inequality" in refusal(text)
    _, told = read(text, repair=True)
    assert "izz 0.5 -> 0.4 kg m2" in told[0]


def test_findings_are_sorted():
    found = lint_sdf(model(TWO))
    assert found[0].severity == "error"
