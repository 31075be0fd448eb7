"""Scene of the mode shapes of a spacecraft: pose of every body at rest, and its motion in each mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.dynamics import body_poses, body_twists
from freefloat.model import Spacecraft
from freefloat.model.drawing import drawing
from freefloat.report.contents import flexible_contents, mark_meshes, part_contents
from freefloat.report.payload import ArrayStore
from freefloat.report.scene import Flexible, body_parts, focus_of, skin_of
from freefloat.spatial import angular, linear

FlexibleLine = tuple[int, np.ndarray, np.ndarray, slice]  # body, points at rest, mode shapes, slice in v


def mode_scene(craft: Spacecraft, q: np.ndarray, shapes: np.ndarray, store: ArrayStore) -> dict[str, Any]:
    """Scene of the spacecraft at rest in base axes, and its motion in each mode (columns of `shapes`, over v).

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
    moving = [
        _motion(craft, q, shape, rotation, [_corners(k, parts) for k in range(len(drawn))], lines) for shape in shapes.T
    ]
    return {
        "name": craft.name,
        "bodies": [str(body["name"]) for body in drawn],
        "origin": [0.0, 0.0, 0.0],
        "time": store.add_array(np.zeros(1), "f8"),
        "position": store.add_array(position),
        "attitude": store.add_array(attitude),
        "centre": centre.tolist(),
        "radius": radius,
        "parts": part_contents(parts, store),
        "flexible": flexible_contents(resting, store),
        "tracks": [],
        "goals": [],
        "arrows": [],
        **mark_meshes(store),
        "modes": [
            {
                "shift": store.add_array(shift),
                "turn": store.add_array(turn),
                "bends": [store.add_array(bend) for bend in bends],
            }
            for shift, turn, bends in moving
        ],
    }


def _motion(
    craft: Spacecraft,
    q: np.ndarray,
    shape: np.ndarray,
    rotation: np.ndarray,
    corners: list[np.ndarray],
    lines: list[FlexibleLine],
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Shift and turn of every body in base axes, and bending of every line, where the fastest point moves by 1 m."""
    twists = body_twists(craft, q, shape)
    shift = np.array([R @ np.asarray(linear(V)) for R, V in zip(rotation, twists, strict=True)])
    turn = np.array([R @ np.asarray(angular(V)) for R, V in zip(rotation, twists, strict=True)])
    bends = [modes @ shape[at] for _, _, modes, at in lines]
    moved = [shift[k] + np.cross(turn[k], points @ rotation[k].T) for k, points in enumerate(corners)]
    moved += [
        shift[k] + np.cross(turn[k], points @ rotation[k].T) + bend @ rotation[k].T
        for (k, points, _, _), bend in zip(lines, bends, strict=True)
    ]
    scale = 1.0 / max(float(np.max([np.max(np.linalg.norm(motion, axis=1), initial=0.0) for motion in moved])), 1e-300)
    return scale * shift, scale * turn, [scale * bend for bend in bends]


def _line(craft: Spacecraft, index: int, line: dict[str, Any]) -> FlexibleLine:
    """A line on a flexible body: body, points at rest, its mode shapes, and the slice of its modes in v."""
    at = craft.layout.velocities[f"{craft.body_names[index]}.modes"]
    return index, np.asarray(line["points"], dtype=float), np.asarray(line["modes"], dtype=float), at


def _corners(index: int, parts: tuple[Any, ...]) -> np.ndarray:
    """Corners of the box around a body's shapes in its frame; the origin if it has no shapes."""
    own = [part.triangles[0] for part in parts if part.body == index and len(part.triangles[0])]
    if not own:
        return np.zeros((1, 3))
    points = np.concatenate(own)
    ends = np.array([points.min(axis=0), points.max(axis=0)])
    return np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
