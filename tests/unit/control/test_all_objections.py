"""Laws, filters and gears that refuse a spacecraft say all that is wrong at once, each with what to do."""

import re

import numpy as np
import pytest

import freefloat as ff
from freefloat.control import (
    CaptureGains,
    CompliantCapture,
    PictureNoise,
    PoseSpring,
    ReactionlessDamping,
    TargetFilter,
)
from freefloat.model import JointFlexibility

SEEN = PictureNoise(position=0.01, angle=0.02)  # [m], [rad]


def bending() -> ff.Spacecraft:
    beam = ff.flex.beam(length=2.0, mass=1.0, bending_stiffness=20.0, modes=2)
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(10.0, 10.0, 10.0))
    return hub.mount(beam, name="panel", to="base").with_frame("camera", body="base").with_frame("ring", body="base")


def said(make) -> list[str]:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  the words are compared by the caller
        make()
    return str(raised.value).splitlines()


def test_a_gear_says_every_number_that_is_impossible():
    lines = said(lambda: JointFlexibility(stiffness=-1.0, motor_inertia=0.0, damping=-2.0, ratio=0.0, free_play=-0.1))
    found = [re.search(r"JointFlexibility\.(\w+)", line).group(1) for line in lines]
    assert found == ["stiffness", "motor_inertia", "damping", "free_play", "ratio"]


def test_a_target_filter_says_all_and_names_the_rigid_model():
    lines = said(lambda: TargetFilter(bending(), bending(), "eye", "client.hook", SEEN, patience=-1.0, slots=0))
    assert "no frame 'eye'" in lines[0]
    assert "no frame 'hook'" in lines[1]
    assert "Give its rigid model, client.rigid()." in lines[2]
    assert "patience must be positive" in lines[3]
    assert "slots must be at least 1" in lines[4]
    TargetFilter(bending(), bending().rigid(), "camera", "client.ring", SEEN)


def test_a_capture_law_says_all_and_names_the_rigid_model():
    spring = PoseSpring(stiffness=np.ones(6), damping=np.ones(6))
    gains = CaptureGains(spring, spring, np.ones(3), np.ones(3), np.ones(3))
    lines = said(
        lambda: CompliantCapture(bending(), bending(), gains, posture=np.zeros(3), grasped="client.hook", gap=-0.1)
    )
    words = " ".join(lines)
    for expected in ("needs an arm of six or more joints", "craft.rigid()", "is no frame of the client", "gap must be"):
        assert expected in words


def test_damping_by_a_bending_model_names_the_rigid_one():
    (line,) = said(lambda: ReactionlessDamping(bending(), period=0.01))
    assert "Give it its rigid model: craft.rigid()" in line
