"""URDF from a spacecraft. Reading it back gives the same spacecraft.

Every number keeps all its digits. Rotations of joints and frames pass through roll, pitch and yaw, which
costs up to 1e-15 per matrix element. Frames become massless links on fixed joints; wheels, rotors of joints, and
fixed joints whose links are bodies of their own, stand in `<freefloat>` (see `reader`), which other readers skip.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.model.parts import Frame, Joint, RigidBody, Wheel
from freefloat.model.shapes import Box, Cylinder, Ellipsoid, Shape
from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.parsed import UNLIMITED
from freefloat.spatial import Pose
from freefloat.spatial.rotations import roll_pitch_yaw
from freefloat.values.arrays import is_traced
from freefloat.values.errors import ModelError


def write_urdf(craft: Spacecraft, path: str | Path | None = None) -> str:
    """The spacecraft as URDF text, also written to `path` when one is given; an existing file is replaced.

    Flexible joints are written as stiff ones with their rotors' inertia.
    """
    if not isinstance(craft, Spacecraft):
        raise ModelError(f"write_urdf writes a Spacecraft, got {craft!r}.")
    if is_traced(craft):
        raise ModelError(f"Spacecraft '{craft.name}' holds traced numbers. Write it outside of jit, vmap and grad.")
    craft, robot = craft.with_stiff_joints(), ET.Element("robot", name=craft.name)
    for body in craft.bodies:
        if not isinstance(body, RigidBody):
            raise ModelError(f"Body '{body.name}' is flexible, and URDF knows rigid bodies only. Detach it first.")
        _add_link(robot, body)
    for joint, body in zip(craft.joints, craft.bodies[1:], strict=True):
        _add_joint(robot, joint, body.name)
    taken = set(craft.joint_names)
    for frame in craft.frames:
        _add_frame(robot, frame, taken)
    _add_extension(robot, craft)
    ET.indent(robot)
    text = '<?xml version="1.0"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def _add_link(robot: ET.Element, body: RigidBody) -> None:
    link = ET.SubElement(robot, "link", name=body.name)
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=_digits(body.com), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=_digit(body.mass))
    I = np.asarray(body.inertia)
    I = (I + I.T) / 2.0
    moments = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
    ET.SubElement(inertial, "inertia", {name: _digit(value) for name, value in moments.items()})
    for shape in body.shapes:
        _add_visual(link, shape)


def _add_visual(link: ET.Element, shape: Shape) -> None:
    """Add a box, cylinder or ball; URDF has no element for other solids, and colours are roles."""
    solid = shape.solid
    if isinstance(solid, Box):
        stated = ("box", {"size": _digits(solid.size)})
    elif isinstance(solid, Cylinder):
        stated = ("cylinder", {"radius": _digit(solid.radius), "length": _digit(solid.length)})
    elif isinstance(solid, Ellipsoid) and len(set(solid.radii)) == 1:
        stated = ("sphere", {"radius": _digit(solid.radii[0])})
    else:
        return
    visual = ET.SubElement(link, "visual")
    _add_origin(visual, Pose(position=shape.position, rotation=shape.rotation))
    ET.SubElement(ET.SubElement(visual, "geometry"), *stated)


def _add_joint(robot: ET.Element, joint: Joint, child: str) -> None:
    limits = joint.limits
    endless = joint.kind == "revolute" and np.isinf(limits.lower) and np.isinf(limits.upper)
    element = ET.SubElement(robot, "joint", name=joint.name, type="continuous" if endless else joint.kind)
    _add_origin(element, joint.X_PJ)
    ET.SubElement(element, "parent", link=joint.parent)
    ET.SubElement(element, "child", link=child)
    ET.SubElement(element, "axis", xyz=_digits(joint.axis))
    if joint.kind == "fixed":
        return
    stated = {"velocity": _digit(limits.rate), "effort": _digit(limits.effort)}
    if not endless:
        stated = {"lower": _digit(limits.lower), "upper": _digit(limits.upper), **stated}
    if not endless or np.isfinite(limits.rate) or np.isfinite(limits.effort):
        ET.SubElement(element, "limit", stated)
    losses = {"damping": joint.damping, "friction": joint.friction}
    if stated := {name: _digit(value) for name, value in losses.items() if float(value) != 0.0}:
        ET.SubElement(element, "dynamics", stated)
    if joint.follows is not None:
        numbers = {"multiplier": _digit(joint.follows.ratio), "offset": _digit(joint.follows.offset)}
        ET.SubElement(element, "mimic", {"joint": joint.follows.leader, **numbers})


def _add_frame(robot: ET.Element, frame: Frame, taken: set[str]) -> None:
    ET.SubElement(robot, "link", name=frame.name)
    name = f"{frame.name}.mount"
    while name in taken:
        name += "_"
    taken.add(name)
    joint = ET.SubElement(robot, "joint", name=name, type="fixed")
    _add_origin(joint, frame.X_BF)
    ET.SubElement(joint, "parent", link=frame.body)
    ET.SubElement(joint, "child", link=frame.name)


def _add_extension(robot: ET.Element, craft: Spacecraft) -> None:
    kept = [joint for joint in craft.joints if joint.kind == "fixed"]
    rotors = [joint for joint in craft.joints if joint.kind != "fixed" and float(joint.rotor_inertia) != 0.0]
    if not craft.wheels and not rotors and not kept:
        return
    extension = ET.SubElement(robot, "freefloat")
    for wheel in craft.wheels:
        _add_wheel(extension, wheel)
    for joint in rotors:
        ET.SubElement(extension, "rotor", joint=joint.name, inertia=_digit(joint.rotor_inertia))
    for joint in kept:
        ET.SubElement(extension, "keep", joint=joint.name)


def _add_wheel(extension: ET.Element, wheel: Wheel) -> None:
    numbers = {"axis": _digits(wheel.axis), "inertia": _digit(wheel.inertia)}
    for bound in ("max_torque", "max_momentum"):
        if np.isfinite(getattr(wheel, bound)):
            numbers[bound] = _digit(getattr(wheel, bound))
    ET.SubElement(extension, "wheel", {"name": wheel.name, "link": wheel.body, **numbers})


def _add_origin(element: ET.Element, pose: Pose) -> None:
    rpy = np.asarray(roll_pitch_yaw(pose.R)) + 0.0  # no negative zeros
    ET.SubElement(element, "origin", xyz=_digits(pose.p), rpy=_digits(rpy))


def _digit(value: Any) -> str:
    """All digits of a double; infinity is written as the largest double."""
    value = float(value)
    return repr(float(np.clip(value, -UNLIMITED, UNLIMITED)))


def _digits(values: Iterable[Any]) -> str:
    return " ".join(_digit(value) for value in np.asarray(values))
