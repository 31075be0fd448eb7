"""A facility that tracks perfectly, without robots, and a hold in it: it tests the loop of a rehearsal alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from freefloat.hil.cell.command_checks import command_fault, require_commands
from freefloat.hil.cell.gripper import Gripper, HeldFrame, Hold
from freefloat.hil.cell.motion_history import CellMotion, MotionHistory
from freefloat.hil.cell.rotations import cross, matrix_of
from freefloat.hil.facility import Facility, FacilityReading, MotionCommand, RobotDescription, RobotReading
from freefloat.spatial.poses import Pose
from freefloat.spatial.sixvectors import angular, linear
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError

Wrenches = Callable[[float, Mapping[str, RobotReading]], Mapping[str, np.ndarray]]


class IdealCell(Facility):
    """Frames are where they were commanded, a pure delay later; a function of all motions gives the sensor wrenches.

    `wrench(time, readings)` gives the wrench on what each robot carries, at W in W axes [N, N m], by robot; a robot
    that it leaves out measures zero. A gripper holds as soon as it is commanded to close. See `IdealHold`.
    """

    def __init__(
        self,
        robots: Sequence[str | RobotDescription],
        wrench: Wrenches | None = None,
        *,
        cycle: float = 1e-3,  # [s]
        delay: float = 0.0,  # [s], whole cycles and fractions
        name: str = "ideal",
    ) -> None:
        self.name, self.cycle, self.delay = name, cycle, delay
        require_number("IdealCell.cycle", cycle, "s", above=0.0)
        require_number("IdealCell.delay", delay, "s", least=0.0)
        self.robots = tuple(ideal_robot(robot) if isinstance(robot, str) else robot for robot in robots)
        if not self.robots or len({robot.name for robot in self.robots}) < len(self.robots):
            raise ModelError(f"A cell needs robots of different names, got {[robot.name for robot in self.robots]}.")
        self._wrench: Wrenches = wrench or (lambda time, readings: {})
        self._histories: dict[str, MotionHistory] = {}
        self._last: FacilityReading | None = None

    def start(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Place all frames at the first commanded poses, at rest."""
        require_commands(self.robots, commands)
        resting = {name: replace(command, twist=np.zeros(6)) for name, command in commands.items()}
        self._histories = {
            name: MotionHistory(_motion(command), self.delay, self.cycle) for name, command in resting.items()
        }
        return self._make_reading(0, {name: _reading(_motion(command), command) for name, command in resting.items()})

    def exchange(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Run one cycle: at its end the frames are where they were commanded to be a delay ago."""
        if self._last is None:
            raise ModelError(f"The facility '{self.name}' has not been started. Call start first.")
        if self._last.stopped:
            self._last = replace(self._last, cycle=self._last.cycle + 1, time=self._last.time + self.cycle)
            return self._last
        if fault := command_fault(self.robots, commands):
            self.stop(fault)
            return self.exchange(commands)
        arrived = {
            robot.name: self._histories[robot.name].append(_motion(commands[robot.name])) for robot in self.robots
        }
        return self._make_reading(
            self._last.cycle + 1, {name: _reading(motion, commands[name]) for name, motion in arrived.items()}
        )

    def stop(self, reason: str) -> None:
        """Hold all frames where they are, and all grasped parts."""
        if self._last is not None and not self._last.stopped:
            still = {name: replace(reading, twist=np.zeros(6)) for name, reading in self._last.robots.items()}
            self._last = replace(self._last, robots=still, stopped=reason)

    def _make_reading(self, cycle: int, readings: dict[str, RobotReading]) -> FacilityReading:
        time = cycle * self.cycle
        wrenches = self._wrench(time, readings)
        robots = {
            name: replace(reading, wrench=np.array(wrenches[name], dtype=float)) if name in wrenches else reading
            for name, reading in readings.items()
        }
        self._last = FacilityReading(cycle, time, robots)
        return self._last


def ideal_robot(
    name: str, X_MW: Pose | None = None, arm_joints: tuple[str, ...] = (), *, gripper: bool = False
) -> RobotDescription:
    """A robot without joints and limits that carries a frame; its sensor is at that frame unless X_MW is given."""
    none = np.zeros(0)
    return RobotDescription(name, (), none, none, none, none, X_MW or Pose(), arm_joints, gripper)


def _motion(command: MotionCommand) -> CellMotion:
    return CellMotion(command.position, command.quaternion, command.twist)


def _reading(motion: CellMotion, command: MotionCommand) -> RobotReading:
    arm = command.arm
    return RobotReading(
        position=motion.position,
        quaternion=motion.quaternion,
        twist=motion.twist,
        wrench=np.zeros(6),
        joints=np.zeros(0),
        joint_rates=np.zeros(0),
        arm_position=np.zeros(0) if arm is None else arm.position,
        arm_velocity=np.zeros(0) if arm is None else arm.velocity,
        holds=bool(command.gripper),
    )


class IdealHold:
    """Sensor wrenches of an `IdealCell` in which robot `holder` holds what `held` carries, while its `holds` is true.

    X_MH is the hand in the holder's carried frame M, X_ME the grasp point in that of the other. Sensors are at M.
    """

    def __init__(self, gripper: Gripper, holder: str, X_MH: Pose, held: str, X_ME: Pose) -> None:
        self._gripper, self._holder, self._held = gripper, holder, held
        self._frames = {holder: X_MH, held: X_ME}
        self._hold: Hold | None = None

    def __call__(self, time: float, readings: Mapping[str, RobotReading]) -> dict[str, np.ndarray]:
        """Wrenches of both sensors, at M in M axes; empty while nothing is held."""
        hand, ring = (self._frame(name, readings[name]) for name in (self._holder, self._held))
        if not readings[self._holder].holds:
            self._hold = None
            return {}
        if self._hold is None:
            self._hold = Hold(self._gripper, hand, ring)
        wrench = self._hold.wrench(hand, ring)
        return {
            name: _wrench_at_frame(sign * wrench, hand.p, readings[name])
            for name, sign in ((self._holder, 1), (self._held, -1))
        }

    def _frame(self, name: str, reading: RobotReading) -> HeldFrame:
        R, X, V = matrix_of(reading.quaternion), self._frames[name], reading.twist
        carried = HeldFrame(reading.position, R, R @ np.asarray(linear(V)), R @ np.asarray(angular(V)))
        return carried.at(np.asarray(X.p), np.asarray(X.R))


def _wrench_at_frame(wrench: np.ndarray, at: np.ndarray, read: RobotReading) -> np.ndarray:
    """A wrench at a point of the floor, both in floor axes, transformed to the carried frame in its axes."""
    R, force, torque = matrix_of(read.quaternion), np.asarray(linear(wrench)), np.asarray(angular(wrench))
    return np.concatenate([R.T @ force, R.T @ (torque + cross(at - read.position, force))])
