"""URDF in: what is read, what is merged, what is ignored. Pinocchio is the oracle for masses and places."""

import numpy as np
import pinocchio as pin
import pytest

from freefloat.readers import read_urdf
from freefloat.readers.urdf.reader import lint_urdf

INERTIAL = """<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>
  <inertia ixx="{ixx}" iyy="1.2" izz="1.4" ixy="0.1" ixz="-0.05" iyz="0.02"/></inertial>"""


def inertial(mass=2.0, xyz="0.1 0.2 0.3", rpy="0 0 0", ixx=1.0):
    return INERTIAL.format(mass=mass, xyz=xyz, rpy=rpy, ixx=ixx)


def link(name, inside=None):
    return f'<link name="{name}">{inertial() if inside is None else inside}</link>'


def joint(name, kind, parent, child, inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*parts):
    return '<?xml version="1.0"?>\n<robot name="arm">\n' + "\n".join(parts) + "\n</robot>"


STATED = np.array([[1.0, 0.1, -0.05], [0.1, 1.2, 0.02], [-0.05, 0.02, 1.4]])

ARM = robot(
    link("hub"),
    link("upper", inertial(3.0, "0.2 0 0", "0.3 -0.4 1.9")),
    link("lower", inertial(1.0, "0 0.1 0", "1 2 3")),
    link("plate", inertial(0.7, "0.1 0.1 0.1", "-1 0.5 0.2")),
    link("tool", ""),
    link("bolt", inertial(0.2, "0.3 0 0")),
    joint(
        "j1",
        "revolute",
        "hub",
        "upper",
        '<origin xyz="1 0 0.5" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>'
        '<limit lower="-1.5" upper="2" velocity="0.7" effort="40"/><dynamics damping="0.25" friction="0"/>',
    ),
    joint("mount", "fixed", "upper", "plate", '<origin xyz="0.5 0 0" rpy="0.7 0 -0.2"/>'),
    joint(
        "j2",
        "prismatic",
        "plate",
        "lower",
        '<origin xyz="0 0 0.4" rpy="0 1.1 0"/><axis xyz="0 3 4"/><limit upper="0.3" velocity="0.1" effort="5"/>',
    ),
    joint("tip", "fixed", "lower", "tool", '<origin xyz="0 0 0.1"/>'),
    joint("screw", "fixed", "tool", "bolt", '<origin xyz="0 0.05 0" rpy="0 0 1.5"/>'),
)


def test_a_file_and_its_text_are_the_same(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    for source in (path, str(path), ARM, "\ufeff\n" + ARM):
        assert read_urdf(source).body_names == ("base", "upper", "lower")
    assert read_urdf(path).name == "arm"
    assert read_urdf(path, name="other").name == "other"


def test_links_on_fixed_joints_become_frames():
    craft = read_urdf(ARM)
    assert craft.joint_names == ("j1", "j2")
    assert {frame.name: frame.body for frame in craft.frames} == {
        "hub": "base",
        "plate": "upper",
        "tool": "lower",
        "bolt": "lower",
    }
    np.testing.assert_array_equal(craft.frame("hub").X_BF.R, np.eye(3))
    np.testing.assert_allclose(craft.frame("bolt").X_BF.p, [0.0, 0.05, 0.1], rtol=0.0, atol=1e-15)  # one sum


def test_joints_keep_kind_limits_and_damping():
    j1, j2 = read_urdf(ARM).joints
    assert (j1.kind, j1.parent, j1.damping) == ("revolute", "base", 0.25)
    assert (j1.limits.lower, j1.limits.upper, j1.limits.rate, j1.limits.effort) == (-1.5, 2.0, 0.7, 40.0)
    assert (j2.kind, j2.parent, j2.limits.lower, j2.limits.upper) == ("prismatic", "upper", 0.0, 0.3)
    np.testing.assert_allclose(j2.axis, [0.0, 0.6, 0.8], rtol=0.0, atol=1e-16)


def test_an_unturned_inertial_keeps_its_digits():
    base = read_urdf(ARM).body("base")
    assert base.mass == 2.0
    np.testing.assert_array_equal(base.com, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(base.inertia, STATED)


def test_a_turned_inertial_is_turned_into_body_axes():
    craft = read_urdf(robot(link("base", inertial(rpy="0 0 1.5707963267948966"))))
    # x of the inertial frame is y of the body: ixx and iyy change places, ixz becomes iyz, and so on.
    expected = [[1.2, -0.1, -0.02], [-0.1, 1.0, -0.05], [-0.02, -0.05, 1.4]]
    np.testing.assert_allclose(craft.bodies[0].inertia, expected, rtol=0.0, atol=1e-15)  # three roundings


def place(model, data, name):
    X = data.oMf[model.getFrameId(name)]
    return X.rotation, X.translation


def test_merged_bodies_agree_with_pinocchio():
    craft = read_urdf(ARM)
    model = pin.buildModelFromXML(ARM, pin.JointModelFreeFlyer())
    for body, joint_name in (("upper", "j1"), ("lower", "j2")):
        theirs, ours = model.inertias[model.getJointId(joint_name)], craft.body(body)
        # O(1) numbers through two rotations and a parallel-axis step each: some tens of roundings.
        assert ours.mass == pytest.approx(theirs.mass, abs=1e-14)
        np.testing.assert_allclose(ours.com, theirs.lever, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(ours.inertia, theirs.inertia, rtol=0.0, atol=1e-13)


def test_random_trees_have_pinocchio_s_mass_centre_and_places(random_craft):
    """At zero joint positions; the mass matrix is compared in tests/physics."""
    from freefloat.readers import write_urdf

    text = write_urdf(random_craft(9))
    craft = read_urdf(text)
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    data = model.createData()
    q = pin.neutral(model)
    pin.framesForwardKinematics(model, data, q)
    Xs_BL = [None] * len(craft.bodies)
    total, moment = 0.0, np.zeros(3)
    for index, (body, parent) in enumerate(zip(craft.bodies, craft.parents, strict=True)):
        if parent < 0:
            R, p = np.eye(3), np.zeros(3)
        else:
            stated, (R_P, p_P) = craft.joints[index - 1].X_PJ, Xs_BL[parent]
            R, p = R_P @ stated.R, p_P + R_P @ stated.p
        Xs_BL[index] = (R, p)
        total, moment = total + body.mass, moment + body.mass * (R @ body.com + p)
        their_R, their_p = place(model, data, body.name)
        # Chains of up to nine products of O(1) numbers.
        np.testing.assert_allclose(R, their_R, rtol=0.0, atol=1e-13)
        np.testing.assert_allclose(p, their_p, rtol=0.0, atol=1e-12)
    assert total == pytest.approx(pin.computeTotalMass(model), rel=1e-14)
    np.testing.assert_allclose(moment / total, pin.centerOfMass(model, data, q), rtol=0.0, atol=1e-12)


def test_the_axis_is_x_when_none_is_given():
    craft = read_urdf(robot(link("base"), link("a"), joint("j", "continuous", "base", "a")))
    np.testing.assert_array_equal(craft.joint("j").axis, [1.0, 0.0, 0.0])


def test_continuous_joints_are_revolute_without_position_limits():
    limit = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'
    craft = read_urdf(robot(link("base"), link("a"), joint("j", "continuous", "base", "a", limit)))
    limits = craft.joint("j").limits
    assert craft.joint("j").kind == "revolute"
    assert (limits.lower, limits.upper, limits.rate, limits.effort) == (-np.inf, np.inf, 2.0, 3.0)


def test_joints_may_stand_in_any_order():
    free = "continuous"
    craft = read_urdf(robot(link("c"), link("b"), link("a"), joint("bc", free, "b", "c"), joint("ab", free, "a", "b")))
    assert craft.body_names == ("base", "b", "c")
    assert craft.parents == (-1, 0, 1)


def test_a_massless_root_takes_the_mass_of_what_is_fixed_to_it():
    craft = read_urdf(robot(link("root", ""), link("shell"), joint("j", "fixed", "root", "shell")))
    assert craft.body_names == ("base",)
    assert craft.body("base").mass == 2.0
    assert craft.frame_names == ("base", "root", "shell")


def test_point_masses_may_be_part_of_a_body():
    point = '<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'
    at = '<origin xyz="1.1 0.2 0.3"/>'
    craft = read_urdf(robot(link("base"), link("ballast", point), joint("j", "fixed", "base", "ballast", at)))
    # 2 kg at the origin of the sum and 1 kg at 1 m: reduced mass 2/3 kg about y and z.
    np.testing.assert_allclose(
        craft.bodies[0].inertia, STATED + np.diag([0.0, 2.0 / 3.0, 2.0 / 3.0]), rtol=0.0, atol=1e-15
    )


def test_a_floating_joint_from_a_massless_root_is_dropped():
    craft = read_urdf(robot(link("world", ""), link("hub"), joint("free", "floating", "world", "hub")))
    assert craft.body_names == ("base",)
    assert craft.joint_names == ()
    assert craft.frame_names == ("base", "hub")


def test_what_does_not_move_anything_is_ignored():
    looks = '<visual><geometry><box size="1 1 1"/></geometry></visual><collision/>'
    text = robot(
        '<material name="grey"/>',
        link("base", inertial() + looks),
        "<transmission/>",
        "<gazebo/>",
        "<!-- <!DOCTYPE -->",
    )
    assert read_urdf(text).body_names == ("base",)
    assert [str(f) for f in lint_urdf(text)] == [
        "robot: element <transmission> is ignored.",
        "robot: element <gazebo> is ignored.",
    ]


def test_wheels_and_kept_joints_come_from_the_extension():
    extension = """<freefloat><keep joint="rail"/>
      <wheel name="wx" link="hub" axis="2 0 0" inertia="0.02" max_torque="0.1" max_momentum="4"/>
      <wheel name="wt" link="tilted" axis="1 0 0" inertia="0.03"/></freefloat>"""
    tilt = '<origin rpy="0 0 1.5707963267948966"/>'
    craft = read_urdf(
        robot(
            link("hub"),
            link("tilted", ""),
            link("panel"),
            joint("t", "fixed", "hub", "tilted", tilt),
            joint("rail", "fixed", "hub", "panel", tilt),
            extension,
        )
    )
    assert craft.body_names == ("base", "panel")
    assert craft.joint("rail").kind == "fixed"
    wx, wt = craft.wheels
    np.testing.assert_array_equal(wx.axis, [1.0, 0.0, 0.0])
    assert (wx.body, wx.inertia, wx.max_torque, wx.max_momentum) == ("base", 0.02, 0.1, 4.0)
    np.testing.assert_allclose(wt.axis, [0.0, 1.0, 0.0], rtol=0.0, atol=1e-15)  # turned with its link
    assert (wt.body, wt.max_torque) == ("base", np.inf)


def test_a_chain_of_many_links_is_read():
    """Deep trees must not meet Python's recursion limit."""
    count = 1200
    frames = [link(f"l{k}", "") for k in range(1, count)]
    joints = [joint(f"j{k}", "fixed", f"l{k - 1}", f"l{k}") for k in range(1, count)]
    assert len(read_urdf(robot(link("l0"), *frames, *joints)).frames) == count


@pytest.mark.parametrize(
    ("parts", "part", "said"),
    [
        ([link("base", inertial(ixx=1.0, mass=1e-7))], "link 'base'", "inertia looks too large"),
        ([link("base", inertial(mass=1e7))], "link 'base'", "inertia looks too small"),
        ([link("base", inertial(mass=50.0, xyz="40 0 0"))], "link 'base'", "centre of mass is 40 m"),
        ([link("base"), link("a"), joint("j", "revolute", "base", "a")], "joint 'j'", "no <limit>"),
        (
            [link("base"), link("a"), joint("j", "prismatic", "base", "a", '<limit upper="1"/>')],
            "joint 'j'",
            "velocity",
        ),
        (
            [
                link("base"),
                link("a"),
                joint("j", "revolute", "base", "a", '<limit velocity="1" effort="1"/>'),
            ],
            "joint 'j'",
            "allows no motion",
        ),
        (
            [
                link("base"),
                link("a"),
                joint("j", "continuous", "base", "a", '<limit velocity="1" effort="0"/>'),
            ],
            "joint 'j'",
            "effort> is 0",
        ),
        (
            [link("base"), link("a"), joint("j", "continuous", "base", "a", '<axis xyz="0 0 2"/>')],
            "joint 'j'",
            "length 2",
        ),
        (
            [link("base"), link("a"), joint("j", "continuous", "base", "a", '<origin rpy="1.5708 0 0"/>')],
            "joint 'j'",
            "3.7e-06 rad away",
        ),
        (
            [link("base"), link("a"), joint("j", "continuous", "base", "a", "<safety_controller/>")],
            "joint 'j'",
            "<safety_controller> is ignored",
        ),
        (
            [link("w", ""), link("a"), joint("j", "floating", "w", "a", '<origin xyz="1 0 0"/>')],
            "joint 'j'",
            "<origin> is ignored",
        ),
        ([link("base", inertial() + "<self_collide/>")], "link 'base'", "<self_collide> is ignored"),
    ],
)
def test_what_is_suspicious_is_a_warning_and_is_read(parts, part, said):
    text = robot(*parts)
    found = lint_urdf(text)
    assert {finding.severity for finding in found} == {"warning"}
    assert any(finding.part == part and said in finding.text for finding in found)
    read_urdf(text)


def test_a_clean_file_has_no_findings():
    assert lint_urdf(ARM.replace("0 3 4", "0 0.6 0.8")) == []
