"""Shapes of bodies: simple solids and triangle meshes in the body frame, for pictures and clearances.

They do not act on the motion unless code reads them: their fields are quiet (`values.quiet_fields`).

Colours are names of roles, so that every viewer can choose tones that suit its background: `bus`, `panel`, `arm`,
`joint`, `hand`, `tank`, `antenna`, `target`; or `#rrggbb`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from freefloat.values.quiet_fields import quiet, seal_quiet_fields

Triple: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class Box:
    """A box centred on its origin."""

    size: Triple  # along x, y, z [m]


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z, centred on its origin."""

    radius: float  # [m]
    length: float  # [m]


@dataclass(frozen=True)
class Capsule:
    """A round bar along z with half balls at its ends, centred on its origin."""

    radius: float  # [m]
    length: float  # between the centres of the balls [m]


@dataclass(frozen=True)
class Cone:
    """A cone along z with its tip at the origin, opening towards +z: also the view of a camera."""

    radius: float  # at the open end [m]
    length: float  # [m]


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid centred on its origin; a ball when its radii are equal."""

    radii: Triple  # along x, y, z [m]


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles."""

    vertices: np.ndarray = field(repr=False)  # (n, 3) [m]
    faces: np.ndarray = field(repr=False)  # (m, 3) indices of vertices, counter-clockwise seen from outside


@dataclass(frozen=True, eq=False)
class Skin:
    """Surface of a flexible body: points that its modes move, and triangles between them, visible from both sides."""

    points: np.ndarray = field(repr=False)  # (n, 3) at rest [m]
    motion: np.ndarray = field(repr=False)  # (n, 3, modes)
    faces: np.ndarray = field(repr=False)  # (m, 3) indices of points
    colour: str = "panel"

    @cached_property
    def _digest(self) -> bytes:
        parts = (self.points, self.motion, self.faces)
        return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Skin) and (self._digest, self.colour) == (other._digest, other.colour)

    def __hash__(self) -> int:
        return hash((self._digest, self.colour))


Solid: TypeAlias = Box | Cylinder | Capsule | Cone | Ellipsoid | Mesh


@seal_quiet_fields
@dataclass(frozen=True)
class Shape:
    """A solid at its place in the body frame."""

    solid: Solid
    position: Triple = (0.0, 0.0, 0.0)  # [m]
    rotation: tuple[Triple, Triple, Triple] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # R_BS
    colour: str = quiet("bus")

    @staticmethod
    def tube(start: Any, end: Any, radius: float, colour: str = "arm") -> Shape:
        """A cylinder from one point to another [m]."""
        length, middle, rotation = _placement_between(start, end)
        return Shape(Cylinder(radius, length), middle, rotation, colour)

    @staticmethod
    def capsule(start: Any, end: Any, radius: float, colour: str = "arm") -> Shape:
        """A round bar from one point to another, where the centres of its end balls are [m]."""
        length, middle, rotation = _placement_between(start, end)
        return Shape(Capsule(radius, length), middle, rotation, colour)

    @staticmethod
    def ball(centre: Any, radius: float, colour: str = "joint") -> Shape:
        """A ball around a point [m]."""
        return Shape(Ellipsoid((radius, radius, radius)), triple(centre), colour=colour)


def _placement_between(start: Any, end: Any) -> tuple[float, Triple, tuple[Triple, Triple, Triple]]:
    """Length, middle and rotation of a solid along z that reaches from one point to another."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(end - start))
    axis = (end - start) / length if length else np.array([0.0, 0.0, 1.0])
    return length, triple((start + end) / 2.0), _rotation_to(axis)


def _rotation_to(axis: np.ndarray) -> tuple[Triple, Triple, Triple]:
    """A rotation whose z axis is the given unit vector."""
    aside = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(aside, axis)
    x /= np.linalg.norm(x)
    rows = np.column_stack([x, np.cross(axis, x), axis])
    return triple(rows[0]), triple(rows[1]), triple(rows[2])


def triple(values: Any) -> Triple:
    """Three values as plain Python numbers."""
    x, y, z = (float(v) for v in values)
    return x, y, z
