"""Mode shapes of a whole spacecraft as a picture: where every body is at rest, and how each mode moves and turns it."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.dynamics import body_poses, body_twists
from freefloat.model import Spacecraft
from freefloat.model.drawing import drawing
from freefloat.report.contents import skin_contents, unit_mesh
from freefloat.report.payload import Bytes
from freefloat.report.scene import Flexible, body_parts, focus_of, skin_of
from freefloat.spatial import angular, linear


def mode_scene(craft: Spacecraft, q: np.ndarray, shapes: np.ndarray, store: Bytes) -> dict[str, Any]:
    """The spacecraft at rest in base axes, and its motion in each mode (columns of `shapes`, over v).

    Shapes are scaled so that the point that moves most moves by one metre.
    """
    drawn = drawing(craft)["bodies"]
    poses = body_poses(craft, q)
    position = np.array([np.asarray(pose.p) for pose in poses])
    attitude = np.array([np.asarray(pose.quaternion) for pose in poses])
    rotation = np.array([np.asarray(pose.R) for pose in poses])
    parts = tuple(part for index, body in enumerate(drawn) for part in body_parts(index, body))
    lines = [_line(craft, index, line) for index, body in enumerate(drawn) for line in body.get("flexible", ())]
    looks = [skin_of(line) for body in drawn for line in body.get("flexible", ())]
    resting = tuple(
        Flexible(index, points, np.zeros((1, *points.shape)), *look)
        for (index, points, _, _), look in zip(lines, looks, strict=True)
    )
    centre, radius = focus_of(parts, resting, position, attitude)
    corners = [_corners(index, parts) for index in range(len(drawn))]
    modes = []
    for shape in shapes.T:
        twists = body_twists(craft, q, shape)
        shift = np.array([R @ np.asarray(linear(V)) for R, V in zip(rotation, twists, strict=True)])
        turn = np.array([R @ np.asarray(angular(V)) for R, V in zip(rotation, twists, strict=True)])
        bends = [motion @ shape[at] for _, _, motion, at in lines]
        moved = [shift[k] + np.cross(turn[k], corners[k] @ rotation[k].T) for k in range(len(drawn))]
        moved += [
            shift[k] + np.cross(turn[k], points @ rotation[k].T) + bend @ rotation[k].T
            for (k, points, _, _), bend in zip(lines, bends, strict=True)
        ]
        scale = 1.0 / max(float(np.max([np.max(np.linalg.norm(each, axis=1), initial=0.0) for each in moved])), 1e-300)
        modes.append(
            {
                "shift": store.put(scale * shift),
                "turn": store.put(scale * turn),
                "bends": [store.put(scale * bend) for bend in bends],
            }
        )
    return {
        "name": craft.name,
        "bodies": [str(body["name"]) for body in drawn],
        "origin": [0.0, 0.0, 0.0],
        "time": store.put(np.zeros(1), "f8"),
        "position": store.put(position),
        "attitude": store.put(attitude),
        "centre": centre.tolist(),
        "radius": radius,
        "parts": [
            {
                "body": part.body,
                "colour": part.colour,
                "vertices": store.put(part.triangles[0]),
                "normals": store.put(part.triangles[1]),
                "faces": store.put(part.triangles[2], "u4"),
            }
            for part in parts
        ],
        "flexible": [
            {
                "body": line.body,
                "points": store.put(line.points),
                "displacement": store.put(line.displacement),
                **skin_contents(line, store),
            }
            for line in resting
        ],
        "tracks": [],
        "goals": [],
        "arrows": [],
        "ball": unit_mesh({"kind": "ellipsoid", "radii": [1.0, 1.0, 1.0]}, store),
        "cone": unit_mesh({"kind": "cone", "radius": 0.4, "length": 1.0}, store),
        "modes": modes,
    }


def _line(craft: Spacecraft, index: int, line: dict[str, Any]) -> tuple[int, np.ndarray, np.ndarray, slice]:
    """Body, points at rest, how its modes move them, and where its modes stand in v."""
    at = craft.layout.velocities[f"{craft.body_names[index]}.modes"]
    return index, np.asarray(line["points"], dtype=float), np.asarray(line["modes"], dtype=float), at


def _corners(index: int, parts: tuple[Any, ...]) -> np.ndarray:
    """The corners of the box around a body's shapes, in its frame; its origin where it has none."""
    own = [part.triangles[0] for part in parts if part.body == index and len(part.triangles[0])]
    if not own:
        return np.zeros((1, 3))
    points = np.concatenate(own)
    ends = np.array([points.min(axis=0), points.max(axis=0)])
    return np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
