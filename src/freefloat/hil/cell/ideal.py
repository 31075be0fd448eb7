"""A facility that tracks perfectly, without robots: what is left of a rehearsal is the loop itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from freefloat.hil.cell.command_checks import command_fault, require_commands
from freefloat.hil.cell.motion_history import Motion, MotionHistory
from freefloat.hil.facility import Facility, FacilityReading, MotionCommand, RobotDescription, RobotReading
from freefloat.spatial.poses import Pose
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError

Wrenches = Callable[[float, Mapping[str, RobotReading]], Mapping[str, np.ndarray]]


class IdealCell(Facility):
    """Frames are where they were commanded, a pure delay later; a function of all motions says what the sensors feel.

    `wrench(time, readings)` gives the wrench on what each robot carries, at W in W axes [N, N m], by robot; a robot
    that it leaves out feels nothing. A gripper holds as soon as it is told to close; `IdealHold` is such a function.
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
        self.robots = tuple(ideal_robot(one) if isinstance(one, str) else one for one in robots)
        if not self.robots or len({one.name for one in self.robots}) < len(self.robots):
            raise ModelError(f"A cell needs robots of different names, got {[one.name for one in self.robots]}.")
        self._wrench: Wrenches = wrench or (lambda time, readings: {})
        self._histories: dict[str, MotionHistory] = {}
        self._last: FacilityReading | None = None

    def start(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Be at the first commanded poses, at rest."""
        require_commands(self.robots, commands)
        resting = {name: replace(one, twist=np.zeros(6)) for name, one in commands.items()}
        self._histories = {name: MotionHistory(_motion(one), self.delay, self.cycle) for name, one in resting.items()}
        return self._read(0, {name: _reading(_motion(one), one) for name, one in resting.items()})

    def exchange(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """One cycle: at its end the frames are where they were commanded to be, a delay before."""
        if self._last is None:
            raise ModelError(f"The facility '{self.name}' has not been started. Call start first.")
        if self._last.stopped:
            self._last = replace(self._last, cycle=self._last.cycle + 1, time=self._last.time + self.cycle)
            return self._last
        if fault := command_fault(self.robots, commands):
            self.stop(fault)
            return self.exchange(commands)
        arrived = {one.name: self._histories[one.name].append(_motion(commands[one.name])) for one in self.robots}
        return self._read(
            self._last.cycle + 1, {name: _reading(motion, commands[name]) for name, motion in arrived.items()}
        )

    def stop(self, reason: str) -> None:
        """Hold all frames where they are, and what is grasped."""
        if self._last is not None and not self._last.stopped:
            still = {name: replace(one, twist=np.zeros(6)) for name, one in self._last.robots.items()}
            self._last = replace(self._last, robots=still, stopped=reason)

    def _read(self, cycle: int, readings: dict[str, RobotReading]) -> FacilityReading:
        time = cycle * self.cycle
        felt = self._wrench(time, readings)
        robots = {
            name: replace(one, wrench=np.array(felt[name], dtype=float)) if name in felt else one
            for name, one in readings.items()
        }
        self._last = FacilityReading(cycle, time, robots)
        return self._last


def ideal_robot(
    name: str, X_MW: Pose | None = None, arm_joints: tuple[str, ...] = (), *, gripper: bool = False
) -> RobotDescription:
    """A robot without joints and limits that carries a frame; its sensor is there unless said otherwise."""
    none = np.zeros(0)
    return RobotDescription(name, (), none, none, none, none, X_MW or Pose(), arm_joints, gripper)


def _motion(command: MotionCommand) -> Motion:
    return Motion(command.position, command.quaternion, command.twist)


def _reading(motion: Motion, command: MotionCommand) -> RobotReading:
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
