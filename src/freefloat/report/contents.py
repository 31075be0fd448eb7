"""The numbers of a page: scenes and curves of its runs, decimated so that every peak stays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.decimation import decimated_indices
from freefloat.report.figures import curve, opening_figures, plottable
from freefloat.report.payload import ArrayStore
from freefloat.report.scatters import scatter_contents
from freefloat.report.scene import Flexible, Scene, ScenePart, scene_of
from freefloat.report.solids import Triangles, triangles
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    from freefloat.report.sections import Sheet
    from freefloat.sim import Run

BUDGET = 2_600_000  # bytes of curves before compression, over all runs: keeps a page below 6 MB
_MOST_POINTS = 2400  # of one curve; more than a screen has columns
_MOST_MARKS = 60  # events marked on a plot
_LEAST_POINTS = 120


def contents(sheets: Sequence[Sheet], budget: int = BUDGET) -> str:
    """All data that the scripts of a page need, packed as text; `budget`: bytes of curves before compression."""
    store = ArrayStore()
    figures = [figure for sheet in sheets for figure in opening_figures(sheet.run)]
    channels = sum(_width(sheet.run) for sheet in sheets)
    points = int(np.clip(budget / max(channels, 1) / 4, _LEAST_POINTS, _MOST_POINTS))
    runs = [_run_contents(sheet, store, points, {f.channel: f for f in figures}) for sheet in sheets]
    names = list(dict.fromkeys(figure.channel for figure in figures))
    return store.packed_text({"runs": runs, "figures": names, "scatters": scatter_contents(sheets, store)})


def _width(run: Run) -> int:
    """Number of float32 values in one sample of every curve; time counts twice because it is float64."""
    return sum(2 + int(np.prod(run.recorded[name].shape[1:], dtype=int)) for name in plottable(run))


def _run_contents(sheet: Sheet, store: ArrayStore, points: int, figures: dict[str, Figure]) -> dict[str, Any]:
    scene = scene_of(sheet.run)
    own = {figure.channel: figure for figure in opening_figures(sheet.run)}
    wanted = (own.get(name) or figures.get(name) or Figure(name) for name in plottable(sheet.run))
    return {
        "name": sheet.name,
        "events": _marks(sheet.run),
        "scene": _scene(scene, store) if scene else None,
        "channels": [_channel(sheet.run, figure, store, points) for figure in wanted],
    }


def _marks(run: Run) -> list[dict[str, Any]]:
    """Events to be marked on plots; bounces are left out if there are too many events to be distinguished."""
    events = run.events if len(run.events) <= _MOST_MARKS else [e for e in run.events if e.get("kind") != "bounced"]
    marked = events[:_MOST_MARKS]
    return [{"time": float(e.get("time", 0.0)), "label": str(e.get("label", ""))} for e in marked]


def _channel(run: Run, figure: Figure, store: ArrayStore, points: int) -> dict[str, Any]:
    drawn = curve(run, figure)
    rows = decimated_indices(drawn.values, points)
    return {
        "name": drawn.name,
        "label": drawn.label,
        "unit": drawn.unit,
        "frame": drawn.frame,
        "components": list(drawn.components),
        "faults": drawn.faults,
        "leftOut": drawn.left_out,
        "time": store.add_array(drawn.time[rows], "f8"),
        **store.add_offset_array(drawn.values[rows]),
    }


def mark_meshes(store: ArrayStore) -> dict[str, Any]:
    """Meshes of unit size for marks: a ball for goals, a cone for camera views."""
    marks = {
        "ball": {"kind": "ellipsoid", "radii": [1.0, 1.0, 1.0]},
        "cone": {"kind": "cone", "radius": 0.4, "length": 1.0},
    }
    place = {"position": [0.0] * 3, "rotation": np.eye(3).tolist()}
    return {name: _mesh_contents(triangles({**place, **shape}), store) for name, shape in marks.items()}


def _mesh_contents(mesh: Triangles, store: ArrayStore) -> dict[str, Any]:
    vertices, normals, faces = mesh
    return {
        "vertices": store.add_array(vertices),
        "normals": store.add_array(normals),
        "faces": store.add_array(faces, "u4"),
    }


def part_contents(parts: Iterable[ScenePart], store: ArrayStore) -> list[dict[str, Any]]:
    """Triangles of the rigid shapes, each with its body."""
    return [{"body": part.body, "colour": part.colour, **_mesh_contents(part.triangles, store)} for part in parts]


def flexible_contents(flexible: Iterable[Flexible], store: ArrayStore) -> list[dict[str, Any]]:
    """Points of flexible bodies and their displacements, with triangles unless the body is a line."""
    return [
        {
            "body": body.body,
            "points": store.add_array(body.points),
            "displacement": store.add_array(body.displacement),
            **({} if body.faces is None else {"faces": store.add_array(body.faces, "u4"), "colour": body.colour}),
        }
        for body in flexible
    ]


def _scene(scene: Scene, store: ArrayStore) -> dict[str, Any]:
    origin = scene.position[0, 0]
    return {
        "name": scene.name,
        "bodies": list(scene.bodies),
        "origin": origin.tolist(),
        "time": store.add_array(scene.time, "f8"),
        "position": store.add_array(scene.position - origin),
        "attitude": store.add_array(scene.attitude),
        "centre": (scene.centre - origin).tolist(),
        "radius": scene.radius,
        "parts": part_contents(scene.parts, store),
        "tracks": [
            {"name": t.name, "position": store.add_array(t.position - origin), "attitude": store.add_array(t.attitude)}
            for t in scene.tracks
        ],
        "goals": [{"name": g.name, "position": store.add_array(g.position - origin)} for g in scene.goals],
        **mark_meshes(store),
        "arrows": [
            {
                "name": a.name,
                "label": a.label,
                "unit": a.unit,
                "largest": float(np.max(np.linalg.norm(a.value, axis=1))),
                "start": store.add_array(a.start - origin),
                "value": store.add_array(a.value),
            }
            for a in scene.arrows
        ],
        "flexible": flexible_contents(scene.flexible, store),
    }
