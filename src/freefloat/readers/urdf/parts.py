"""Links, joints and wheels of a URDF. Whether an inertia is possible is judged in `readers.body_checks`."""

import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import numpy as np

from freefloat.model.parts import JointLimits
from freefloat.readers.elements import XmlPart, named_parts
from freefloat.readers.findings import Findings
from freefloat.readers.parsed import (
    UNLIMITED,
    Document,
    MassPoint,
    StatedJoint,
    StatedLink,
    StatedMimic,
    StatedWheel,
    require_losses,
    stated_mass,
)
from freefloat.readers.solids import visual_shapes
from freefloat.readers.urdf.looks import VisualContext
from freefloat.readers.urdf.origins import origin_of

_KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating")
_REMEDIES = {
    "planar": "Write it as two prismatic joints and one revolute joint, with the link's mass on the last.",
    "loop_joint": "Closed loops are not modelled: cut the loop and remove the element.",
}


def read_document(root: ET.Element, folder: Path | None, findings: Findings) -> Document:
    """Document of a URDF; parts with too many faults are reported and left out."""
    around = VisualContext.of(root, folder)
    robot = XmlPart(root, "robot", findings)
    robot.expect(("name", "version"), ("link", "joint", "material", "freefloat"))
    if root.find("loop_joint") is not None:
        findings.error("robot", f"has a <loop_joint>. {_REMEDIES['loop_joint']}")
    links = [link for part in named_parts(robot, "link") if (link := _link(part, around))]
    joints = [joint for part in named_parts(robot, "joint") if (joint := _joint(part))]
    wheels, rotors, kept = _extension(robot)
    return Document(
        name=root.get("name", "").strip(),
        links={link.name: link for link in links},
        joints=tuple(joints),
        wheels=wheels,
        rotors=rotors,
        kept=kept,
        whole=len(links) == len(root.findall("link")) and len(joints) == len(root.findall("joint")),
    )


# ---- links


def _link(part: XmlPart, around: VisualContext) -> StatedLink:
    part.expect(("name",), ("inertial", "visual", "collision"))
    inertial, looks = part.child("inertial"), partial(visual_shapes, part, around.shape)
    return StatedLink(part.stated_name, None if inertial is None else _inertial(inertial), looks)


def _inertial(part: XmlPart) -> MassPoint | None:
    part.expect((), ("origin", "mass", "inertia"))
    mass, inertia = part.child("mass"), part.child("inertia")
    for tag, found in (("mass", mass), ("inertia", inertia)):
        if found is None:
            part.findings.error(part.name, f"<inertial> has no <{tag}>. Add it, or remove <inertial> if it is a frame.")
    pose = origin_of(part)
    if mass is None or inertia is None:
        return None
    mass.expect(("value",), ())
    inertia.expect(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ())
    kg = mass.number("value")
    xx, yy, zz = (inertia.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return stated_mass(part.name, kg, matrix, pose, part.findings)


# ---- joints


def _joint(part: XmlPart) -> StatedJoint | None:
    name = part.stated_name
    known = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller")
    part.expect(("name", "type"), known)
    for tag in ("calibration", "safety_controller"):
        if part.child(tag) is not None:
            part.findings.warn(part.name, f"element <{tag}> is ignored: software sets its own bounds.", minor=True)
    kind = part.text("type")
    if kind is not None and kind not in _KINDS:
        remedy = _REMEDIES.get(kind, f"Types: {', '.join(_KINDS)}.")
        part.findings.error(part.name, f"type '{kind}' is not modelled. {remedy}")
        kind = "fixed"  # a stand-in, so that the tree can be checked too
    parent, child = _end_link(part, "parent"), _end_link(part, "child")
    pose, axis = origin_of(part), _axis(part, kind or "")
    damping, friction = _losses(part) if kind != "fixed" else (0.0, 0.0)
    limits, mimic = _limits(part, kind or ""), _mimic(part, kind or "")
    if kind is None or parent is None or child is None:
        return None
    return StatedJoint(name, kind, parent, child, pose, axis, damping, friction, limits, mimic)  # pyright: ignore[reportArgumentType]


def _end_link(part: XmlPart, tag: str) -> str | None:
    end = part.child(tag)
    if end is None:
        part.findings.error(part.name, f'it has no <{tag}>. Add <{tag} link="..."/>.')
        return None
    end.expect(("link",), ())
    return end.text("link")


def _axis(part: XmlPart, kind: str) -> np.ndarray:
    axis, default = part.child("axis"), np.array([1.0, 0.0, 0.0])  # the default of the URDF specification
    if axis is None:
        return default
    axis.expect(("xyz",), ())
    xyz = axis.numbers("xyz", 3)
    length = float(np.linalg.norm(xyz))
    if length < 1e-12 and kind in ("fixed", "floating"):
        part.findings.note(part.name, f"<axis xyz> is zero, which a {kind} joint does not need.")
        return default
    if length < 1e-12:
        part.findings.error(part.name, "<axis xyz> is zero. Give a direction, for example '0 0 1'.")
    elif abs(length - 1.0) > 1e-6:
        part.findings.warn(
            part.name, f"<axis xyz> has length {length:g}; it is scaled to one, other readers may not.", minor=True
        )
    return xyz


def _losses(part: XmlPart) -> tuple[float, float]:
    """Viscous damping and dry friction of a joint."""
    dynamics = part.child("dynamics")
    if dynamics is None:
        return 0.0, 0.0
    dynamics.expect(("damping", "friction"), ())
    damping, friction = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
    require_losses(part.name, damping, friction, part.findings)
    return damping, friction


def _mimic(part: XmlPart, kind: str) -> StatedMimic | None:
    mimic = part.child("mimic")
    if mimic is None:
        return None
    mimic.expect(("joint", "multiplier", "offset"), ())
    leader = mimic.text("joint")
    ratio, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    if leader is None or np.any(np.isnan([ratio, offset])):
        return None
    if kind in ("fixed", "floating"):
        part.findings.note(part.name, f"it is {kind}, so its <mimic> means nothing.")
        return None
    return StatedMimic(leader, ratio, offset)


def _limits(part: XmlPart, kind: str) -> JointLimits:
    limit = part.child("limit")
    if kind in ("fixed", "floating"):
        return JointLimits()
    if limit is None:
        if kind != "continuous":
            part.findings.warn(
                part.name, "it has no <limit>, so it is unlimited. Add one, or make it continuous.", minor=True
            )
        return JointLimits()
    limit.expect(("lower", "upper", "velocity", "effort"), ())
    # The specification's default of a missing position limit is 0; rate and effort it demands.
    before = len(part.findings.errors)
    lower, upper = (_limit_value(limit.number(name, 0.0)) for name in ("lower", "upper"))
    rate, effort = (_limit_value(limit.number(name, UNLIMITED)) for name in ("velocity", "effort"))
    stated = limit.element.keys()
    for name, value in (("velocity", rate), ("effort", effort)):
        if name not in stated:
            part.findings.warn(
                part.name, f"<limit> has no {name}, so it is unlimited. Other readers demand it.", minor=True
            )
        elif value < 0.0:
            part.findings.error(part.name, f"<limit {name}> is {value:g}. Give a positive number.")
        elif value == 0.0:
            part.findings.warn(
                part.name, f"<limit {name}> is 0, which lets the joint do nothing. Give its true limit.", minor=True
            )
    if len(part.findings.errors) > before:
        return JointLimits()  # a stand-in: the faults are noted
    if kind == "continuous":
        if {"lower", "upper"} & set(stated):
            part.findings.warn(part.name, "it is continuous, so its position limits are ignored.", minor=True)
        return JointLimits(rate=rate, effort=effort)
    if lower > upper:
        part.findings.error(part.name, f"<limit> has lower {lower:g} above upper {upper:g}. Exchange them.")
        return JointLimits()
    if lower == upper:
        part.findings.warn(part.name, f"<limit> allows no motion: lower and upper are both {lower:g}.", minor=True)
    return JointLimits(lower=lower, upper=upper, rate=rate, effort=effort)


def _limit_value(value: float) -> float:
    return float(np.copysign(np.inf, value)) if abs(value) >= UNLIMITED else value


# ---- what URDF has no element for


def _extension(robot: XmlPart) -> tuple[tuple[StatedWheel, ...], dict[str, float], tuple[str, ...]]:
    """Contents of `<freefloat>`: reaction wheels, rotors of joints, and fixed joints to keep. Other readers skip it."""
    extension = robot.child("freefloat")
    if extension is None:
        return (), {}, ()
    extension.expect((), ("wheel", "rotor", "keep"))
    kept = []
    for element in extension.element.findall("keep"):
        keep = XmlPart(element, "<keep>", robot.findings)
        keep.expect(("joint",), ())
        kept.append(keep.text("joint") or "")
    wheels = tuple(wheel for part in named_parts(extension, "wheel") if (wheel := _wheel(part)))
    return wheels, _rotors(extension), tuple(kept)


def _rotors(extension: XmlPart) -> dict[str, float]:
    """Joint -> inertia of its rotor [kg m2 or kg]."""
    rotors: dict[str, float] = {}
    for element in extension.element.findall("rotor"):
        part = XmlPart(element, "<rotor>", extension.findings)
        part.expect(("joint", "inertia"), ())
        joint, inertia = part.text("joint"), part.number("inertia")
        if joint in rotors:
            part.findings.error("<rotor>", f"joint '{joint}' has two of them. Remove one.")
        if inertia < 0.0:
            part.findings.error("<rotor>", f"inertia of joint '{joint}' is {inertia:g}. Give zero or more.")
        if joint is not None:
            rotors[joint] = inertia
    return rotors


def _wheel(part: XmlPart) -> StatedWheel | None:
    part.expect(("name", "link", "axis", "inertia", "max_torque", "max_momentum"), ())
    link = part.text("link")
    axis, inertia = part.numbers("axis", 3), part.number("inertia")
    torque, momentum = (_limit_value(part.number(name, UNLIMITED)) for name in ("max_torque", "max_momentum"))
    if link is None or np.any(np.isnan([*axis, inertia])):
        return None
    return StatedWheel(part.stated_name, link, axis, inertia, torque, momentum)
