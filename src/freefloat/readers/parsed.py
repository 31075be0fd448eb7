"""The contents of a robot file of any format: links, joints and wheels, each checked by itself, not yet a tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from freefloat.model.parts import JointLimits
from freefloat.model.shapes import Shape
from freefloat.readers.findings import Findings
from freefloat.spatial import Pose

# The largest double stands for "no limit": other readers cannot parse `inf`.
UNLIMITED = sys.float_info.max
_LARGEST = 1e100  # numbers beyond overflow when they are squared

StatedKind = Literal["revolute", "continuous", "prismatic", "fixed", "floating"]
Looks = Callable[[Findings], Iterable[Shape]]


@dataclass(frozen=True)
class MassPoint:
    """Mass, centre of mass [m] and inertia about it [kg m2], in the axes of some frame."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def to_A(self, X_AB: Pose) -> MassPoint:
        """Mass in axes of frame A, from this one in axes of frame B."""
        R = np.asarray(X_AB.R)
        turned = R @ self.inertia @ R.T
        return MassPoint(self.mass, R @ self.com + np.asarray(X_AB.p), (turned + turned.T) / 2.0)


@dataclass(frozen=True)
class StatedLink:
    """A link; without mass it is a frame. Its shapes, in its own frame, are read when `looks` is called."""

    name: str
    inertial: MassPoint | None
    looks: Looks = lambda _: ()


@dataclass(frozen=True)
class StatedMimic:
    """A coupling: the joint's position is ratio times that of its leader, plus offset."""

    leader: str
    ratio: float
    offset: float


@dataclass(frozen=True)
class StatedJoint:
    """A joint; position limits of a continuous one are infinite."""

    name: str
    kind: StatedKind
    parent: str
    child: str
    X_PJ: Pose
    axis: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    damping: float = 0.0
    friction: float = 0.0
    limits: JointLimits = field(default_factory=JointLimits)
    mimic: StatedMimic | None = None
    stiffness: float = 0.0  # of a spring [N m/rad or N/m]
    rest: float = 0.0  # position at which the spring has no force [rad or m]


@dataclass(frozen=True)
class StatedWheel:
    """A reaction wheel, its axis in the axes of a link."""

    name: str
    link: str
    axis: np.ndarray
    inertia: float
    max_torque: float
    max_momentum: float


@dataclass(frozen=True)
class Document:
    """Everything in a file that matters for the motion."""

    name: str
    links: dict[str, StatedLink]
    joints: tuple[StatedJoint, ...]
    wheels: tuple[StatedWheel, ...] = ()
    rotors: dict[str, float] = field(default_factory=dict)  # joint -> inertia of its rotor at the joint [kg m2 or kg]
    kept: tuple[str, ...] = ()  # fixed joints whose links stay bodies of their own
    whole: bool = True  # False when a joint or link was too faulty to take part in the tree


def stated_mass(owner: str, kg: float, matrix: np.ndarray, pose: Pose, findings: Findings) -> MassPoint | None:
    """Mass of a link in axes of the link, from values about its centre at `pose`; None without mass or after a fault.

    A part may have numbers that no body can have: the body it is merged into is checked as a whole.
    """
    if np.any(np.isnan([kg, *matrix.ravel()])):
        return None
    if max(kg, np.max(np.abs(np.asarray(pose.p))), np.max(np.abs(matrix))) > _LARGEST:
        findings.error(owner, f"<inertial> has a number beyond {_LARGEST:g}. Give SI units.")
        return None
    if kg < 0.0:
        findings.error(owner, f"mass must be positive, got {kg:g} kg. Correct <inertial>.")
        return None
    if kg == 0.0 and not np.any(matrix):
        return None
    return MassPoint(kg, np.zeros(3), matrix).to_A(pose)


def require_losses(owner: str, damping: float, friction: float, findings: Findings) -> None:
    """Report damping or friction that would add energy, and note dry friction, because it acts only as an effect."""
    for what, value in (("damping", damping), ("friction", friction)):
        if value < 0.0:
            findings.error(owner, f"<dynamics {what}> is {value:g}, which would feed energy in. Give zero or more.")
    if friction > 0.0:
        findings.note(
            owner,
            f"dry friction {friction:g} is kept as joint.friction; it acts by ff.effects.JointFriction.stated(craft).",
        )


def require_spring(owner: str, stiffness: float, findings: Findings) -> None:
    """Report a spring of negative stiffness, which would push away from its rest position."""
    if stiffness < 0.0:
        findings.error(owner, f"its stiffness is {stiffness:g}, which pushes away from rest. Give zero or more.")


def unused_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number at its end if the name is taken."""
    number, new = 2, name
    while new in taken:
        new, number = f"{name}_{number}", number + 1
    return new
