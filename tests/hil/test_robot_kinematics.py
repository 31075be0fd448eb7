"""Robots from public dimensions: forward kinematics against MuJoCo, inverse kinematics there and back."""

import numpy as np
import pytest

from freefloat.hil.cell import kr120, sia10d
from freefloat.hil.cell.inverse_kinematics import NEAR_SINGULAR, InverseKinematics, JointAnswer
from freefloat.hil.cell.limits import broken_limit
from freefloat.values import ModelError

ROBOTS = {"kr120": kr120(), "sia10d": sia10d()}
CYCLE = 4e-3  # [s]


@pytest.fixture(params=ROBOTS)
def arm(request):
    return ROBOTS[request.param]


def at_rest(kinematics, q):
    return JointAnswer(q, np.zeros_like(q), 0.0, kinematics.singular_value(q), 0.0)


def misses(kinematics, X, q):
    return np.abs(kinematics._error(X, q)[0]).max()


def test_stretched_robots_reach_as_far_as_their_data_sheets_say():
    q = np.zeros(6)  # the upper arm horizontal
    assert ROBOTS["kr120"].forward(q)[0][0, 3] == pytest.approx(0.35 + 1.15 + 1.0 + 0.215, abs=1e-12)
    top = ROBOTS["sia10d"].forward(np.zeros(7))[0]
    assert top[2, 3] == pytest.approx(0.36 + 0.36 + 0.36 + 0.155, abs=1e-12)
    assert top[2, 2] == 1.0  # the flange's z axis points outwards


def test_the_flange_and_its_jacobian_are_those_of_mujoco(arm, rng):
    mujoco = pytest.importorskip("mujoco")
    from freefloat.hil.cell import CellSettings, HangingBeams, Station
    from freefloat.hil.cell.mjcf import cell_text
    from freefloat.spatial import Pose

    station = Station("r", arm, Pose(), HangingBeams().mockup())
    model = mujoco.MjModel.from_xml_string(cell_text((station,), CellSettings()))
    data = mujoco.MjData(model)
    Jp, Jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    for _ in range(20):
        q = rng.uniform(arm.lower, arm.upper)
        data.qpos[: arm.count] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacSite(model, data, Jp, Jr, 0)
        X, J = arm.forward(q)
        np.testing.assert_allclose(X[:3, 3], data.site_xpos[0], atol=1e-12)
        np.testing.assert_allclose(X[:3, :3], data.site_xmat[0].reshape(3, 3), atol=1e-12)
        np.testing.assert_allclose(J, np.vstack([Jp, Jr])[:, : arm.count], atol=1e-12)


def test_angles_are_found_again_for_random_poses(arm, rng):
    kinematics = InverseKinematics(arm)
    for _ in range(15):
        X = arm.forward(rng.uniform(arm.lower, arm.upper))[0]
        q = kinematics.find(X, "client")
        assert misses(kinematics, X, q) < 1e-9
        assert kinematics.joint_room(q) >= 0.0


def test_a_pose_out_of_reach_is_refused_with_what_is_missing(arm):
    X = np.eye(4)
    X[0, 3], X[2, 3] = arm.reach + 0.5, arm.joints[0].offset[2]
    with pytest.raises(
        ModelError, match=r"first pose of 'client' is out of reach of its .*-class robot.* misses it by \d+"
    ):
        InverseKinematics(arm).find(X, "client")


def test_a_path_is_followed_to_a_nanometre(arm):
    kinematics = InverseKinematics(arm)
    X0 = arm.forward(arm.home)[0]
    answer, posture = at_rest(kinematics, arm.home), []
    for k in range(1, 500):
        t = k * CYCLE
        X = X0.copy()
        X[:3, 3] += 0.04 * np.array([1 - np.cos(2 * t), np.sin(t), np.sin(2 * t)])
        velocity = 0.04 * np.array([2 * np.sin(2 * t), np.cos(t), 2 * np.cos(2 * t)])
        answer = kinematics.follow_pose(X, np.concatenate([X[:3, :3].T @ velocity, np.zeros(3)]), answer, CYCLE)
        assert misses(kinematics, X, answer.q) < 1e-9
        posture.append(answer.q)
    # The rates that are told are those of the angles.
    rates = (posture[-1] - posture[-3]) / (2 * CYCLE)
    measured = kinematics._rates(X, np.concatenate([X[:3, :3].T @ velocity, np.zeros(3)]), answer.q,
                                 np.linalg.svd(kinematics._error(X, answer.q)[1], full_matrices=False))  # fmt: skip
    np.testing.assert_allclose(rates, measured, atol=2e-3)


def test_the_seventh_joint_returns_to_its_posture_without_moving_the_flange():
    kinematics = InverseKinematics(ROBOTS["sia10d"])
    X = kinematics.arm.forward(kinematics.posture)[0]
    answer = at_rest(kinematics, kinematics.posture)
    free = np.linalg.svd(kinematics._error(X, answer.q)[1])[2][-1]
    q = answer.q + 0.3 * free
    # Back onto the pose with another elbow, then wait for ten seconds.
    for _ in range(5):
        q = q + np.linalg.pinv(kinematics._error(X, q)[1]) @ kinematics._error(X, q)[0]
    answer, before = at_rest(kinematics, q), np.linalg.norm(q - kinematics.posture)
    for _ in range(2500):
        answer = kinematics.follow_pose(X, np.zeros(6), answer, CYCLE)
        assert misses(kinematics, X, answer.q) < 1e-9
    assert before > 0.2
    assert np.linalg.norm(answer.q - kinematics.posture) < 0.02


def test_what_stays_behind_is_told_with_the_singular_posture():
    arm = ROBOTS["kr120"]
    still = tuple(np.tile(row, (5, 1)) for row in (arm.home, np.zeros(6), np.zeros(6)))
    answer = JointAnswer(arm.home, np.zeros(6), missing=0.03, manipulability=0.004, demand=0.1)
    words = "client: the joints stay 30 mm behind the commanded pose, near a singular posture (smallest singular value"
    assert broken_limit(arm, "client", answer, still, 0.02).startswith(words)
    assert broken_limit(arm, "client", answer, still, 0.04) == ""


@pytest.mark.parametrize("offset_deg", [0.0, 1e-6, 0.01, 0.5])
def test_the_wrist_singularity_is_passed_without_a_jump(offset_deg):
    """Straight through a5 = 0, where joints 4 and 6 turn about one axis; beside it they would have to spin."""
    arm = ROBOTS["kr120"]
    kinematics = InverseKinematics(arm)
    q = np.deg2rad([0.0, -80.0, 100.0, offset_deg, -20.0, 0.0])
    X0, answer = arm.forward(q)[0], at_rest(kinematics, q)
    smallest = np.inf
    for k in range(1, 400):
        X = X0.copy()
        X[2, 3] += 0.4 * k * CYCLE  # up: the forearm passes the horizontal
        twist = np.concatenate([X[:3, :3].T @ np.array([0.0, 0.0, 0.4]), np.zeros(3)])
        last, answer = answer, kinematics.follow_pose(X, twist, answer, CYCLE)
        smallest = min(smallest, answer.manipulability)
        # Never faster than the joints may move, and never farther from the pose than damping explains.
        assert np.all(np.abs(answer.q - last.q) <= arm.rate_limit * CYCLE * (1 + 1e-9))
        assert misses(kinematics, X, answer.q) < 0.02
        assert answer.missing >= misses(kinematics, X, answer.q) - 1e-9
    assert smallest < NEAR_SINGULAR
    assert misses(kinematics, X, answer.q) < 1e-9
