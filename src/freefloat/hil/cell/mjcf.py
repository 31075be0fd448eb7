"""MJCF text of robots, mock-ups and floor, made from primitives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.hil.cell.mockups import Mockup, digits
from freefloat.hil.cell.robot_arm import RobotArm
from freefloat.hil.cell.rotations import quaternion_of
from freefloat.hil.cell.settings import CellSettings
from freefloat.spatial.poses import Pose

GRAVITY = 9.80665  # [m/s2]


@dataclass(frozen=True)
class Station:
    """A robot in a cell: its place on the floor, and the mock-up that it carries."""

    name: str
    arm: RobotArm
    X_FR: Pose  # its foot on the floor
    mockup: Mockup
    posture: np.ndarray | None = None  # [rad], where its search begins; none: the robot's home
    pedestal: float = 0.0  # [m], drawn and monitored below the foot


def cell_text(stations: Sequence[Station], settings: CellSettings) -> str:
    """MJCF text of the whole cell. Only mock-ups touch each other; distances of robots are monitored instead."""
    bodies = "".join(_robot(station) for station in stations)
    sensors = "".join(
        f'<{kind} name="{station.name}.{kind}" site="{station.name}.sensor"/>'
        for station in stations
        for kind in ("force", "torque")
    )
    return (
        '<mujoco model="cell"><compiler angle="radian" autolimits="false"/>'
        f'<option timestep="{settings.step!r}" gravity="0 0 {-GRAVITY}" integrator="implicitfast" cone="elliptic">'
        '<flag autoreset="disable"/></option>'
        '<default><geom contype="0" conaffinity="0" density="0"/></default>'
        f'<worldbody><geom name="floor" type="plane" size="5 5 0.1"/>{bodies}</worldbody>'
        f"<sensor>{sensors}</sensor></mujoco>"
    )


def pose_text(pose: Pose) -> str:
    """MJCF attributes of a body or geom at a pose."""
    return f'pos="{digits(pose.p)}" quat="{digits(quaternion_of(np.asarray(pose.R)))}"'


def _robot(station: Station) -> str:
    arm, name = station.arm, station.name
    tool = (
        f'<body name="{name}.tool" {pose_text(arm.flange)}><site name="{name}.sensor"/>'
        f"{station.mockup.text.replace('ROBOT', name)}</body>"
    )
    inner = tool
    for joint in reversed(arm.joints):
        inner = (
            f'<body name="{name}.{joint.name}" pos="{digits(joint.offset)}">'
            f'<joint name="{name}.{joint.name}" type="hinge" axis="{digits(joint.axis)}" '
            f'armature="{float(joint.rotor_inertia)!r}"/>'
            f'<geom name="{name}.{joint.name}" type="capsule" fromto="0 0 0 {digits(joint.link_end)}" '
            f'size="{joint.link_radius!r}" mass="{float(joint.link_mass)!r}"/>{inner}</body>'
        )
    half = 0.5 * arm.foot_height
    foot = (
        f'<geom name="{name}.foot" type="cylinder" pos="0 0 {half!r}" size="{arm.foot_radius!r} {half!r}" '
        f'mass="{arm.foot_mass!r}"/>'
    )
    if station.pedestal:
        half = 0.5 * station.pedestal
        foot += f'<geom name="{name}.pedestal" type="box" pos="0 0 {-half!r}" size="0.2 0.2 {half!r}"/>'
    return f'<body name="{name}.base" {pose_text(station.X_FR)}>{foot}{inner}</body>'
