"""The numbers of a page: scenes and curves of its runs, small enough to travel and true in every peak."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.decimation import kept
from freefloat.report.figures import chosen, curve, plottable
from freefloat.report.payload import Bytes
from freefloat.report.scatters import scatter_contents
from freefloat.report.scene import Flexible, Part, Scene, scene_of
from freefloat.report.solids import triangles
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    from freefloat.report.sections import Sheet
    from freefloat.sim import Run

_BUDGET = 2_600_000  # bytes of curves before compression, over all runs: keeps a page below 6 MB
_MOST_POINTS = 2400  # of one curve; more than a screen has columns
_MOST_MARKS = 60  # events marked on a plot
_LEAST_POINTS = 120


def contents(sheets: Sequence[Sheet]) -> str:
    """Everything the scripts of a page need, packed."""
    store = Bytes()
    figures = [figure for sheet in sheets for figure in chosen(sheet.run)]
    channels = sum(_width(sheet.run) for sheet in sheets)
    points = int(np.clip(_BUDGET / max(channels, 1) / 4, _LEAST_POINTS, _MOST_POINTS))
    runs = [_run(sheet, store, points, {f.channel: f for f in figures}) for sheet in sheets]
    names = list(dict.fromkeys(figure.channel for figure in figures))
    return store.packed({"runs": runs, "figures": names, "scatters": scatter_contents(sheets, store)})


def _width(run: Run) -> int:
    """Numbers of one sample of every curve, time counted twice because it is float64."""
    return sum(2 + int(np.prod(run.recorded[name].shape[1:], dtype=int)) for name in plottable(run))


def _run(sheet: Sheet, store: Bytes, points: int, figures: dict[str, Figure]) -> dict[str, Any]:
    scene = scene_of(sheet.run)
    own = {figure.channel: figure for figure in chosen(sheet.run)}
    wanted = (own.get(name) or figures.get(name) or Figure(name) for name in plottable(sheet.run))
    return {
        "name": sheet.name,
        "events": _marks(sheet.run),
        "scene": _scene(scene, store) if scene else None,
        "channels": [_channel(sheet.run, figure, store, points) for figure in wanted],
    }


def _marks(run: Run) -> list[dict[str, Any]]:
    """Events to be marked on plots; where there are too many to be told apart, the bounces are left out."""
    events = run.events if len(run.events) <= _MOST_MARKS else [e for e in run.events if e.get("kind") != "bounced"]
    told = events[:_MOST_MARKS]
    return [{"time": float(e.get("time", 0.0)), "label": str(e.get("label", ""))} for e in told]


def _channel(run: Run, figure: Figure, store: Bytes, points: int) -> dict[str, Any]:
    made = curve(run, figure)
    rows = kept(made.values, points)
    return {
        "name": made.name,
        "label": made.label,
        "unit": made.unit,
        "frame": made.frame,
        "components": list(made.components),
        "faults": made.faults,
        "time": store.put(made.time[rows], "f8"),
        **store.offset(made.values[rows]),
    }


def unit_mesh(shape: dict[str, Any], store: Bytes) -> dict[str, Any]:
    """A mark of unit size, for goals and camera views."""
    vertices, normals, faces = triangles({"position": [0.0] * 3, "rotation": np.eye(3).tolist(), **shape})
    return {"vertices": store.put(vertices), "normals": store.put(normals), "faces": store.put(faces, "u4")}


def part_contents(parts: Iterable[Part], store: Bytes) -> list[dict[str, Any]]:
    """Rigid shapes as triangles, each on its body."""
    return [
        {
            "body": part.body,
            "colour": part.colour,
            "vertices": store.put(part.triangles[0]),
            "normals": store.put(part.triangles[1]),
            "faces": store.put(part.triangles[2], "u4"),
        }
        for part in parts
    ]


def skin_contents(flexible: Flexible, store: Bytes) -> dict[str, Any]:
    """Triangles of a bending body; nothing for a line."""
    if flexible.faces is None:
        return {}
    return {"faces": store.put(flexible.faces, "u4"), "colour": flexible.colour}


def _scene(scene: Scene, store: Bytes) -> dict[str, Any]:
    frames = len(scene.time)
    origin = scene.position[0, 0]
    return {
        "name": scene.name,
        "bodies": list(scene.bodies),
        "origin": origin.tolist(),
        "time": store.put(scene.time, "f8"),
        "position": store.put(scene.position - origin),
        "attitude": store.put(scene.attitude),
        "centre": (scene.centre - origin).tolist(),
        "radius": scene.radius,
        "parts": part_contents(scene.parts, store),
        "tracks": [
            {"name": t.name, "position": store.put(t.position - origin), "attitude": store.put(t.attitude)}
            for t in scene.tracks
        ],
        "goals": [{"name": g.name, "position": store.put(g.position - origin)} for g in scene.goals],
        "ball": unit_mesh({"kind": "ellipsoid", "radii": [1.0, 1.0, 1.0]}, store),
        "cone": unit_mesh({"kind": "cone", "radius": 0.4, "length": 1.0}, store),
        "arrows": [
            {
                "name": a.name,
                "label": a.label,
                "unit": a.unit,
                "largest": float(np.max(np.linalg.norm(a.value, axis=1))),
                "start": store.put(a.start - origin),
                "value": store.put(a.value),
            }
            for a in scene.arrows
        ],
        "flexible": [
            {
                "body": f.body,
                "points": store.put(f.points),
                "displacement": store.put(f.displacement.reshape(frames, -1)),
                **skin_contents(f, store),
            }
            for f in scene.flexible
        ],
    }
