"""Checks of commands before a cycle: a facility rejects those that are missing, of a wrong size, or not finite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from freefloat.hil.facility import MotionCommand, RobotDescription
from freefloat.values.errors import ModelError


def command_fault(robots: Sequence[RobotDescription], commands: Mapping[str, MotionCommand]) -> str:
    """Text of why these commands cannot be followed; empty if they can."""
    names = [robot.name for robot in robots]
    if unknown := [name for name in commands if name not in names]:
        return f"there is no robot '{unknown[0]}' to command (robots: {', '.join(names)})"
    for robot in robots:
        if robot.name not in commands:
            return f"no command for robot '{robot.name}'"
        if fault := _fault(robot, commands[robot.name]):
            return f"command of robot '{robot.name}': {fault}"
    return ""


def require_commands(robots: Sequence[RobotDescription], commands: Mapping[str, MotionCommand]) -> None:
    """Raise an error where a start with these commands is not possible."""
    if fault := command_fault(robots, commands):
        raise ModelError(f"The facility cannot start: {fault}.")


def _fault(robot: RobotDescription, command: MotionCommand) -> str:
    parts = [("position", command.position, 3), ("quaternion", command.quaternion, 4), ("twist", command.twist, 6)]
    if command.arm is not None:
        if not robot.arm_joints:
            return "it carries no arm"
        n = len(robot.arm_joints)
        arm = command.arm
        parts += [("arm position", arm.position, n), ("arm velocity", arm.velocity, n), ("arm torque", arm.torque, n)]
    elif robot.arm_joints:
        return f"its arm of {len(robot.arm_joints)} joints needs one too (MotionCommand.arm)"
    if command.gripper is not None and not robot.gripper:
        return "it carries no gripper"
    for what, value, size in parts:
        if np.shape(value) != (size,):
            return f"{what} has shape {np.shape(value)} instead of ({size},)"
        if not np.isfinite(value).all():
            return f"{what} is not finite"
    if abs(command.quaternion @ command.quaternion - 1.0) > 1e-6:
        return f"quaternion has length {np.linalg.norm(command.quaternion):.6g} instead of 1"
    return ""
