"""Straight beams by finite elements: cubic Hermite in both planes, quadratic along the axis and in torsion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freefloat.flex.beams import section_ring
from freefloat.flex.bending import Bending
from freefloat.flex.elements import hermite_line, quadratic_line
from freefloat.flex.lines import GaussLine, mesh_lines
from freefloat.flex.points import MassPoints
from freefloat.flex.structure import Structure, StructurePlace
from freefloat.flex.track import beam_track
from freefloat.values.errors import ModelError

Number = float | int
PerSegment = Number | Sequence[Number] | np.ndarray
_ORDER = 5  # Gauss points per element: exact for mass (degree 6), for slopes squared (4) and their running integral
# Bending freedoms (deflection, slope) that an end condition holds; clamped and pinned ends hold axis and twist too.
_HELD: dict[str, tuple[bool, bool]] = {
    "clamped": (True, True),
    "pinned": (True, False),
    "sliding": (False, True),
    "free": (False, False),
}


def meshed_beam(
    *,
    length: Number,
    mass_per_length: PerSegment,
    bending_stiffness: PerSegment | None = None,
    bending_stiffness_y: PerSegment | None = None,
    bending_stiffness_z: PerSegment | None = None,
    torsion_stiffness: PerSegment | None = None,
    axial_stiffness: PerSegment | None = None,
    section_inertia: PerSegment = 0.0,
    elements: int = 20,
    planes: str = "yz",
    ends: tuple[str, str] = ("clamped", "free"),
    stations: Mapping[str, Number] | None = None,
    held: Sequence[str] = (),
    rail_stations: int = 0,
    name: str = "beam",
) -> Structure:
    """A straight beam along x from the origin, as finite elements.

    Section properties are numbers, or sequences with one value for each of as many equal segments of the length:
    mass [kg/m], EI for deflection along y and z [N m2] (or one `bending_stiffness` for both), GJ [N m2], EA [N],
    inertia about the axis [kg m]. Places: `root`, `tip` and the named stations. Tip masses and springs: `with_rider`,
    `with_spring`; a root offset: `place_at`. `held` names stations that are clamped in the body frame, such as the
    middle of a beam with free ends. With `rail_stations` a carriage can travel along the whole beam.
    """
    if length <= 0.0 or elements < 1:
        raise ModelError(f"Beam '{name}' needs a positive length and at least one element.")
    rigidity = {
        "y": bending_stiffness if bending_stiffness_y is None else bending_stiffness_y,
        "z": bending_stiffness if bending_stiffness_z is None else bending_stiffness_z,
        "torsion": torsion_stiffness,
        "axial": axial_stiffness,
    }
    motions = [m for m, value in rigidity.items() if value is not None and (m not in ("y", "z") or m in planes)]
    marks = {"root": 0.0, "tip": float(length), **{key: float(x) for key, x in (stations or {}).items()}}
    mesh = _BeamMesh.through(
        float(length), elements, marks, [mass_per_length, section_inertia, *rigidity.values()], name
    )
    supports = _Supports.of(mesh, ends, marks, held)
    density, polar = mesh.sample("mass_per_length", mass_per_length), mesh.sample("section_inertia", section_inertia)
    if "torsion" in motions and np.min(polar) <= 0.0:
        raise ModelError(f"Beam '{name}' has torsion_stiffness but no section_inertia [kg m]. Give it.")
    fields = [_field(mesh, motion, mesh.sample(motion, rigidity[motion]), supports) for motion in motions]
    structure = _assemble(name, mesh, fields, density, polar, marks, supports)
    free = {f.motion: f.free for f in fields}
    track = beam_track(name, mesh.edges, free, rail_stations) if rail_stations else None
    return replace(structure, track=track) if track else structure


@dataclass(frozen=True)
class _BeamMesh:
    name: str
    length: float
    edges: np.ndarray

    @staticmethod
    def through(length: float, elements: int, marks: dict[str, float], sections: list[Any], name: str) -> _BeamMesh:
        """A mesh with a line at every mark and at every change of section."""
        for mark, x in marks.items():
            if not 0.0 <= x <= length:
                raise ModelError(f"Station '{mark}' at {x:g} m is not on beam '{name}', 0 to {length:g} m.")
        changes = [length * k / np.size(s) for s in sections if s is not None for k in range(1, np.size(s))]
        return _BeamMesh(name, length, mesh_lines(0.0, length, elements, [*marks.values(), *changes]))

    @property
    def elements(self) -> int:
        return len(self.edges) - 1

    def line_at(self, x: float) -> int:
        """The mesh line nearest to a place."""
        return int(np.argmin(np.abs(self.edges - x)))

    def sample(self, label: str, value: Any) -> np.ndarray:
        """A section property at every element."""
        values = np.atleast_1d(np.asarray(value, float))
        positive = label not in ("section_inertia",)
        if not np.all(np.isfinite(values)) or np.min(values) < 0.0 or (positive and np.min(values) == 0.0):
            what = f"{label} stiffness" if label in ("y", "z", "torsion", "axial") else label
            raise ModelError(f"Beam '{self.name}' has {what} {np.min(values):g}. Give positive numbers.")
        middles = 0.5 * (self.edges[1:] + self.edges[:-1]) / self.length
        return values[np.minimum((middles * len(values)).astype(int), len(values) - 1)]


@dataclass(frozen=True)
class _Supports:
    """Supports of the beam: conditions at its ends, and mesh lines that are clamped."""

    ends: tuple[str, str]
    lines: tuple[int, ...]

    @staticmethod
    def of(mesh: _BeamMesh, ends: tuple[str, str], marks: Mapping[str, float], held: Sequence[str]) -> _Supports:
        for end in ends:
            if end not in _HELD:
                raise ModelError(f"There is no end condition '{end}'. End conditions: {', '.join(_HELD)}.")
        if unknown := [station for station in held if station not in marks]:
            known = ", ".join(marks)
            raise ModelError(f"Beam '{mesh.name}' has no station '{unknown[0]}' to be held. Stations: {known}.")
        return _Supports(ends, tuple(mesh.line_at(marks[station]) for station in held))

    def bending(self, lines: int) -> np.ndarray:
        """Which of (deflection, slope) at every line are held."""
        held = np.zeros(2 * lines, bool)
        held[:2], held[-2:] = _HELD[self.ends[0]], _HELD[self.ends[1]]
        for line in self.lines:
            held[2 * line : 2 * line + 2] = True
        return held

    def rod(self, count: int) -> np.ndarray:
        """Which freedoms along the axis, or about it, are held; mesh lines are every second one."""
        held = np.zeros(count, bool)
        held[0], held[-1] = (end in ("clamped", "pinned") for end in self.ends)
        held[[2 * line for line in self.lines]] = True
        return held


@dataclass(frozen=True)
class _BeamField:
    """One motion: its functions at all Gauss points (points, dofs) and at the mesh lines."""

    motion: str
    value: np.ndarray
    slope: np.ndarray
    stiffness: np.ndarray
    at_lines: np.ndarray  # (lines, dofs)
    slope_at_lines: np.ndarray
    names: tuple[str, ...]
    free: np.ndarray  # which of all freedoms these are


def _field(mesh: _BeamMesh, motion: str, rigidity: np.ndarray, supports: _Supports) -> _BeamField:
    if motion in ("y", "z"):
        return _bending_field(mesh, motion, rigidity, supports)
    return _rod_field(mesh, motion, rigidity, supports)


def _bending_field(mesh: _BeamMesh, motion: str, rigidity: np.ndarray, supports: _Supports) -> _BeamField:
    cell, lines = hermite_line(_ORDER), mesh.elements + 1
    assert cell.hessian is not None
    half = 0.5 * np.diff(mesh.edges)
    dofs = 2 * np.arange(mesh.elements)[:, None] + np.arange(4)
    scale = np.column_stack([np.ones_like(half), half, np.ones_like(half), half])  # slopes are per reference length
    value = _scatter(cell.value, dofs, scale, 2 * lines)
    slope = _scatter(cell.gradient[:, 0], dofs, scale / half[:, None], 2 * lines)
    curvature = _scatter(cell.hessian[:, 0, 0], dofs, scale / half[:, None] ** 2, 2 * lines)
    weights = np.repeat(rigidity * half, _ORDER) * np.tile(cell.weights, mesh.elements)
    held, identity = supports.bending(lines), np.eye(2 * lines)
    names = tuple(f"{motion}{k // 2}" + ("'" if k % 2 else "") for k in range(2 * lines))
    return _free_field(
        motion, value, slope, curvature.T @ (weights[:, None] * curvature), identity[::2], identity[1::2], names, held
    )


def _rod_field(mesh: _BeamMesh, motion: str, rigidity: np.ndarray, supports: _Supports) -> _BeamField:
    cell, lines = quadratic_line(_ORDER), mesh.elements + 1
    half = 0.5 * np.diff(mesh.edges)
    start = np.arange(mesh.elements)[:, None]
    dofs = np.hstack([2 * start, 2 * start + 2, 2 * start + 1])
    count = 2 * lines - 1
    unscaled = np.ones((mesh.elements, 3))
    value = _scatter(cell.value, dofs, unscaled, count)
    slope = _scatter(cell.gradient[:, 0], dofs, unscaled / half[:, None], count)
    weights = np.repeat(rigidity * half, _ORDER) * np.tile(cell.weights, mesh.elements)
    held, identity = supports.rod(count), np.eye(count)[::2]
    names = tuple(f"{motion}{k / 2:g}" for k in range(count))
    stiffness = slope.T @ (weights[:, None] * slope)
    return _free_field(motion, value, slope, stiffness, identity, 0.0 * identity, names, held)


def _free_field(motion: str, *columns: Any) -> _BeamField:
    """The field of one motion without the held freedoms."""
    value, slope, stiffness, at_lines, slope_at_lines, names, held = columns
    free = ~held
    kept = tuple(name for name, keep in zip(names, free, strict=True) if keep)
    inner = stiffness[np.ix_(free, free)]
    return _BeamField(
        motion, value[:, free], slope[:, free], inner, at_lines[:, free], slope_at_lines[:, free], kept, free
    )


def _scatter(local: np.ndarray, dofs: np.ndarray, scale: np.ndarray, count: int) -> np.ndarray:
    """Local functions (functions, q) of every element as rows over all freedoms: (elements q, count)."""
    elements, q = len(dofs), local.shape[1]
    rows = np.zeros((elements, q, count))
    for k in range(local.shape[0]):
        rows[np.arange(elements)[:, None], np.arange(q), dofs[:, k, None]] += scale[:, k, None] * local[k]
    return rows.reshape(elements * q, count)


def _assemble(
    name: str,
    mesh: _BeamMesh,
    fields: list[_BeamField],
    density: np.ndarray,
    polar: np.ndarray,
    marks: dict[str, float],
    supports: _Supports,
) -> Structure:
    line = GaussLine(mesh.edges, _ORDER)
    ends = np.cumsum([0] + [len(f.names) for f in fields])
    slices = {f.motion: slice(a, b) for f, a, b in zip(fields, ends[:-1], ends[1:], strict=True)}
    by_motion, count = {f.motion: f for f in fields}, int(ends[-1])

    def spread(motion: str, attribute: str, rows: Any = slice(None)) -> np.ndarray:
        """Functions of one motion as rows over all coordinates; zeros where there is no such motion."""
        if motion not in by_motion:
            shape = np.shape(line.points[rows]) if attribute in ("value", "slope") else np.shape(mesh.edges[rows])
            return np.zeros((*shape, count))
        block = getattr(by_motion[motion], attribute)[rows]
        full = np.zeros((*block.shape[:-1], count))
        full[..., slices[motion]] = block
        return full

    moving = np.stack([spread(m, "value") for m in ("axial", "y", "z")], axis=1)
    twist = spread("torsion", "value")
    points = _ring_points(line, np.repeat(density, _ORDER), np.repeat(polar, _ORDER), moving, twist)
    stiffness = np.zeros((count, count))
    for f in fields:
        stiffness[slices[f.motion], slices[f.motion]] = f.stiffness
    places = []
    for label, x in marks.items():
        at = mesh.line_at(x)
        translation = np.stack([spread(m, "at_lines", at) for m in ("axial", "y", "z")])
        turns = [
            spread("torsion", "at_lines", at),
            -spread("z", "slope_at_lines", at),
            spread("y", "slope_at_lines", at),
        ]
        places.append(StructurePlace(label, np.array([x, 0.0, 0.0]), translation, np.stack(turns), x))
    return Structure(
        name=name,
        coordinates=tuple(n for f in fields for n in f.names),
        points=points,
        stiffness=stiffness,
        places=tuple(places),
        bending=Bending(
            line,
            np.stack([spread(m, "slope") for m in "yz"]),
            np.array([1.0, 0.0, 0.0]),
            float(mesh.edges[supports.lines[0]]) if supports.lines else 0.0,
        ),
    )


def _ring_points(
    line: GaussLine, density: np.ndarray, polar: np.ndarray, moving: np.ndarray, twist: np.ndarray
) -> MassPoints:
    radius = np.sqrt(polar / density)
    ring = section_ring(float(np.max(radius)) and 1.0)  # unit ring, or the axis alone
    shapes, positions = [], []
    for y, z in ring:
        offset = np.stack([np.zeros_like(twist), -z * radius[:, None] * twist, y * radius[:, None] * twist], axis=1)
        shapes.append(moving + offset)
        positions.append(np.column_stack([line.points, y * radius, z * radius]))
    return MassPoints(
        mass=np.tile(line.weights * density / len(ring), len(ring)),
        position=np.vstack(positions),
        shapes=np.concatenate(shapes).reshape(3 * len(line.points) * len(ring), -1),
        station=np.tile(line.points, len(ring)),
    )
