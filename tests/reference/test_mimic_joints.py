"""A gripper with coupled joints, built here part by part, against Pinocchio's own reading of the file (`mimic=True`).

Mass matrix, bias, and the pose of every link to 1e-10, of the largest entry. Nothing of the URDF reader is used.
Pinocchio 4.1 goes through joints by name and refuses a follower that it meets before its leader, and a follower of a
follower. So the leader gets a name that comes first, and the chain of two is multiplied out in the text that it reads.
"""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from freefloat import dynamics
from freefloat.model import Follow, Spacecraft
from freefloat.spatial import Pose
from support import trees

FILE = Path(__file__).parents[2] / "examples" / "data" / "robots" / "gripper.urdf"
CHAIN = '<mimic joint="inner_joint" multiplier="1.5" offset="-0.1"/>'
FLAT = '<mimic joint="driver_joint" multiplier="-1.05" offset="0.2"/>'
TOLERANCE = 1e-10
TURN = np.rad2deg((0.1, -0.2, 0.3))  # of every joint: roll, pitch, yaw in the file


def gripper(inner: float = -0.7) -> Spacecraft:
    """The numbers of the file; the finger tip follows the inner link, which follows the driver: multiplied out."""

    def at(*position: float) -> Pose:
        return Pose.from_rpy_deg(TURN, position)

    tip = Follow("driver_joint", 1.5 * inner, 1.5 * 0.2 - 0.1)
    couplings = {"inner": Follow("driver_joint", inner, 0.2), "tip": tip, "jaw_right": Follow("left", -1.0)}
    craft = Spacecraft.from_base("gripper", mass=2.0, com=(0.0, 0.0, 0.05), inertia=(0.004, 0.005, 0.003))
    y, z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for name, parent, joint, kind, pose, axis, mass, com, inertia in (
        ("wrist", "base", "roll", "revolute", at(0, 0, 0.1), z, 1.0, (0, 0.01, 0.04), (0.002, 0.002, 0.001)),
        ("driver", "wrist", "driver_joint", "revolute", at(-0.03, 0, 0.05), y, 0.08, (0.03, 0, 0), (5e-5, 9e-5, 8e-5)),
        ("inner", "wrist", "inner_joint", "revolute", at(0.03, 0, 0.05), y, 0.1, (0.02, 0, 0.01), (1e-4, 1.2e-4, 8e-5)),
        ("tip", "inner", "tip_joint", "revolute", at(0.05, 0, 0), (0, 1, 0.5), 0.03, (0.01, 0, 0), (1e-5, 2e-5, 2e-5)),
        ("jaw_left", "wrist", "left", "prismatic", at(0, 0.04, 0.08), y, 0.2, (0, 0.01, 0), (2e-4, 1e-4, 2e-4)),
        ("jaw_right", "wrist", "right", "prismatic", at(0, -0.04, 0.08), y, 0.2, (0, -0.01, 0), (2e-4, 1e-4, 2e-4)),
    ):
        craft = craft.with_link(
            name,
            parent=parent,
            joint_name=joint,
            joint=kind,
            at=pose,
            axis=axis,
            mass=mass,
            com=com,
            inertia=inertia,
            follows=couplings.get(name),
        )
    return craft


def in_pinocchio() -> pin.Model:
    """Its own reading of the file, with its own coupled joints."""
    text = FILE.read_text()
    assert CHAIN in text
    text = text.replace(CHAIN, FLAT).replace("outer", "driver")
    return pin.buildModelFromXML(text, pin.JointModelFreeFlyer(), mimic=True)


def differences(craft: Spacecraft, rng: np.random.Generator) -> dict[str, float]:
    """How far we are from Pinocchio."""
    model = in_pinocchio()
    model.gravity.setZero()
    data, q, v = model.createData(), trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    theirs, order = pin.neutral(model), list(range(6))
    for name, x in zip(craft.layout.moving_joints, q, strict=True):
        joint = model.joints[model.getJointId(name)]
        theirs[joint.idx_q : joint.idx_q + joint.nq] = x if joint.nq == 1 else (np.cos(x), np.sin(x))
        order.append(joint.idx_v)
    assert model.nv == craft.layout.nv == 9
    speeds = np.zeros(model.nv)
    speeds[order] = v
    M = np.triu(pin.crba(model, data, theirs))
    M = (M + np.triu(M, 1).T)[np.ix_(order, order)]
    h = pin.nonLinearEffects(model, data, theirs, speeds)[order]
    pin.framesForwardKinematics(model, data, theirs)
    found = {
        "mass matrix": trees.relative_error(dynamics.mass_matrix(craft, q), M),
        "bias": trees.relative_error(dynamics.bias(craft, q, v), h),
    }
    for name, pose in zip(craft.body_names[1:], dynamics.body_poses(craft, q)[1:], strict=True):
        other = data.oMf[model.getFrameId(name, pin.FrameType.BODY)]
        ours = np.column_stack([pose.R, pose.p])
        found[name] = float(np.max(np.abs(ours - np.column_stack([other.rotation, other.translation]))))
    return found


def test_they_are_those_of_pinocchio(rng):
    gaps = differences(gripper(), rng)
    trees.report(gaps)
    assert len(gaps) == 8
    assert max(gaps.values()) < TOLERANCE


def test_a_wrong_sign_of_the_ratio_is_seen(rng):
    """Negative control."""
    gaps = differences(gripper(inner=0.7), rng)
    assert gaps["mass matrix"] > 1e-6
    assert min(gaps[name] for name in ("bias", "inner", "tip")) > 1e-4
    assert max(gaps[name] for name in ("wrist", "driver", "jaw_left", "jaw_right")) < TOLERANCE


@pytest.mark.parametrize("name", ["inner_joint", "tip_joint", "right"])
def test_pinocchio_takes_them_as_mimics(name):
    """Otherwise the comparison would be one of nothing."""
    model = in_pinocchio()
    assert model.joints[model.getJointId(name)].nv == 0
