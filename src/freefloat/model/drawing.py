"""A spacecraft as plain data that can be drawn: bodies with shapes, frames, flexible lines. It travels with every run.

A body without shapes of its own gets some: tubes from its joint to what it carries, and the box that has its mass
and inertia where nothing hangs on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.model.modal import ModalBody
from freefloat.model.parts import RigidBody
from freefloat.model.shapes import Box, Mesh, Shape, triple
from freefloat.model.spacecraft import Spacecraft

_DENSITY = 1300.0  # of the equivalent box, at least [kg/m3]; keeps bodies of tiny inertia visible
_SLENDER = 0.06  # radius of a default tube per metre of its reach


def drawing(craft: Spacecraft) -> dict[str, Any]:
    """Names, shapes and frames of a spacecraft, as data that JSON can hold."""
    return {
        "name": craft.name,
        "mass": float(sum(float(body.mass) for body in craft.bodies)),  # [kg]
        "bodies": [_body(craft, index) for index in range(len(craft.bodies))],
        "frames": [
            {"name": frame.name, "body": frame.body}
            for frame in craft.frames
        ],
    }


def _body(craft: Spacecraft, index: int) -> dict[str, Any]:
    body = craft.bodies[index]
    parent = craft.parents[index]
    data: dict[str, Any] = {"name": body.name, "parent": craft.body_names[parent] if parent >= 0 else None}
    if isinstance(body, ModalBody):
        return data | {"shapes": [], "flexible": _flexible(craft, body)}
    shapes = body.shapes or default_shapes(craft, index)
    return data | {"shapes": [_shape(shape) for shape in shapes]}


def _shape(shape: Shape) -> dict[str, Any]:
    solid = shape.solid
    if isinstance(solid, Mesh):
        size: dict[str, Any] = {
            "vertices": np.round(np.asarray(solid.vertices, dtype=float), 5).tolist(),
            "faces": np.asarray(solid.faces, dtype=int).tolist(),
        }
    else:
        size = {name: getattr(solid, name) for name in solid.__dataclass_fields__}
    return {
        "kind": type(solid).__name__.lower(),
        **size,
        "position": list(shape.position),
        "rotation": [list(row) for row in shape.rotation],
        "colour": shape.colour,
    }


# ---- default shapes


def default_shapes(craft: Spacecraft, index: int) -> tuple[Shape, ...]:
    """What a body without shapes looks like: links to what it carries, or the box that has its inertia."""
    body = craft.bodies[index]
    assert isinstance(body, RigidBody)
    ends = [np.asarray(j.X_PJ.p, dtype=float) for j in craft.joints if j.parent == body.name]
    ends += [np.asarray(f.X_BF.p, dtype=float) for f in craft.frames if f.body == body.name]
    ends = [end for end in ends if np.linalg.norm(end) > 1e-6]
    if index == 0 or not ends:
        return (equivalent_box(body, "bus" if index == 0 else "arm"),)
    reach = max(float(np.linalg.norm(end)) for end in ends)
    radius = _SLENDER * reach
    tubes = [Shape.tube(np.zeros(3), end, radius) for end in ends]
    return (Shape.ball((0.0, 0.0, 0.0), 1.6 * radius), *tubes)


def equivalent_box(body: RigidBody, colour: str) -> Shape:
    """The homogeneous box with this mass and these principal moments."""
    moments, axes = np.linalg.eigh(np.asarray(body.inertia, dtype=float))
    if np.linalg.det(axes) < 0.0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    squares = 6.0 / float(body.mass) * (np.sum(moments) - 2.0 * moments)
    least = (float(body.mass) / _DENSITY) ** (1.0 / 3.0) / 4.0
    sides = np.sqrt(np.maximum(squares, least**2))
    return Shape(Box(triple(sides)), triple(body.com), tuple(triple(row) for row in axes), colour)  # pyright: ignore[reportArgumentType]


# ---- flexible bodies


def _flexible(craft: Spacecraft, body: ModalBody) -> dict[str, Any]:
    """A line through the body at rest, how each mode moves its points, and where its modal coordinates stand in q."""
    if body.rail is not None:
        points, modes = np.asarray(body.rail.position), np.asarray(body.rail.translation)
    else:
        nodes = sorted(body.nodes, key=lambda node: float(np.linalg.norm(np.asarray(node.position))))
        points = np.array([np.zeros(3), *(np.asarray(n.position) for n in nodes)])
        modes = np.array([np.zeros((3, body.modes)), *(np.asarray(n.translation) for n in nodes)])
    where = craft.layout.positions[f"{body.name}.modes"]
    return {"points": points.tolist(), "modes": modes.tolist(), "q": [where.start, where.stop]}
