"""Channels of the cell in a run: commanded and measured motion, wrenches, energy, joints, deadlines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from freefloat.hil.facility import RobotDescription
from freefloat.hil.loop.rows import RowLayout
from freefloat.hil.rehearsal import Rehearsal
from freefloat.sim.record.recording import label_values
from freefloat.values.channels import XYZ, Channel

_WXYZ = ("w", "x", "y", "z")
_TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
_WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")

ChannelArrays = dict[str, tuple[Any, ...]]
Robots = Mapping[str, Mapping[str, Any]]  # by name: joints and their limits, sensor (X_MW), arm


def cell_channels(
    rehearsal: Rehearsal, layout: RowLayout, rows: np.ndarray, robots: Robots
) -> tuple[ChannelArrays, dict[str, list[str]]]:
    """Arrays of `cell.*` over time, and the coordinates of their axes."""
    channels = [*_loop_channels(layout, rows)]
    for assignment in rehearsal.carried:
        channels += _frame_channels(assignment.robot, assignment.frame, layout, rows)
        channels += _joint_channels(assignment.robot, robots[assignment.robot], layout, rows)
        channels += _gripper_channels(assignment.robot, robots[assignment.robot], layout, rows)
    arrays: ChannelArrays = {channel.name: label_values(channel, values) for channel, values in channels}
    return arrays, {channel.axis: list(channel.components) for channel, _ in channels if channel.axis}


def robot_data(robots: tuple[RobotDescription, ...]) -> Robots:
    """Data of robots that channels and verdicts need, as plain data for a log."""
    return {
        robot.name: {
            "joints": list(robot.joint_names),
            "lower": np.asarray(robot.lower, float).tolist(),
            "upper": np.asarray(robot.upper, float).tolist(),
            "rates": np.asarray(robot.rate_limit, float).tolist(),
            "accelerations": np.asarray(robot.acceleration_limit, float).tolist(),
            "sensor": {
                "position": np.asarray(robot.X_MW.p, float).tolist(),
                "quaternion": np.asarray(robot.X_MW.quaternion, float).tolist(),
            },
            "arm": list(robot.arm_joints),
            "gripper": robot.gripper,
        }
        for robot in robots
    }


def _loop_channels(layout: RowLayout, rows: np.ndarray) -> Iterator[tuple[Channel, np.ndarray]]:
    for name, label, unit in (
        ("energy", "Energy that the delay has absorbed", "J"),
        ("lateness", "Lateness of the cycle", "s"),
        ("effort", "Computing time of the cycle", "s"),
    ):
        yield Channel(f"cell.{name}", label, unit), layout.column(rows, name)[:, 0]


def _frame_channels(
    robot: str, frame: str, layout: RowLayout, rows: np.ndarray
) -> Iterator[tuple[Channel, np.ndarray]]:
    name = f"cell.{robot}"

    def column(what: str) -> np.ndarray:
        return layout.column(rows, f"{robot}.{what}")

    for which in ("commanded", "measured"):
        word = f"{robot}: {which}"
        yield Channel(f"{name}.{which}.position", f"{word} position", "m", "F", "xyz", XYZ), column(f"{which}.position")
        attitude, twist = (column(f"{which}.{what}") for what in ("quaternion", "twist"))
        yield Channel(f"{name}.{which}.attitude", f"{word} attitude (quaternion)", "1", "F", "wxyz", _WXYZ), attitude
        yield Channel(f"{name}.{which}.twist", f"{word} twist", "m/s, rad/s", "M", "cell.twist", _TWIST), twist
    distance, angle = tracking_errors(layout, rows, robot)
    yield Channel(f"{name}.tracking.position", f"{robot}: distance from the command", "m"), distance
    yield Channel(f"{name}.tracking.angle", f"{robot}: angle from the command", "rad"), angle
    label = f"{robot}: wrench at the wrist"
    yield Channel(f"{name}.wrench", label, "N, N m", "W", "cell.wrench", _WRENCH), column("wrench")
    if frame:
        label = f"{robot}: wrench on the spacecraft at {frame}"
        yield Channel(f"{name}.felt", label, "N, N m", frame, "cell.wrench", _WRENCH), column("felt")


def _joint_channels(
    robot: str, about: Mapping[str, Any], layout: RowLayout, rows: np.ndarray
) -> Iterator[tuple[Channel, np.ndarray]]:
    name, joints, arm = f"cell.{robot}", tuple(about["joints"]), tuple(about["arm"])
    if joints:
        axis, q = f"{name}.joint", layout.column(rows, f"{robot}.joints")
        yield Channel(f"{name}.joints", f"{robot}: joint positions", "rad", "", axis, joints), q
        rates = layout.column(rows, f"{robot}.joint_rates")
        yield Channel(f"{name}.joint_rates", f"{robot}: joint rates", "rad/s", "", axis, joints), rates
        left = np.min(np.minimum(q - np.array(about["lower"]), np.array(about["upper"]) - q), axis=1)
        yield Channel(f"{name}.joint_margin", f"{robot}: way to the nearest end of a joint", "rad"), left
    for which in ("commanded", "measured") if arm else ():
        label, values = f"{robot}: {which} joint positions of its arm", layout.column(rows, f"{robot}.arm.{which}")
        yield Channel(f"{name}.arm.{which}", label, "rad", "", f"{name}.arm.joint", arm), values


def _gripper_channels(
    robot: str, about: Mapping[str, Any], layout: RowLayout, rows: np.ndarray
) -> Iterator[tuple[Channel, np.ndarray]]:
    if about.get("gripper"):
        for which, label in (("commanded", "gripper is told to be closed"), ("holds", "gripper holds something")):
            values = layout.column(rows, f"{robot}.gripper.{which}")[:, 0]
            yield Channel(f"cell.{robot}.gripper.{which}", f"{robot}: its {label}", "1"), values


def tracking_errors(layout: RowLayout, rows: np.ndarray, robot: str) -> tuple[np.ndarray, np.ndarray]:
    """Distance [m] and angle [rad] between the commanded and the measured pose of a robot."""
    p, quat = (
        [layout.column(rows, f"{robot}.{which}.{what}") for which in ("commanded", "measured")]
        for what in ("position", "quaternion")
    )
    away = np.linalg.norm(p[1] - p[0], axis=1)
    # The chord between unit quaternions keeps its digits where the angle is small; both signs are one attitude.
    chord = np.minimum(np.linalg.norm(quat[1] - quat[0], axis=1), np.linalg.norm(quat[1] + quat[0], axis=1))
    return away, 4.0 * np.arcsin(np.clip(0.5 * chord, 0.0, 1.0))
