"""The scene of a run: drawn objects and their poses at every instant. Page and studio draw the same scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.cell_placement import corners, shift_beside
from freefloat.report.figures import times
from freefloat.report.solids import Triangles, merge_triangles, triangles
from freefloat.spatial.rotations import rotation_matrix

if TYPE_CHECKING:
    from freefloat.sim import Run

_SEEN = 1e-4  # a goal that is never further away than this is not drawn [m]
_SILENT = 1e-9  # vectors that never exceed this, in SI, are rounding and are not drawn


@dataclass(frozen=True)
class ScenePart:
    """Triangles of one colour that move with a body."""

    body: int
    colour: str  # a role (`bus`, `arm`, ...) or #rrggbb
    triangles: Triangles


@dataclass(frozen=True)
class Track:
    """Motion of a frame, such as a hand, a camera or a target."""

    name: str
    position: np.ndarray  # (frames, 3) in N [m]
    attitude: np.ndarray  # (frames, 4) scalar first


@dataclass(frozen=True)
class Arrow:
    """A vector over time that starts at a moving point."""

    name: str
    label: str
    unit: str
    start: np.ndarray  # (frames, 3) in N [m]
    value: np.ndarray  # (frames, 3) in N axes


@dataclass(frozen=True)
class Flexible:
    """A flexible body as points that its modes displace: a line, or triangles between the points."""

    body: int
    points: np.ndarray  # (points, 3) at rest, body frame [m]
    displacement: np.ndarray  # (frames, points, 3), true size [m]
    faces: np.ndarray | None = None  # (triangles, 3); None: a line
    colour: str = "flexible"


@dataclass(frozen=True)
class Scene:
    """All data for a viewer; all histories share `time`."""

    name: str
    mass: float  # [kg]
    time: np.ndarray  # (frames,) [s]
    bodies: tuple[str, ...]
    position: np.ndarray  # (frames, bodies, 3) in N [m]
    attitude: np.ndarray  # (frames, bodies, 4) scalar first
    parts: tuple[ScenePart, ...]
    tracks: tuple[Track, ...]
    goals: tuple[Track, ...]  # where a track should be: its position plus its recorded error
    arrows: tuple[Arrow, ...]
    flexible: tuple[Flexible, ...]
    centre: np.ndarray  # point to look at first, in N [m]
    radius: float  # of the region to show first [m]


def scene_of(run: Run, frames: int = 600) -> Scene | None:
    """The scene of a run at no more than `frames` instants; None if the run has no drawing."""
    if not run.scene or "bodies.position" not in run.recorded or "bodies.attitude" not in run.recorded:
        return None
    drawn = run.scene["bodies"]
    samples = run.recorded["bodies.position"].shape[0]
    if not samples or run.recorded["bodies.position"].shape[1] != len(drawn):
        return None
    rows = np.unique(np.linspace(0, samples - 1, min(frames, samples)).round().astype(int))
    position = _sound(run.recorded["bodies.position"].values[rows], np.zeros(3))
    attitude = _unit(_sound(run.recorded["bodies.attitude"].values[rows], np.array([1.0, 0.0, 0.0, 0.0])))
    drawn, position, attitude = _with_cell(run, rows, drawn, position, attitude)
    parts = tuple(part for index, body in enumerate(drawn) for part in body_parts(index, body))
    flexible = tuple(
        _flexible(run, index, line, rows) for index, body in enumerate(drawn) for line in body.get("flexible", ())
    )
    tracks = _tracks(run, rows)
    centre, radius = focus_of(parts, flexible, position[0], attitude[0])
    return Scene(
        name=str(run.scene.get("name", "")),
        mass=float(run.scene.get("mass", np.nan)),
        time=times(run, samples)[rows],
        bodies=tuple(str(body["name"]) for body in drawn),
        position=position,
        attitude=attitude,
        parts=parts,
        tracks=tracks,
        goals=_goals(run, tracks, rows),
        arrows=_arrows(run, rows),
        flexible=flexible,
        centre=centre,
        radius=radius,
    )


# ---- histories


def _with_cell(
    run: Run, rows: np.ndarray, drawn: list[dict[str, Any]], position: np.ndarray, attitude: np.ndarray
) -> tuple[list[dict[str, Any]], np.ndarray, np.ndarray]:
    """Bodies, positions and attitudes, with the robots of a rehearsal beside the spacecraft if the run has them."""
    cell = ((run.scene or {}).get("cell") or {}).get("bodies", [])
    if not cell or not {"cell.bodies.position", "cell.bodies.attitude"} <= set(run.recorded):
        return drawn, position, attitude
    p_F, quat_F = (run.recorded[f"cell.bodies.{what}"].values[rows] for what in ("position", "attitude"))
    shift = shift_beside(corners(drawn, position[0], attitude[0]), corners(cell, p_F[0], quat_F[0]))
    named = [{**body, "name": f"cell.{body['name']}"} for body in cell]
    return [*drawn, *named], np.concatenate([position, p_F + shift], axis=1), np.concatenate([attitude, quat_F], axis=1)


def _sound(values: np.ndarray, start: np.ndarray) -> np.ndarray:
    """A history without gaps: values that are not finite are replaced by the last finite one."""
    values = np.array(values, dtype=float)
    bad = ~np.isfinite(values).all(axis=-1)
    if bad.any():
        flat, holes = values.reshape(len(values), -1, values.shape[-1]), bad.reshape(len(values), -1)
        for column in range(flat.shape[1]):
            last = start
            for row in range(len(flat)):
                if holes[row, column]:
                    flat[row, column] = last
                last = flat[row, column]
        values = flat.reshape(values.shape)
    return values


def _unit(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions of unit length, without jumps of sign from one instant to the next."""
    lengths = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    q = np.where(lengths > 1e-12, quaternions / np.where(lengths > 1e-12, lengths, 1.0), [1.0, 0.0, 0.0, 0.0])
    jumps = np.sum(q[1:] * q[:-1], axis=-1, keepdims=True) < 0.0
    signs = np.cumprod(np.where(jumps, -1.0, 1.0), axis=0)
    q[1:] = q[1:] * signs
    return q


def _vector(run: Run, name: str, rows: np.ndarray) -> np.ndarray | None:
    if name not in run.recorded or run.recorded[name].ndim != 2 or run.recorded[name].shape[1] != 3:
        return None
    if run.recorded[name].shape[0] <= rows[-1]:
        return None
    return _sound(run.recorded[name].values[rows], np.zeros(3))


def _tracks(run: Run, rows: np.ndarray) -> tuple[Track, ...]:
    """Tracks of every named frame with a recorded pose; the poses of bodies are drawn as bodies.

    Frames in the axes F of a cell are drawn in the cell, not in orbit.
    """
    tracks, in_cell = [], (run.scene or {}).get("axes") == "F"
    for channel in run.channels:
        name, _, kind = channel.rpartition(".")
        if kind != "attitude" or name.rpartition(".")[2] in ("base", "bodies"):
            continue
        if (run.recorded[channel].attrs.get("frame") == "F") is not in_cell:
            continue
        position, attitude = _vector(run, f"{name}.position", rows), run.recorded[channel]
        if position is not None and attitude.ndim == 2 and attitude.shape[1] == 4:
            unit_quaternions = _unit(_sound(attitude.values[rows], np.array([1.0, 0.0, 0.0, 0.0])))
            tracks.append(Track(name, position, unit_quaternions))
    return tuple(tracks)


def _goals(run: Run, tracks: tuple[Track, ...], rows: np.ndarray) -> tuple[Track, ...]:
    """Goals of the tracks: position plus recorded error, if the error is large enough to be seen."""
    found = []
    for track in tracks:
        error = _vector(run, f"{track.name}.position_error", rows)
        if error is not None and np.max(np.abs(error)) > _SEEN:
            found.append(Track(f"{track.name}: goal", track.position + error, track.attitude))
    return tuple(found)


def _arrows(run: Run, rows: np.ndarray) -> tuple[Arrow, ...]:
    """Arrows of momentum at the centre of mass and of forces (`hand.force` at `hand.position`) that are not zero."""
    prefixes = [name.removesuffix("com.position") for name in run.channels if f".{name}".endswith(".com.position")]
    pairs = [
        (f"{prefix}{name}", _vector(run, f"{prefix}com.position", rows))
        for prefix in prefixes
        for name in ("momentum.linear", "momentum.angular_com")
    ]
    pairs += [
        (name, _vector(run, name.rpartition(".")[0] + ".position", rows))
        for name in run.channels
        if name.endswith(".force") and run.recorded[name].attrs.get("frame") == "N"
    ]
    arrows = []
    for name, start in pairs:
        value = _vector(run, name, rows)
        if start is None or value is None or np.max(np.linalg.norm(value, axis=1)) < _SILENT:
            continue
        attributes = run.recorded[name].attrs
        arrows.append(
            Arrow(name, str(attributes.get("long_name", name)), str(attributes.get("units", "")), start, value)
        )
    return tuple(arrows)


def _flexible(run: Run, index: int, line: dict[str, Any], rows: np.ndarray) -> Flexible:
    points, modes = np.asarray(line["points"], dtype=float), np.asarray(line["modes"], dtype=float)
    (start, stop), state = line["q"], str(line.get("state", "state.q"))
    if state in run.recorded and run.recorded[state].shape[1] >= stop:
        coordinates = _sound(run.recorded[state].values[rows, start:stop], np.zeros(stop - start))
    else:
        coordinates = np.zeros((len(rows), stop - start))
    return Flexible(index, points, np.einsum("pcm,tm->tpc", modes, coordinates), *skin_of(line))


def skin_of(line: dict[str, Any]) -> tuple[np.ndarray | None, str]:
    """Triangles and colour of a flexible body; a line has no triangles."""
    faces = line.get("faces")
    return (None, "flexible") if faces is None else (np.asarray(faces, dtype=int), str(line.get("colour", "panel")))


# ---- what does not move


def body_parts(index: int, body: dict[str, Any]) -> list[ScenePart]:
    """Triangles of a drawn body, one part for each colour."""
    by_colour: dict[str, list[Triangles]] = {}
    for shape in body["shapes"]:
        by_colour.setdefault(str(shape["colour"]), []).append(triangles(shape))
    return [ScenePart(index, colour, merge_triangles(pieces)) for colour, pieces in by_colour.items()]


def focus_of(
    parts: tuple[ScenePart, ...], flexible: tuple[Flexible, ...], position: np.ndarray, attitude: np.ndarray
) -> tuple[np.ndarray, float]:
    """Centre and radius [m] of the region to show first; solar panels may reach out of it."""
    shown = [part for part in parts if part.colour != "panel"] or list(parts)
    corners = [(part.body, part.triangles[0]) for part in shown] + [(f.body, f.points) for f in flexible]
    if not corners:
        return position[0], 1.0
    placed = np.concatenate([position[body] + points @ _rotation(attitude[body]).T for body, points in corners])
    low, high = placed.min(axis=0), placed.max(axis=0)
    return (low + high) / 2.0, max(float(np.linalg.norm(high - low)) / 2.0, 1e-3)


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    return np.asarray(rotation_matrix(quaternion))
