"""Uniform cantilever beams with exact Euler-Bernoulli modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freefloat.flex.bending import Bending
from freefloat.flex.damping import modal_damping
from freefloat.flex.end_conditions import BeamModes, RodModes
from freefloat.flex.lines import GaussLine
from freefloat.flex.points import MassPoints
from freefloat.flex.structure import Structure, StructurePlace
from freefloat.model.modal import ModalBody, Rail
from freefloat.model.placement import require_pose
from freefloat.spatial import Pose
from freefloat.spatial import PoseLike as Placed
from freefloat.values.checks import require_number, require_numbers
from freefloat.values.errors import ModelError

Number = float | int
_MOTIONS = ("y", "z", "torsion", "axial")
_ORDER = 20  # Gauss points per panel; a panel holds at most half a wave of a shape: integrals to rounding


def beam(
    *,
    length: Number,
    mass: Number,
    bending_stiffness: Number | Sequence[Number],
    modes: int | Mapping[str, int] = 3,
    planes: str = "yz",
    torsion_stiffness: Number | None = None,
    axial_stiffness: Number | None = None,
    section_inertia: Number = 0.0,
    tip_mass: Number = 0.0,
    damping_ratio: Number | Sequence[Number] = 0.0,
    normalisation: str = "tip",
    stiffening: bool = False,
    stations: Mapping[str, Number] | None = None,
    rail_stations: int = 0,
    root: Placed | None = None,
    name: str = "beam",
) -> ModalBody:
    """A uniform beam clamped at its root, x along it at rest, with its exact modes in each plane, torsion and axial.

    `bending_stiffness` EI [N m2], one number or (for deflection along y, along z); `modes` per motion, or a dict such
    as {"y": 3, "z": 2, "torsion": 1}; `section_inertia` about the beam's axis, of the whole beam [kg m2], needed for
    torsion; `normalisation`: "tip" (unit tip displacement, so a coordinate is metres or radians at the tip), "l2"
    (integral of the square one) or "mass" (unit modal mass). Nodes: `tip` and the named `stations` [m]. With
    `rail_stations` a carriage can travel along the whole beam, its motion tabulated there. `root` is where the clamped
    end sits in the body frame.
    """
    owner = f"Beam '{name}'"
    data = _UniformBeam(
        length=require_number(f"{owner}: length", length, "m"),
        mass=require_number(f"{owner}: mass", mass, "kg"),
        stiffness=_stiffness(bending_stiffness, torsion_stiffness, axial_stiffness),
        section_inertia=require_number(f"{owner}: section_inertia", section_inertia, "kg m2"),
        tip_mass=require_number(f"{owner}: tip_mass", tip_mass, "kg"),
        normalisation=normalisation,
        name=name,
    )
    counts = _mode_counts(data, modes, planes)
    places = {key: require_number(f"Station '{key}'", x, "m") for key, x in {"tip": length, **(stations or {})}.items()}
    fields = [_MotionModes(data, motion, data.functions(motion, count)) for motion, count in counts.items()]
    structure = _modal_structure(data, fields, places)
    X_BR = Pose() if root is None else require_pose(f"{owner}: root", root)
    structure = structure if root is None else structure.place_at(X_BR)
    body = structure.body(damping=modal_damping(damping_ratio), stiffening=stiffening)
    return replace(body, rail=_rail(data, fields, rail_stations, X_BR)) if rail_stations else body


@dataclass(frozen=True)
class _UniformBeam:
    length: float
    mass: float
    stiffness: dict[str, float]  # EI along y and z, GJ, EA
    section_inertia: float
    tip_mass: float
    normalisation: str
    name: str

    def __post_init__(self) -> None:
        for label, value in (("length", self.length), ("mass", self.mass), *self.stiffness.items()):
            if not (np.isfinite(value) and value > 0.0):
                what = label if label in ("length", "mass") else f"{label} stiffness"
                raise ModelError(f"Beam '{self.name}' has {what} {value:g}. Give a positive number.")
        if self.section_inertia < 0.0 or self.tip_mass < 0.0:
            raise ModelError(f"Beam '{self.name}' has a negative section inertia or tip mass. Give zero or more.")
        if self.normalisation not in ("tip", "l2", "mass"):
            raise ModelError(f"Beam '{self.name}' has normalisation '{self.normalisation}'. Known: tip, l2, mass.")

    def inertia(self, motion: str) -> float:
        """Inertia of a motion: the mass, or for torsion the inertia about the axis."""
        return self.section_inertia if motion == "torsion" else self.mass

    def functions(self, motion: str, count: int) -> BeamModes | RodModes:
        """The exact modes of one motion."""
        if motion in "yz":
            return BeamModes(count, tip_ratio=self.tip_mass / self.mass)
        return RodModes(count, tip_ratio=self.tip_mass / self.mass if motion == "axial" else 0.0)

    def scale(self, motion: str, functions: BeamModes | RodModes) -> np.ndarray:
        """Factor of each L2-normalised shape."""
        tip = functions.shapes(np.ones(1))[0]
        if self.normalisation == "tip":
            return 1.0 / tip
        if self.normalisation == "l2":
            return np.ones(functions.count)
        loaded = self.tip_mass if motion != "torsion" else 0.0
        return 1.0 / np.sqrt(self.inertia(motion) + loaded * tip**2)

    def squared_frequencies(self, motion: str, functions: BeamModes | RodModes) -> np.ndarray:
        """Squared frequency omega^2 of each mode [rad2/s2]."""
        power = 4 if motion in "yz" else 2
        return (
            functions.eigenvalues**power * self.stiffness[motion] / (self.inertia(motion) * self.length ** (power - 1))
        )


def _stiffness(bending: Any, torsion: Number | None, axial: Number | None) -> dict[str, float]:
    given = require_numbers("bending_stiffness", bending, "N m2", allow_infinite=True)
    along = np.broadcast_to(given, 2) if given.size in (1, 2) else None
    if along is None:
        raise ModelError("Give bending_stiffness as one number or as a pair (along y, along z).")
    values = {"y": float(along[0]), "z": float(along[1])}
    if torsion is not None:
        values["torsion"] = float(torsion)
    if axial is not None:
        values["axial"] = float(axial)
    return values


def _mode_counts(data: _UniformBeam, modes: int | Mapping[str, int], planes: str) -> dict[str, int]:
    if not set(planes) <= {"y", "z"}:
        raise ModelError(f"Beam '{data.name}' has planes '{planes}'. Give 'y', 'z' or 'yz'.")
    if not isinstance(modes, (int, Mapping)):
        raise ModelError(f"Beam '{data.name}' has modes {modes!r}. Give a whole number, or a dictionary by motion.")
    if isinstance(modes, int):
        asked = {m: modes for m in _MOTIONS if (m in planes if m in "yz" else m in data.stiffness)}
    else:
        asked = dict(modes)
    for motion, count in asked.items():
        if motion not in _MOTIONS or count < 0:
            known = ", ".join(_MOTIONS)
            raise ModelError(f"Beam '{data.name}' cannot have {count} modes of '{motion}'. Motions: {known}.")
        if count and motion not in data.stiffness:
            raise ModelError(f"Beam '{data.name}' has {motion} modes but no {motion}_stiffness. Give it.")
    if asked.get("torsion") and data.section_inertia == 0.0:
        raise ModelError(f"Beam '{data.name}' has torsion modes but no section_inertia [kg m2]. Give it.")
    return {m: asked[m] for m in _MOTIONS if asked.get(m)}


def _modal_structure(data: _UniformBeam, fields: list[_MotionModes], places: dict[str, float]) -> Structure:
    for place, x in places.items():
        if not 0.0 <= x <= data.length:
            raise ModelError(f"Station '{place}' at {x:g} m is not on beam '{data.name}', 0 to {data.length:g} m.")
    panels = max([1, *(f.functions.count for f in fields)]) + 1
    line = GaussLine(np.linspace(0.0, data.length, panels + 1), _ORDER)
    points = _section_points(data, line, fields)
    stiffness = np.diag(np.concatenate([f.stiffness() for f in fields])) if fields else np.zeros((0, 0))
    slopes = np.stack([_row(fields, line.points, direction) for direction in "yz"])
    structure = Structure(
        name=data.name,
        coordinates=tuple(f"{f.motion}{j + 1}" for f in fields for j in range(f.functions.count)),
        points=points,
        stiffness=stiffness,
        places=tuple(_place(name, x, fields) for name, x in places.items()),
        bending=Bending(line, slopes, np.array([1.0, 0.0, 0.0])),
    )
    return structure.with_rider("tip", mass=data.tip_mass) if data.tip_mass else structure


@dataclass(frozen=True)
class _MotionModes:
    """The modes of one motion, scaled as requested."""

    data: _UniformBeam
    motion: str
    functions: BeamModes | RodModes

    def values(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        scale = self.data.scale(self.motion, self.functions) / self.data.length**derivative
        return scale * self.functions.shapes(x / self.data.length, derivative)

    def stiffness(self) -> np.ndarray:
        tip = self.functions.shapes(np.ones(1))[0]
        loaded = self.data.tip_mass if self.motion != "torsion" else 0.0
        modal_mass = self.data.scale(self.motion, self.functions) ** 2 * (
            self.data.inertia(self.motion) + loaded * tip**2
        )
        return self.data.squared_frequencies(self.motion, self.functions) * modal_mass

    def translation(self, x: np.ndarray, y: float, z: float, derivative: int = 0) -> np.ndarray:
        """Displacement of points at (x, y, z), or its derivative along the beam: (points, 3, modes)."""
        values = self.values(x, derivative)
        if self.motion == "torsion":
            return np.stack([0.0 * values, -z * values, y * values], axis=1)
        axis = {"axial": 0, "y": 1, "z": 2}[self.motion]
        return np.stack([values if a == axis else 0.0 * values for a in range(3)], axis=1)

    def rotation(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """Rotation of the section, or its derivative along the beam: (points, 3, modes)."""
        zero = 0.0 * self.values(x)
        if self.motion == "torsion":
            return np.stack([self.values(x, derivative), zero, zero], axis=1)
        slope = self.values(x, 1 + derivative)
        if self.motion == "y":
            return np.stack([zero, zero, slope], axis=1)
        return np.stack([zero, -slope if self.motion == "z" else zero, zero], axis=1)


def _row(fields: list[_MotionModes], x: np.ndarray, motion: str) -> np.ndarray:
    """Slopes in one plane of every coordinate."""
    blocks = [f.values(x, 1) if f.motion == motion else np.zeros((len(x), f.functions.count)) for f in fields]
    return np.hstack(blocks) if blocks else np.zeros((len(x), 0))


def _section_points(data: _UniformBeam, line: GaussLine, fields: list[_MotionModes]) -> MassPoints:
    ring = section_ring(data.section_inertia / data.mass)
    x, weights = line.points, line.weights * data.mass / data.length
    shapes = [
        np.concatenate([np.zeros((len(x), 3, 0)), *(f.translation(x, y, z) for f in fields)], axis=2) for y, z in ring
    ]
    return MassPoints(
        mass=np.tile(weights / len(ring), len(ring)),
        position=np.vstack([np.column_stack([x, np.full_like(x, y), np.full_like(x, z)]) for y, z in ring]),
        shapes=np.concatenate(shapes).reshape(3 * len(x) * len(ring), -1),
        station=np.tile(x, len(ring)),
    )


def section_ring(squared_radius: float) -> list[tuple[float, float]]:
    """Places (y, z) in a section that give it its polar inertia: the axis alone, or a ring of four."""
    if squared_radius == 0.0:
        return [(0.0, 0.0)]
    r = float(np.sqrt(squared_radius))
    return [(r, 0.0), (-r, 0.0), (0.0, r), (0.0, -r)]


def _place(name: str, x: float, fields: list[_MotionModes]) -> StructurePlace:
    at, none = np.array([x]), np.zeros((3, 0))
    return StructurePlace(
        name=name,
        position=np.array([x, 0.0, 0.0]),
        translation=np.hstack([none, *(f.translation(at, 0.0, 0.0)[0] for f in fields)]),
        rotation=np.hstack([none, *(f.rotation(at)[0] for f in fields)]),
        station=x,
    )


def _rail(data: _UniformBeam, fields: list[_MotionModes], count: int, root: Pose) -> Rail:
    """The rail for a carriage along the whole length of the beam."""
    if count < 2:
        raise ModelError(f"A rail along beam '{data.name}' needs at least two stations, not {count}.")
    x, R = np.linspace(0.0, data.length, count), np.asarray(root.R)

    def table(rows: list[np.ndarray]) -> np.ndarray:
        return np.einsum("ab,kbj->kaj", R, np.concatenate([np.zeros((count, 3, 0)), *rows], axis=2))

    return Rail(
        start=0.0,
        spacing=data.length / (count - 1),
        position=np.outer(x, R[:, 0]) + np.asarray(root.p),
        position_slope=np.tile(R[:, 0], (count, 1)),
        translation=table([f.translation(x, 0.0, 0.0) for f in fields]),
        translation_slope=table([f.translation(x, 0.0, 0.0, 1) for f in fields]),
        rotation=table([f.rotation(x) for f in fields]),
        rotation_slope=table([f.rotation(x, 1) for f in fields]),
    )
