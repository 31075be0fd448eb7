"""Links, joints and wheels as a URDF states them, each checked by itself."""

import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freefloat.model.parts import JointLimits
from freefloat.model.readers.urdf.findings import Findings
from freefloat.model.readers.urdf.xml import Part
from freefloat.spatial import Pose

# The largest double stands for "no limit": other readers refuse to parse `inf`.
UNLIMITED = sys.float_info.max

StatedKind = Literal["revolute", "continuous", "prismatic", "fixed", "floating"]
_LARGEST = 1e100  # numbers beyond overflow when they are squared
_KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating")
_REMEDIES = {
    "planar": "Write it as two prismatic joints and one revolute joint, with the link's mass on the last.",
    "loop_joint": "Closed loops are not modelled: cut the loop and remove the element.",
}


@dataclass(frozen=True)
class MassPoint:
    """Mass, centre of mass [m] and inertia about it [kg m2], in the axes of some frame."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def to_A(self, X_AB: Pose) -> "MassPoint":
        """The same, given in B, in A."""
        R = np.asarray(X_AB.R)
        turned = R @ self.inertia @ R.T
        return MassPoint(self.mass, R @ self.com + np.asarray(X_AB.p), (turned + turned.T) / 2.0)


@dataclass(frozen=True)
class StatedLink:
    """A `<link>`; one without mass is a frame."""

    name: str
    inertial: MassPoint | None


@dataclass(frozen=True)
class StatedMimic:
    """A `<mimic>`: this joint stands at ratio times its leader's position, plus offset."""

    leader: str
    ratio: float
    offset: float


@dataclass(frozen=True)
class StatedJoint:
    """A `<joint>`; position limits of a continuous one are infinite."""

    name: str
    kind: StatedKind
    parent: str
    child: str
    X_PJ: Pose
    axis: np.ndarray
    damping: float
    friction: float
    limits: JointLimits
    mimic: StatedMimic | None


@dataclass(frozen=True)
class StatedWheel:
    """A `<wheel>` of the `<freefloat>` element, its axis in the axes of a link."""

    name: str
    link: str
    axis: np.ndarray
    inertia: float
    max_torque: float
    max_momentum: float


@dataclass(frozen=True)
class Document:
    """Everything a file says that matters for the motion."""

    name: str
    links: dict[str, StatedLink]
    joints: tuple[StatedJoint, ...]
    wheels: tuple[StatedWheel, ...]
    rotors: dict[str, float]  # joint -> inertia of its rotor seen at the joint [kg m2 or kg]
    kept: tuple[str, ...]  # fixed joints whose links stay bodies of their own
    whole: bool  # False when a joint or link was too faulty to take part in the tree


def read_document(root: ET.Element, findings: Findings) -> Document:
    """Read every part; those too faulty to use are left out after their faults are noted."""
    robot = Part(root, "robot", findings)
    robot.expect(("name", "version"), ("link", "joint", "material", "freefloat"))
    if root.find("loop_joint") is not None:
        findings.error("robot", f"has a <loop_joint>. {_REMEDIES['loop_joint']}")
    links = [link for part in _named_parts(robot, "link") if (link := _link(part))]
    joints = [joint for part in _named_parts(robot, "joint") if (joint := _joint(part))]
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


def _named_parts(owner: Part, tag: str) -> list[Part]:
    """The children with that tag, by name; nameless ones and second ones of a name are faults."""
    parts: dict[str, Part] = {}
    for number, element in enumerate(owner.element.findall(tag), start=1):
        name = (element.get("name") or "").strip()
        part = Part(element, f"{tag} '{name}'" if name else f"{tag} number {number}", owner.findings)
        if not name:
            part.text("name")
        elif name in parts:
            owner.findings.error(part.name, f"there are two {tag}s of this name. Rename one of them.")
        else:
            parts[name] = part
    return list(parts.values())


# ---- links


def _link(part: Part) -> StatedLink:
    part.expect(("name",), ("inertial", "visual", "collision"))
    inertial = part.child("inertial")
    return StatedLink(part.element.get("name", "").strip(), None if inertial is None else _inertial(inertial))


def _inertial(part: Part) -> MassPoint | None:
    part.expect((), ("origin", "mass", "inertia"))
    mass, inertia = part.child("mass"), part.child("inertia")
    for tag, found in (("mass", mass), ("inertia", inertia)):
        if found is None:
            part.findings.error(part.name, f"<inertial> has no <{tag}>. Add it, or remove <inertial> if it is a frame.")
    pose = part.origin()
    if mass is None or inertia is None:
        return None
    mass.expect(("value",), ())
    inertia.expect(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ())
    kg = mass.number("value")
    xx, yy, zz = (inertia.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.any(np.isnan([kg, *matrix.ravel()])):
        return None
    if max(kg, np.max(np.abs([kg, *pose.p])), np.max(np.abs(matrix))) > _LARGEST:
        part.findings.error(part.name, f"<inertial> has a number beyond {_LARGEST:g}. Give SI units.")
        return None
    if kg < 0.0:
        part.findings.error(part.name, f"mass must be positive, got {kg:g} kg. Correct <inertial>.")
        return None
    if kg == 0.0 and not np.any(matrix):
        return None
    # A part may have numbers that no body can have: the body it is merged into is judged as a whole.
    return MassPoint(kg, np.zeros(3), matrix).to_A(pose)


# ---- joints


def _joint(part: Part) -> StatedJoint | None:
    name = part.element.get("name", "").strip()
    known = (
        "origin",
        "parent",
        "child",
        "axis",
        "limit",
        "dynamics",
        "mimic",
        "calibration",
        "safety_controller",
    )
    part.expect(("name", "type"), known)
    for tag in ("calibration", "safety_controller"):
        if part.child(tag) is not None:
            part.findings.warn(part.name, f"element <{tag}> is ignored: laws set their own bounds.", minor=True)
    kind = part.text("type")
    if kind is not None and kind not in _KINDS:
        remedy = _REMEDIES.get(kind, f"Types: {', '.join(_KINDS)}.")
        part.findings.error(part.name, f"type '{kind}' is not modelled. {remedy}")
        kind = "fixed"  # a stand-in, so that the tree can be checked too
    parent, child = _end(part, "parent"), _end(part, "child")
    pose, axis = part.origin(), _axis(part, kind or "")
    damping, friction = _losses(part) if kind != "fixed" else (0.0, 0.0)
    limits, mimic = _limits(part, kind or ""), _mimic(part, kind or "")
    if kind is None or parent is None or child is None:
        return None
    return StatedJoint(name, kind, parent, child, pose, axis, damping, friction, limits, mimic)  # pyright: ignore[reportArgumentType]


def _end(part: Part, tag: str) -> str | None:
    end = part.child(tag)
    if end is None:
        part.findings.error(part.name, f'it has no <{tag}>. Add <{tag} link="..."/>.')
        return None
    end.expect(("link",), ())
    return end.text("link")


def _axis(part: Part, kind: str) -> np.ndarray:
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


def _losses(part: Part) -> tuple[float, float]:
    """Viscous damping and dry friction."""
    dynamics = part.child("dynamics")
    if dynamics is None:
        return 0.0, 0.0
    dynamics.expect(("damping", "friction"), ())
    damping, friction = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
    if damping < 0.0:
        part.findings.error(
            part.name, f"<dynamics damping> is {damping:g}, which would feed energy in. Give zero or more."
        )
    if friction < 0.0:
        part.findings.error(
            part.name, f"<dynamics friction> is {friction:g}, which would feed energy in. Give zero or more."
        )
    elif friction > 0.0:
        part.findings.note(
            part.name, f"dry friction {friction:g} is kept as joint.friction; it acts only where a motor law uses it."
        )
    return damping, friction


def _mimic(part: Part, kind: str) -> StatedMimic | None:
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


def _limits(part: Part, kind: str) -> JointLimits:
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


# ---- what URDF has no word for


def _extension(robot: Part) -> tuple[tuple[StatedWheel, ...], dict[str, float], tuple[str, ...]]:
    """`<freefloat>`: reaction wheels, rotors of joints, and fixed joints that are not merged. Other readers skip it."""
    extension = robot.child("freefloat")
    if extension is None:
        return (), {}, ()
    extension.expect((), ("wheel", "rotor", "keep"))
    kept = []
    for element in extension.element.findall("keep"):
        keep = Part(element, "<keep>", robot.findings)
        keep.expect(("joint",), ())
        kept.append(keep.text("joint") or "")
    wheels = tuple(wheel for part in _named_parts(extension, "wheel") if (wheel := _wheel(part)))
    return wheels, _rotors(extension), tuple(kept)


def _rotors(extension: Part) -> dict[str, float]:
    """Joint -> inertia of its rotor."""
    rotors: dict[str, float] = {}
    for element in extension.element.findall("rotor"):
        part = Part(element, "<rotor>", extension.findings)
        part.expect(("joint", "inertia"), ())
        joint, inertia = part.text("joint"), part.number("inertia")
        if joint in rotors:
            part.findings.error("<rotor>", f"joint '{joint}' has two of them. Remove one.")
        if inertia < 0.0:
            part.findings.error("<rotor>", f"inertia of joint '{joint}' is {inertia:g}. Give zero or more.")
        if joint is not None:
            rotors[joint] = inertia
    return rotors


def _wheel(part: Part) -> StatedWheel | None:
    part.expect(("name", "link", "axis", "inertia", "max_torque", "max_momentum"), ())
    link = part.text("link")
    axis, inertia = part.numbers("axis", 3), part.number("inertia")
    torque, momentum = (_limit_value(part.number(name, UNLIMITED)) for name in ("max_torque", "max_momentum"))
    if link is None or np.any(np.isnan([*axis, inertia])):
        return None
    return StatedWheel(part.element.get("name", "").strip(), link, axis, inertia, torque, momentum)
