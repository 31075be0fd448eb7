"""Flexible joints as parts of a spacecraft: coordinates, starts, numbers by path, and what is refused by name."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.model import Follow, Joint
from freefloat.spatial import Pose

GEAR = ff.JointFlexibility(stiffness=2000.0, motor_inertia=2e-3, ratio=50.0)
LINK = {"parent": "base", "joint": "revolute", "mass": 5.0, "inertia": (1.5, 1.5, 2.0)}


def hub():
    return ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 30.0))


def test_the_motor_comes_after_its_joint():
    craft = hub().with_link("arm", flexibility=GEAR, **LINK).with_link("hand", **LINK | {"parent": "arm"})
    assert craft.layout.order("q") == ("arm", "arm.motor", "hand")
    assert craft.layout.order("v") == ("base", "arm", "arm.motor", "hand")
    assert craft.layout.moving_joints == ("arm", "hand")
    assert craft.layout.modes == ()
    assert craft.layout.motor_coordinates(("arm", "hand")) == ("arm.motor", "hand")


def test_a_start_does_not_wind_gears_up():
    craft = hub().with_link("arm", flexibility=GEAR, **LINK).with_link("hand", **LINK | {"parent": "arm"})
    assert craft.at_rest(joints={"arm": 0.3, "hand": 0.1}).q.tolist() == [0.3, 0.3, 0.1]
    moving = craft.in_motion(joints_deg_s={"arm": 90.0})
    assert moving.v[6:].tolist() == [np.pi / 2, np.pi / 2, 0.0]


def test_numbers_go_by_path_and_stiff_joints_keep_the_rotor():
    craft = hub().with_link("arm", flexibility=GEAR, **LINK).with_value("arm.flexibility.stiffness", 50.0)
    assert craft.joint("arm").flexibility.stiffness == 50.0
    stiff = craft.with_stiff_joints()
    assert stiff.layout.nq == 1
    assert stiff.joint("arm").rotor_inertia == 2e-3 * 50.0**2
    assert stiff.with_stiff_joints() is stiff
    again = stiff.with_flexible_joint("arm", GEAR)
    assert again.joint("arm").flexibility is GEAR
    assert again.joint("arm").rotor_inertia == 0.0


def test_teeth_push_beyond_half_the_free_play_and_never_pull():
    gear = ff.JointFlexibility(stiffness=1000.0, motor_inertia=1e-3, damping=50.0, free_play=0.02)
    torsions = np.array([-0.015, -0.009, 0.0, 0.009, 0.015])
    spring = np.array([gear.spring_torque(x) for x in torsions])
    np.testing.assert_allclose(spring, [-5.0, 0.0, 0.0, 0.0, 5.0], atol=1e-12)
    np.testing.assert_allclose([gear.energy(x) for x in torsions], spring**2 / 2000.0, atol=1e-12)
    for rate, whole in ((0.04, 7.0), (-0.04, 3.0), (-1.0, 0.0)):  # 5 N m and 50 N m s/rad; teeth that part let go
        for x, sign in zip(torsions[[0, 4]], (-1.0, 1.0), strict=True):
            found = gear.spring_torque(x) + gear.loss_torque(x, np.float64(sign * rate))
            assert float(found) == pytest.approx(sign * whole)
        assert float(gear.loss_torque(torsions[3], np.float64(rate))) == 0.0


def test_mounting_takes_the_motor_along():
    arm = hub().with_link("arm", flexibility=GEAR, **LINK)
    pair = hub().mount(arm, name="other", at=Pose(position=(1.0, 0.0, 0.0)))
    assert pair.layout.order("q") == ("other.arm", "other.arm.motor")
    _, left = pair.detach("other")
    assert left.layout.order("q") == ("arm", "arm.motor")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stiffness": 0.0}, "JointFlexibility.stiffness must be positive, got 0 N m/rad"),
        ({"motor_inertia": -1.0}, "JointFlexibility.motor_inertia must be positive"),
        ({"ratio": 0.0}, "JointFlexibility.ratio must not be zero"),
        ({"ratio": np.nan}, "JointFlexibility.ratio must be finite"),
        ({"damping": -1.0}, "JointFlexibility.damping must be at least 0"),
        ({"free_play": -0.1}, "JointFlexibility.free_play must be at least 0"),
        ({"hysteresis": np.inf}, "JointFlexibility.hysteresis must be finite"),
        ({"smoothing": 0.0}, "JointFlexibility.smoothing must be positive"),
    ],
)
def test_bad_numbers_are_refused_by_name(change, words):
    with pytest.raises(ff.ModelError, match=words.replace("(", r"\(")):
        dataclasses.replace(GEAR, **change)


def test_bad_joints_are_refused_by_name():
    joint = Joint("arm", kind="revolute", parent="base", X_PJ=Pose(), axis=(0.0, 0.0, 1.0))
    cases = {
        "so it has no motor that could wind up": {"kind": "fixed", "flexibility": GEAR},
        "Give 'elbow' the flexibility": {"follows": Follow("elbow"), "flexibility": GEAR},
        "leave rotor_inertia out": {"rotor_inertia": 0.1, "flexibility": GEAR},
    }
    for words, change in cases.items():
        with pytest.raises(ff.ModelError, match=f"Joint 'arm'.*{words}"):
            dataclasses.replace(joint, **change)
    heavy = dataclasses.replace(GEAR, motor_inertia=31.0)
    with pytest.raises(ff.ModelError, match=r"Motor 'arm.motor': its 31 kg m2.*exceed the 30 kg m2 that 'base' has"):
        hub().with_link("arm", flexibility=heavy, **LINK)
    with pytest.raises(ff.ModelError, match=r"already has a base, joint or wheel 'arm\.motor'"):
        hub().with_link("arm.motor", **LINK).with_link("arm", flexibility=GEAR, **LINK)


def test_a_file_has_stiff_joints_with_their_rotors(tmp_path):
    craft = hub().with_link("arm", flexibility=GEAR, **LINK)
    ff.write_urdf(craft, tmp_path / "arm.urdf")
    read = ff.read_urdf(tmp_path / "arm.urdf")
    assert read.joint("arm").flexibility is None
    assert read.joint("arm").rotor_inertia == pytest.approx(5.0, rel=1e-12)


def test_a_pose_is_reached_without_winding_gears_up():
    arm = ff.library.ets7()
    for joint in arm.layout.moving_joints:
        arm = arm.with_flexible_joint(joint, ff.JointFlexibility(stiffness=1e4, motor_inertia=1e-5, ratio=100.0))
    bent = arm.at_rest(joints_deg=(0, 0, 10, -32.8, 0, 0)).q
    goal = ff.dynamics.frame_pose(arm, arm.at_rest(joints_deg=(2, 3, 8, -30, 1, 4)).q, "hand")
    found = ff.dynamics.inverse_kinematics(arm, "hand", goal, bent)
    assert found.reached
    assert np.array_equal(found.q[::2], found.q[1::2])
