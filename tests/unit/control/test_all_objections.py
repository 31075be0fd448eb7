"""Software and gears that refuse a spacecraft say all that is wrong at once, each with what to do."""

import re

import numpy as np
import pytest

import freefloat as ff
from freefloat.actuators import Thrusters, torque_pairs
from freefloat.control import (
    ApproachLimits,
    AttitudeFilter,
    AttitudeHold,
    CaptureApproach,
    CaptureGains,
    CaptureSchedule,
    CompliantCapture,
    MomentumUnloading,
    OrbitAttitude,
    PictureNoise,
    PoseSpring,
    ReactionlessDamping,
    ResolvedMotion,
    TargetFilter,
)
from freefloat.control.lqr import (
    DesignError,
    LinearController,
    SecondOrderModel,
    StateSpace,
    design_kalman,
    design_lqr,
)
from freefloat.effects import CircularOrbit
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


def test_capture_software_says_all_and_names_the_rigid_model():
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


def two_masses() -> SecondOrderModel:
    """A hub that floats freely with an undamped panel beside it; a jet and a sensor on the hub alone."""
    hub = {"coordinates": ("hub", "panel"), "inputs": ("jet",), "outputs": ("gyro",)}
    return SecondOrderModel(np.eye(2), np.diag([0.0, 4.0]), [[1.0], [0.0]], Cp=[[1.0, 0.0]], **hub)


def test_a_regulator_says_every_weight_that_is_impossible():
    lines = said(lambda: design_lqr(two_masses(), [-1.0, 1.0, 1.0, 1.0], 0.0, cross=np.zeros((3, 3)), method="magic"))
    assert len(lines) == 4
    assert lines[0].startswith("Q must not be negative")
    assert lines[1].startswith("R must be positive definite")
    assert all("Give each number 1/(its largest acceptable value)^2." in line for line in lines[:2])
    assert lines[2].startswith("cross must be 4 x 1")
    assert "Methods: schur, doubling" in lines[3]


def test_a_regulator_says_what_it_neither_reaches_nor_weighs_with_the_modes_of_both():
    with pytest.raises(DesignError) as raised:
        design_lqr(two_masses(), [0.0, 1.0, 0.0, 1.0], 1.0)
    reached, weighed = str(raised.value).splitlines()
    assert reached.startswith("No input reaches mode 2, panel")
    assert "add one, or give the structure damping" in reached
    assert weighed.startswith("Q does not weigh mode 1, hub")
    assert "Give a state that moves a weight." in weighed
    assert [mode.split(",")[0] for mode in raised.value.modes] == ["mode 2", "mode 1"]


def test_a_kalman_filter_says_every_covariance_and_every_mode():
    lines = said(lambda: design_kalman(two_masses(), [1.0, 1.0, 1.0], -1.0))
    assert lines[0].startswith("process: 4 weights are needed")
    assert lines[1].startswith("noise must be positive definite")
    with pytest.raises(DesignError) as raised:
        design_kalman(two_masses(), [0.0, 1.0, 0.0, 1.0], 1.0)
    seen, driven = str(raised.value).splitlines()
    assert "No sensor sees mode 2, panel" in seen
    assert "Add a sensor" in seen
    assert "No process noise drives mode 1, hub" in driven
    assert "Give it some noise" in driven


def test_a_linear_model_says_every_matrix_and_name_that_does_not_fit():
    wrong = {"states": ("a", "a"), "inputs": ("u", "v"), "period": -1.0}
    lines = said(lambda: StateSpace(np.eye(2), [[1.0], [np.nan]], np.eye(3), **wrong))
    starts = ("B must be finite", "C must be 3 x 2", "States: 'a' is there twice", "Inputs: 1 names", "The period")
    assert len(lines) == len(starts)
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True))
    lines = said(lambda: SecondOrderModel(-np.eye(2), np.eye(3), np.eye(2), coordinates=("a",), outputs=("y",)))
    starts = ("M must be positive definite", "K must be 2 x 2", "Coordinates: 2 names", "Outputs: 4 names")
    assert len(lines) == len(starts)
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True))


def test_a_linear_controller_says_all_that_does_not_fit_and_how_to_name_commands():
    gain = StateSpace(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((2, 0)), np.eye(2), (), ("a", "b"), ("u", "v"))
    lines = said(lambda: LinearController.of(gain, bending(), ["base.rate"], reference=[0.0], trim=np.zeros(3)))
    assert "`sample` the plant" in lines[0]
    assert "must be 2 numbers, one for each measured one (a, b)" in lines[1]
    assert "trim must be one number, or 2" in lines[2]
    assert "takes no command 'u', 'v'. Say what is meant by ports={'u': ...}" in lines[3]


def test_attitude_control_says_all_and_names_another_actuator():
    lines = said(lambda: AttitudeHold(bending(), stiffness=-1.0, damping=-2.0))
    assert "has 0 wheels on its base" in lines[0]
    assert "AttitudeHold(actuator='base torque')" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == [f"AttitudeHold.{x}" for x in ("stiffness", "damping")]
    AttitudeHold(bending(), actuator="base torque")


def test_attitude_in_orbit_that_is_no_rotation_says_how_to_make_one():
    orbit = CircularOrbit(altitude=550e3)  # [m]
    for wrong in (2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0])):
        (line,) = said(lambda: OrbitAttitude(orbit, wrong))  # noqa: B023  it is called at once
        assert "no right-handed unit axes" in line
        assert "Pose.from_rpy_deg(...).R" in line
    OrbitAttitude(orbit, ff.Pose.from_rpy_deg((0.0, 0.0, 30.0)).R)


def test_unloading_says_all_and_what_to_add():
    jets = Thrusters.from_nozzles(torque_pairs(1.0, 1.0))
    lines = said(lambda: MomentumUnloading(bending(), jets, start=1.0, stop=2.0, torque=-1.0))
    assert "MomentumUnloading.torque must be at least 0" in lines[0]
    assert "Exchange `start` and `stop`" in lines[1]
    assert "Add them with Spacecraft.with_wheel" in lines[2]


def test_an_attitude_filter_says_all():
    lines = said(lambda: AttitudeFilter(attitude_gain=-1.0, patience=-1.0))
    assert "give it the gyro's period" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["AttitudeFilter.attitude_gain", "AttitudeFilter.patience"]
    lines = said(lambda: AttitudeFilter.steady(0.0, -1.0, 1e-6, -1.0, patience=-1.0))
    words = ("period of the star", "noise of the star", "walk of the gyro's bias", "gyro's period", "patience")
    assert len(lines) == len(words)
    assert all(word in line for line, word in zip(lines, words, strict=True))


def test_an_approach_says_all():
    lines = said(lambda: CaptureApproach(bending(), "hook", "client.base", singular_below=-1.0))
    assert "no frame 'hook'" in lines[0]
    assert "needs at least six joints" in lines[1]
    assert "JointSpline" in lines[1]
    assert "'client.base' is a base: name a frame on it" in lines[2]
    assert "singular_below must be at least 0" in lines[3]
    lines = said(lambda: ApproachLimits(gain=-1.0, joint_rate=0.0, capture_time=-1.0, settled_rate=0.0))
    assert [line.split()[0] for line in lines] == [
        f"ApproachLimits.{name}" for name in ("gain", "joint_rate", "capture_time", "settled_rate")
    ]


def test_resolved_motion_says_all():
    lines = said(lambda: ResolvedMotion(bending(), ff.Line, frame="hook", relative_to="client.ring"))
    for line, word in zip(lines, ("no frame 'hook'", "six joints", "ResolvedMotion", "give it a period"), strict=True):
        assert word in line


def test_a_schedule_says_all():
    lines = said(lambda: CaptureSchedule(approach=-1.0, exchange=0.0, grasp=5.0, rigidise=4.0))
    words = ("approach must be at least 0", "exchange must be positive", "Give growing times")
    assert len(lines) == len(words)
    assert all(word in line for line, word in zip(lines, words, strict=True))
