"""Mock-ups that robots carry: part of a client with a grasp ring, a servicer's arm with its tool, a bare probe.

Contact stiffness is physical, in N/m: the ring hangs on three springs, and the contact itself is much stiffer (MuJoCo's
own contact parameters are normalised by mass).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from freefloat.hil.cell.gripper import Gripper
from freefloat.hil.cell.rotations import quaternion_of
from freefloat.library.servicer import (
    ARM_LINK_MASS,
    ARM_LINKS,
    ARM_MOUNT,
    GRIPPER_COM,
    GRIPPER_INERTIA,
    GRIPPER_MASS,
    TOOL_HEIGHT,
)
from freefloat.spatial.poses import Pose
from freefloat.values.checks import require_number

_STIFF = 'solref="0.002 1" solimp="0.99 0.999 0.0001"'
_CLIENT_SIDE = f'contype="2" conaffinity="1" {_STIFF}'
_TOOL_SIDE = f'contype="1" conaffinity="2" {_STIFF}'

HAND_GROUP = 1  # of parts next to a grasped ring (palm, last links of an arm), whose distances to it are not monitored
_HAND = f'group="{HAND_GROUP}"'
RING_HEIGHT = 0.3  # [m], from the flange to the grasp point on the ring


@dataclass(frozen=True)
class Mockup:
    """A tool on a flange, as MJCF with the place-holder ROBOT for the name; and the carried frame M."""

    X_PM: Pose  # the carried frame in the flange's
    text: str = field(repr=False)
    arm_joints: tuple[str, ...] = ()
    held: dict[str, float] = field(default_factory=dict)  # joint: position at which it is held until the run begins
    gripper: Gripper | None = None  # at the site `ROBOT.hand`, with the ball `ROBOT.tip`; closes on a site `.grasp`


def grasp_ring(
    X_PM: Pose, *, stiffness: float = 1e5, damping: float = 300.0, radius: float = 0.3, mass: float = 2.0
) -> Mockup:
    """Part of a client: a plate of 10 kg and a ring [m, kg] on springs [N/m, N s/m].

    M is the client's centre of mass, its x axis the flange's z. A tool's ball of 20 mm that comes along -x touches the
    lowest bar of the ring where its own centre is at the grasp point. A gripper's tool frame that coincides with the
    grasp frame there, z into the client and y against the flange's, holds it.
    """
    for what, value, unit in (("stiffness", stiffness, "N/m"), ("radius", radius, "m"), ("mass", mass, "kg")):
        require_number(f"The ring's {what}", value, unit, above=0.0)
    require_number("The ring's damping", damping, "N s/m", least=0.0)
    bars = _circle(radius, 0.02, 24, mass)
    height = RING_HEIGHT - 0.04
    slides = "".join(
        f'<joint name="ROBOT.ring_{letter}" type="slide" axis="{axis}" stiffness="{stiffness!r}" '
        f'damping="{damping!r}"/>'
        for letter, axis in (("x", "0 0 1"), ("y", "0 1 0"), ("z", "-1 0 0"))
    )
    text = (
        '<geom name="ROBOT.plate" type="cylinder" pos="0 0 0.05" size="0.15 0.05" mass="10"/>'
        f'<geom name="ROBOT.post" type="capsule" fromto="0 0 0.1 {-radius!r} 0 {height - 0.05!r}" size="0.03" '
        'mass="0.5"/>'
        f'<body name="ROBOT.ring" pos="{-radius!r} 0 {height!r}">{slides}{bars}'
        f'<site name="ROBOT.grasp" pos="{radius!r} 0 {RING_HEIGHT - height!r}" quat="{_INTO_FLANGE}"/></body>'
    )
    return Mockup(X_PM, text)


def client_frame(grasp_point: float = 2.9) -> Pose:
    """Pose X_PM of a client whose grasp point lies at (grasp_point, 0, 0) in M [m], on the flange's axis."""
    R_PM = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    return Pose((0.0, 0.0, RING_HEIGHT - grasp_point), R_PM)


def probe(X_PM: Pose, *, length: float = 0.4, gripper: Gripper | None = None) -> Mockup:
    """A bare rod of 5 kg with a ball of 20 mm and a gripper at its end, `length` [m] above the flange."""
    require_number("The probe's length", length, "m", above=0.05)
    text = (
        f'<geom name="ROBOT.rod" type="capsule" fromto="0 0 0.03 0 0 {length - 0.05!r}" size="0.03" mass="5"/>'
        f'<geom name="ROBOT.tip" type="sphere" pos="0 0 {length!r}" size="0.02" mass="0.1" {_TOOL_SIDE}/>'
        f'<site name="ROBOT.hand" pos="0 0 {length!r}"/>'
    )
    return Mockup(X_PM, text, gripper=gripper)


def servicer_arm(mount_height: float = 0.1, gripper: Gripper | None = None) -> Mockup:
    """A servicer's arm of seven joints with a tool, its mount on the flange's axis [m]; the gripper is at the tool.

    M is the servicer's base: the mount stands at (0.9, 0, 0) in it, its z axis along the base's x.
    """
    X_PM = Pose((0.0, 0.0, mount_height)) @ ARM_MOUNT.inverse()
    tool = (
        f'<body name="ROBOT.gripper"><inertial pos="{digits(GRIPPER_COM)}" mass="{GRIPPER_MASS!r}" '
        f'diaginertia="{digits(GRIPPER_INERTIA)}"/>'
        f'<geom name="ROBOT.palm" type="capsule" fromto="0 0 0 0 0 {TOOL_HEIGHT - 0.03!r}" size="0.03" {_HAND}/>'
        f'<geom name="ROBOT.tip" type="sphere" pos="0 0 {TOOL_HEIGHT!r}" size="0.02" {_TOOL_SIDE}/>'
        f'<site name="ROBOT.hand" pos="0 0 {TOOL_HEIGHT!r}"/></body>'
    )
    inner, end = tool, TOOL_HEIGHT - 0.03
    for k, (offset, axis, com, inertia) in reversed(list(enumerate(ARM_LINKS, start=1))):
        bar = f'size="0.03" {_HAND}' if k > len(ARM_LINKS) - 2 else 'size="0.05"'
        inner = (
            f'<body name="ROBOT.arm_{k}" pos="0 0 {offset!r}">'
            f'<inertial pos="{digits(com)}" mass="{ARM_LINK_MASS!r}" diaginertia="{digits(inertia)}"/>'
            f'<joint name="ROBOT.arm_{k}" type="hinge" axis="{digits(axis)}"/>'
            f'<geom name="ROBOT.arm_{k}" type="capsule" fromto="0 0 0 0 0 {end!r}" {bar}/>{inner}</body>'
        )
        end = offset
    text = (
        f'<geom name="ROBOT.plate" type="cylinder" pos="0 0 {mount_height / 2!r}" size="0.1 {mount_height / 2!r}" '
        f'mass="5"/><body name="ROBOT.mount" pos="0 0 {mount_height!r}">{inner}</body>'
    )
    return Mockup(X_PM, text, tuple(f"arm_{k + 1}" for k in range(7)), gripper=gripper)


def _circle(radius: float, bar: float, count: int, mass: float) -> str:
    """MJCF text of a ring about z of straight bars, whose middles are at the radius."""
    angles = 2.0 * np.pi * np.arange(count + 1) / count + np.pi / count
    points = radius / np.cos(np.pi / count) * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(count + 1)])
    return "".join(
        f'<geom name="ROBOT.ring_{k}" type="capsule" fromto="{digits((*points[k], *points[k + 1]))}" size="{bar!r}" '
        f'mass="{mass / count!r}" {_CLIENT_SIDE}/>'
        for k in range(count)
    )


def digits(values: object) -> str:
    """Numbers with all their digits, separated by spaces, as in MJCF."""
    return " ".join(repr(float(v)) for v in np.ravel(np.asarray(values, dtype=float)))


_INTO_FLANGE = digits(quaternion_of(np.diag([1.0, -1.0, -1.0])))  # of the grasp frame in the flange's
