"""Robots in MJCF against MuJoCo itself."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from freefloat.readers import ReadingNote, read_mjcf
from freefloat.readers.mjcf.reader import lint_mjcf
from freefloat.values import ModelError
from support import trees

mujoco = pytest.importorskip("mujoco")

ROOT = Path(__file__).parents[3]
ARM = ROOT / "examples" / "data" / "robots" / "bench_arm.xml"
# MuJoCo refuses the bracket, which is possible as a part of the body it is fixed to.
POSSIBLE = ARM.read_text().replace('"1e-5 1e-5 5e-5"', '"1e-5 1e-5 1.5e-5"')
BODY = '<inertial mass="2" pos="0.1 0 0" diaginertia="0.1 0.1 0.1"/>'
TOLERANCE = 1e-12  # of the largest entry: the same numbers, in another order; 1e-15 was measured


@pytest.fixture
def menagerie_files(monkeypatch):
    """The benchmark that compares the public arms."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import menagerie_files

    yield menagerie_files
    sys.modules.pop("menagerie_files", None)


def read(source, **options):
    """The spacecraft and the lines of the note."""
    with pytest.warns(ReadingNote) as caught:
        craft = read_mjcf(source, **options)
    return craft, [line.strip() for line in str(caught[0].message).splitlines()[1:]]


def quietly(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        return read_mjcf(source, **options)


def world(inside, more=""):
    return f'<mujoco model="m"><worldbody>{inside}</worldbody>{more}</mujoco>'


def refusal(text, **options):
    with pytest.raises(ModelError) as caught:
        quietly(text, **options)
    return str(caught.value)


# ---- against MuJoCo


def test_an_arm_has_mujocos_mass_matrix_bias_damping_and_poses(menagerie_files):
    """With armature, damping, coupled joints, a joint beside the origin and a reference position."""
    craft = quietly(POSSIBLE)
    gaps = menagerie_files.differences(craft, menagerie_files.Peer(POSSIBLE), np.random.default_rng(1))
    assert max(gaps.values()) < TOLERANCE, gaps


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('armature="0.02"', 'armature="0.03"'),
        ('damping="0.4"', 'damping="0.5"'),
        ('pos="0 0.02 0.01"', 'pos="0 0.02 0.02"'),
        ('ref="25"', 'ref="26"'),
        ('polycoef="0.002 0.8', 'polycoef="0.002 0.9'),
    ],
)
def test_another_number_would_be_noticed(menagerie_files, old, new):
    """Negative control: MuJoCo gets the old number, we another."""
    craft = quietly(POSSIBLE.replace(old, new))
    peer = menagerie_files.Peer(POSSIBLE)
    if "polycoef" in old:  # our coupling is imposed on MuJoCo, which has both joints: compare the law instead
        assert craft.joint("right").follows.ratio == 0.9
        return
    gaps = menagerie_files.differences(craft, peer, np.random.default_rng(1))
    assert max(gaps.values()) > 1e-6


@pytest.mark.parametrize("name", ["chain of 6", "branched 7", pytest.param("branched 20", marks=pytest.mark.slow)])
def test_random_trees_are_those_of_mujoco(rng, menagerie_files, name):
    """Written by MuJoCo (six digits), read by both."""
    craft = trees.with_joint_rotors(rng, trees.draw_tree(rng, name))
    text = trees.InMujoco(craft).spec.to_xml()
    again = quietly(text)
    assert set(again.layout.moving_joints) == set(craft.layout.moving_joints)
    gaps = menagerie_files.differences(again, menagerie_files.Peer(text), rng)
    assert max(gaps.values()) < TOLERANCE, gaps


def test_the_listed_arms_have_names_and_hashes(menagerie_files):
    rows = [line.split("  ", 1) for line in menagerie_files.LIST.read_text().splitlines()]
    assert len(rows) == len({digest for digest, _ in rows}) >= menagerie_files.AT_LEAST
    assert all(len(digest) == 64 for digest, _ in rows)


# ---- read as meant


def test_everything_unusual_is_told_in_one_line_each():
    craft, told = read(ARM)
    assert craft.body_names == ("base", "upper", "elbow.body", "hand", "left_finger", "right_finger")
    assert craft.frame_names[6:] == ("pedestal", "camera_bracket", "forearm", "lens")
    assert craft.layout.moving_joints == ("shoulder", "elbow", "wrist", "left")
    expected = (
        "note: <actuator>: its 2 laws are left out",
        "note: body 'pedestal': it was held to the ground; here it is the base, and floats.",
        "note: joint 'shoulder': dry friction 0.7 is kept as joint.friction",
        "note: joint 'right': it follows 0.8 times 'left' plus 0.002",
        "note: link 'camera_bracket': principal moments violate the triangle inequality",
        "note: robot: springs are no part of the model; give to the simulation: ff.effects.JointSpring('elbow', stif",
    )
    for line, start in zip(told, expected, strict=True):
        assert line.startswith(start)


def test_torque_limits_come_from_motors_and_joints():
    craft = quietly(ARM)
    assert [float(craft.joint(name).limits.effort) for name in ("shoulder", "elbow", "wrist")] == [100.0, 40.0, np.inf]
    assert float(craft.joint("shoulder").limits.upper) == pytest.approx(np.deg2rad(120.0))
    text = world(
        f'<body>{BODY}<freejoint/><body name="b">{BODY}<joint name="j" actuatorfrcrange="-3 3"/></body></body>',
        '<actuator><motor joint="j" forcerange="-7 7"/></actuator>',
    )
    assert float(quietly(text).joint("j").limits.effort) == 3.0


def test_a_rotor_may_be_stated_at_the_motor():
    text = world(
        f'<body>{BODY}<freejoint/><body name="b">{BODY}<joint name="j" armature="0.5"/></body></body>',
        '<actuator><motor joint="j" gear="3" armature="0.25"/></actuator>',
    )
    if "actuator_armature" not in dir(mujoco.MjModel):
        pytest.skip("this MuJoCo has no armature of motors")
    assert float(quietly(text).joint("j").rotor_inertia) == 0.5 + 9.0 * 0.25


def test_springs_are_told_with_their_new_names():
    _, told = read(ARM, names={"elbow": "knee"})
    assert "JointSpring('knee', stiffness=3, rest=0.174532925)" in told[-1]
    assert f"{np.deg2rad(10.0):.9g}" == "0.174532925"


@pytest.mark.parametrize(
    "axes",
    ['euler="10 20 30"', 'axisangle="0 1 1 40"', 'zaxis="1 2 3"', 'xyaxes="0 1 0 1 0 0"', 'quat="2 0.1 0.3 0.2"'],
)
def test_principal_axes_may_be_turned_in_every_way_that_mjcf_has(menagerie_files, axes):
    turned = f'<inertial mass="2" pos="0.1 0.2 0" {axes} diaginertia="0.11 0.12 0.13"/>'
    inside = f'<body name="a">{BODY}<freejoint/><body name="b">{turned}<joint name="j"/></body></body>'
    for options in ("", '<compiler angle="radian" eulerseq="zxy"/>'):
        text = world(inside, options)
        gaps = menagerie_files.differences(quietly(text), menagerie_files.Peer(text), np.random.default_rng(1))
        assert max(gaps.values()) < TOLERANCE, gaps


@pytest.mark.filterwarnings("ignore:compiler attribute 'settotalmass' is deprecated")
def test_what_mujocos_compiler_is_told_to_do_with_masses_is_done(menagerie_files):
    inside = f'<body name="a">{BODY}<freejoint/><body name="b">{BODY}<joint name="j"/></body></body>'
    for options in ('settotalmass="7"', 'boundmass="3"', 'inertiafromgeom="true"', 'fusestatic="true"'):
        text = world(inside.replace("</body></body>", '<geom size="0.3"/></body><geom size="0.2"/></body>'))
        text = text.replace("<worldbody>", f"<compiler {options}/><worldbody>")
        craft, peer = quietly(text), menagerie_files.Peer(text)
        assert float(craft.mass) == pytest.approx(float(peer.model.body_mass.sum()), rel=1e-12)
        assert max(menagerie_files.differences(craft, peer, np.random.default_rng(1)).values()) < TOLERANCE


def test_shapes_are_drawn_and_missing_meshes_told():
    craft = quietly(ARM)
    assert [len(body.shapes) for body in craft.bodies] == [1, 3, 1, 1, 1, 1]
    (finding,) = [f for f in lint_mjcf(ARM) if f.severity == "warning"]
    assert str(finding) == "<asset>: mesh files are not there, and not drawn: cover.stl."
    lost = POSSIBLE.replace('<inertial mass="8" pos="0 0 0.05" diaginertia="0.08 0.07 0.06"/>', "")
    assert "body 'pedestal': its mass comes from mesh 'cover.stl', which is not there" in refusal(lost)


def test_several_arms_on_the_ground_share_a_base():
    arm = f'<body name="{{0}}">{BODY}<body name="{{0}}.arm">{BODY}<joint name="{{0}}.j"/></body></body>'
    craft, told = read(world(arm.format("left") + arm.format("right")))
    assert craft.body_names == ("base", "left.arm", "right.arm")
    assert any("it held the robot to the ground" in line for line in told)


def test_one_of_several_robots_is_chosen_by_its_root():
    arm = f'<body name="arm">{BODY}<body name="link">{BODY}<joint name="j"/></body></body>'
    cube = f'<body name="cube">{BODY}<freejoint/></body>'
    assert "type 'floating' is read only from a massless root link" in refusal(world(arm + cube))
    craft = quietly(world(arm + cube), root="arm")
    assert craft.body_names == ("base", "link")


# ---- refused, or repaired


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            world(f'<body name="b">{BODY}<joint name="j" type="ball"/></body>'),
            "joint 'j': ball joints are not modelled",
        ),
        (world('<flexcomp name="f" type="grid"/>'), "<flexcomp> 'f': deformable bodies are not modelled"),
        (world('<body name="b" pos="nan 0 0"/>'), "<body pos>: 'nan 0 0' is not a finite number"),
        (
            world('<body nme="b"/>'),
            "element 'body' (line 1): Schema violation: unrecognized attribute: 'nme', says MuJoCo",
        ),
        (world('<replicate count="200"><replicate count="200"/></replicate>'), "it asks for 40200 copies"),
        (
            world(f'<body>{BODY}<freejoint/><body>{BODY}<joint name="j" armature="-1"/></body></body>'),
            "joint 'j': its armature, with its motors', is -1. Give zero or more.",
        ),
        ("<robot/>", "its outermost element is <robot>, not <mujoco>, so it is not an MJCF"),
        ("<!DOCTYPE a><mujoco/>", "it has a <!DOCTYPE ...>, which an MJCF does not need"),
        ("<mujoco><worldbody></mujoco>", "it is not well-formed XML: mismatched tag at line 1"),
        ("<mujoco/>", "link 'world': it is the free base but has no mass"),
    ],
)
def test_what_cannot_be_read_is_said_by_name(text, words):
    assert words in refusal(text)


def test_loops_and_tendons_are_left_out_only_on_request():
    inside = f'<body name="a">{BODY}<freejoint/><body name="b">{BODY}<joint name="j"/></body></body>'
    more = (
        '<equality><connect name="loop" body1="a" body2="b" anchor="0 0 0"/></equality>'
        '<tendon><fixed name="wire" stiffness="2"><joint joint="j" coef="1"/></fixed></tendon>'
    )
    text = world(inside, more)
    said = refusal(text)
    assert "equality 'loop': <connect> holds parts together that are no tree" in said
    assert "tendon 'wire': its stiffness acts on several joints" in said
    _, told = read(text, repair=True)
    assert [line.partition(":")[0] for line in told] == ["repair", "repair"]


def test_a_body_on_several_joints_gets_light_bodies_between_them_on_request(menagerie_files):
    """With 1 g between them the mass matrix is MuJoCo's to 1 g in 4 kg."""
    joints = '<joint name="x" type="slide" axis="1 0 0"/><joint name="turn" axis="0 0 1" pos="0.1 0 0"/>'
    text = world(f'<body name="a">{BODY}<body name="b" pos="0 0 1">{BODY}{joints}</body></body>')
    assert "link 'x.body': it moves on joint 'x' but has no mass" in refusal(text)
    craft = quietly(text, repair=True)
    assert craft.layout.moving_joints == ("x", "turn")
    gaps = menagerie_files.differences(craft, menagerie_files.Peer(text), np.random.default_rng(1))
    assert gaps["poses"] < TOLERANCE
    assert 1e-6 < gaps["mass matrix"] < 1e-3


def test_impossible_bodies_are_repaired_as_in_urdf():
    heavy = BODY.replace("0.1 0.1 0.1", "0.02 0.03 0.2")
    text = world(f'<body name="a">{BODY}<freejoint/><body name="b">{heavy}<joint name="j"/></body></body>')
    assert "link 'b': it moves on joint 'j', but principal moments violate the triangle inequality" in refusal(text)
    _, told = read(text, repair=True)
    assert "ixx 0.02 -> 0.07 kg m2, iyy 0.03 -> 0.08 kg m2, izz 0.2 -> 0.15 kg m2" in told[0]


def test_without_mujoco_the_remedy_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"pip install 'freefloat\[mujoco\]'"):
        read_mjcf(ARM)
