"""A facility that tracks perfectly: the contract, pure delay, and what it refuses."""

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.hil.cell import IdealCell, ideal_robot
from freefloat.hil.cell import rotations as plain
from freefloat.hil.facility import ArmCommand, MotionCommand
from freefloat.spatial import rotations
from freefloat.values import ModelError

CYCLE = 1e-3  # [s]
RATE = np.array([0.3, -0.5, 0.2])  # [rad/s]


def turning(t):
    """On a circle while turning about a fixed axis."""
    quaternion = plain.quaternion_exp(RATE * t)
    position = np.array([np.cos(2.0 * t), np.sin(2.0 * t), 0.1 * t])
    velocity = np.array([-2.0 * np.sin(2.0 * t), 2.0 * np.cos(2.0 * t), 0.1])
    return MotionCommand(position, quaternion, np.concatenate([plain.matrix_of(quaternion).T @ velocity, RATE]))


def still(name="client"):
    return {name: MotionCommand(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6))}


@pytest.mark.parametrize(("delay", "bound"), [(0.0, 0.0), (3e-3, 0.0), (2.35e-3, 1e-12)])
def test_frames_are_where_they_were_commanded_to_be_a_delay_before(delay, bound):
    # Between two cycles the interpolation is of fourth order: 2^4 (1 ms)^4 / 384 = 4e-14 m.
    cell = IdealCell(["client"], cycle=CYCLE, delay=delay)
    cell.start({"client": turning(0.0)})
    for k in range(1, 200):
        reading = cell.exchange({"client": turning(k * CYCLE)})
        if k * CYCLE > delay + 2 * CYCLE:
            true, robot = turning(k * CYCLE - delay), reading.robots["client"]
            assert reading.cycle == k
            np.testing.assert_allclose(robot.position, true.position, rtol=0, atol=max(bound, 1e-15))
            np.testing.assert_allclose(robot.quaternion, true.quaternion, rtol=0, atol=max(bound, 1e-15))
            np.testing.assert_allclose(robot.twist, true.twist, rtol=0, atol=max(1e4 * bound, 1e-15))


def test_sensors_feel_what_the_function_says():
    def spring(time, readings):
        return {"client": np.concatenate([-100.0 * readings["client"].position, np.zeros(3)])}

    cell = IdealCell(["client", "servicer"], spring)
    start = {**still(), **still("servicer")}
    assert cell.start(start).robots["client"].wrench.tolist() == [0.0] * 6
    moved = {**start, "client": MotionCommand(np.array([0.01, 0.0, 0.0]), np.array([1.0, 0, 0, 0]), np.zeros(6))}
    reading = cell.exchange(moved)
    assert reading.robots["client"].wrench[0] == -1.0
    assert not reading.robots["servicer"].wrench.any()


def test_an_arm_is_where_it_was_commanded_to_be():
    cell = IdealCell([ideal_robot("servicer", arm_joints=("a", "b"))])
    arm = ArmCommand(np.array([0.1, 0.2]), np.zeros(2), np.zeros(2))
    command = still("servicer")["servicer"]
    reading = cell.start({"servicer": MotionCommand(command.position, command.quaternion, command.twist, arm)})
    assert reading.robots["servicer"].arm_position.tolist() == [0.1, 0.2]
    with pytest.raises(ModelError, match="its arm of 2 joints needs one too"):
        cell.start(still("servicer"))


def test_after_a_stop_frames_hold_still_and_the_reason_stays():
    cell = IdealCell(["client"])
    cell.start({"client": turning(0.0)})
    last = cell.exchange({"client": turning(CYCLE)})
    cell.stop("button")
    cell.stop("again")
    reading = cell.exchange({"client": turning(2 * CYCLE)})
    assert reading.stopped == "button"
    assert reading.cycle == last.cycle + 1
    np.testing.assert_array_equal(reading.robots["client"].position, last.robots["client"].position)
    assert not reading.robots["client"].twist.any()


def test_impossible_commands():
    cell = IdealCell(["client"])
    with pytest.raises(ModelError, match="has not been started"):
        cell.exchange(still())
    with pytest.raises(ModelError, match="no command for robot 'client'"):
        cell.start({})
    with pytest.raises(ModelError, match="there is no robot 'servicer'"):
        cell.start({**still(), **still("servicer")})
    cell.start(still())
    wrong = MotionCommand(np.array([np.nan, 0, 0]), np.array([1.0, 0, 0, 0]), np.zeros(6))
    assert cell.exchange({"client": wrong}).stopped == "command of robot 'client': position is not finite"
    with pytest.raises(ModelError, match="different names"):
        IdealCell(["client", "client"])
    with pytest.raises(ModelError, match=r"IdealCell\.delay must be at least 0"):
        IdealCell(["client"], delay=-1.0)


def test_plain_rotations_are_those_of_the_package(rng):
    for angle in (1e-9, 1e-4, 1.0, 3.14159, np.pi):
        axis = rng.normal(size=3)
        vector = angle * axis / np.linalg.norm(axis)
        quat = plain.quaternion_exp(vector)
        R = plain.matrix_of(quat)
        np.testing.assert_allclose(quat, rotations.quaternion_exp(jnp.asarray(vector)), rtol=0, atol=1e-15)
        np.testing.assert_allclose(R, rotations.rotation_matrix(quat), rtol=0, atol=1e-15)
        np.testing.assert_allclose(plain.quaternion_of(R), rotations.quaternion_of(R), rtol=0, atol=1e-15)
        logged = plain.rotation_log(R)
        np.testing.assert_allclose(min(logged - vector, logged + vector, key=np.linalg.norm), 0.0, atol=1e-14)
        other = plain.quaternion_exp(rng.normal(size=3))
        product = rotations.quaternion_multiply(quat, other)
        np.testing.assert_allclose(plain.multiply(quat, other), product, rtol=0, atol=1e-15)
        np.testing.assert_allclose(plain.cross(vector, axis), plain.skew(vector) @ axis, rtol=0, atol=1e-15)
