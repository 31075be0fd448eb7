"""A spacecraft as plain data for drawing: bodies with shapes, frames, flexible lines. It is part of every run.

A body without shapes gets default ones: tubes from its joint to the joints and frames on it, or, where there are none,
the box that has its mass and inertia.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freefloat.model.modal import ModalBody
from freefloat.model.parts import RigidBody
from freefloat.model.shapes import Box, Mesh, Shape, triple
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.world import World

_DENSITY = 1300.0  # of the equivalent box, at least [kg/m3]; keeps bodies of tiny inertia visible
_SEGMENTS = 12  # of a bending line
_SLENDER = 0.06  # radius of a default tube per metre of its reach


def drawing(what: Spacecraft | World) -> dict[str, Any]:
    """Names, shapes and frames of a spacecraft, or of all spacecraft in a world, as JSON data."""
    world = World.of(what)
    prefixed = [(world.prefix(c), craft) for c, craft in enumerate(world.crafts)]
    return {
        "name": ", ".join(world.names),
        "mass": float(world.mass),  # [kg]
        "bodies": [
            _body_data(craft, prefix, index) for prefix, craft in prefixed for index in range(len(craft.bodies))
        ],
        "frames": [
            {"name": prefix + frame.name, "body": prefix + frame.body}
            for prefix, craft in prefixed
            for frame in craft.frames
        ],
    }


def _body_data(craft: Spacecraft, prefix: str, index: int) -> dict[str, Any]:
    body = craft.bodies[index]
    parent = craft.parents[index]
    carrier = prefix + craft.body_names[parent] if parent >= 0 else None
    data: dict[str, Any] = {"name": prefix + body.name, "parent": carrier}
    if isinstance(body, ModalBody):
        lines = [{**line, "state": f"{prefix}state.q"} for line in _flexible_lines(craft, body)]
        return data | {"shapes": [], "flexible": lines}
    if body.shapes:
        return data | {"shapes": [drawn_shape(shape) for shape in body.shapes]}
    return data | {"shapes": [drawn_shape(shape) for shape in default_shapes(craft, index)], "guessed": True}


def drawn_shape(shape: Shape) -> dict[str, Any]:
    """A shape as JSON data."""
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
    """Default shapes of a body: tubes to the joints and frames on it, or the box that has its inertia."""
    body = craft.bodies[index]
    assert isinstance(body, RigidBody)
    ends = [np.asarray(j.X_PJ.p, dtype=float) for j in craft.joints if j.parent == body.name]
    ends += [np.asarray(f.X_BF.p, dtype=float) for f in craft.frames if f.body == body.name]
    ends = [end for end in ends if np.linalg.norm(end) > 1e-6]
    if body.massless and not ends:
        return ()
    if index == 0 or not ends:
        box = equivalent_box(body, "bus" if index == 0 else "arm")
        return (_shrink_to_reach(box, _flexible_reach(craft, body.name)),)
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


def _flexible_reach(craft: Spacecraft, body: str) -> float:
    """Distance that the shortest flexible body on this body reaches from this body's frame [m]."""
    reaches = []
    for joint, child in zip(craft.joints, craft.bodies[1:], strict=True):
        if joint.parent == body and isinstance(child, ModalBody):
            ends = [np.asarray(line["points"][-1]) for line in _flexible_lines(craft, child)]
            mount = [np.asarray(joint.X_PJ.p) + np.asarray(joint.X_PJ.R) @ end for end in ends]
            reaches += [max((float(np.linalg.norm(p)) for p in mount), default=np.inf)]
    return min(reaches, default=np.inf)


def _shrink_to_reach(box: Shape, reach: float) -> Shape:
    """The box, scaled down where it would hide the flexible bodies on it."""
    assert isinstance(box.solid, Box)
    largest = 0.5 * max(box.solid.size)
    factor = min(1.0, 0.3 * reach / largest)
    return replace(box, solid=Box(triple(factor * np.array(box.solid.size))))


# ---- flexible bodies


def _flexible_lines(craft: Spacecraft, body: ModalBody) -> list[dict[str, Any]]:
    """Skin of a flexible body, or lines through it at rest, with the mode shapes at their points and the slice of q."""
    where = craft.layout.positions.get(f"{body.name}.modes", slice(0, 0))  # none of a rigid model
    if body.skin is not None:
        points, modes = (np.round(np.asarray(x, dtype=float), 9) for x in (body.skin.points, body.skin.motion))
        faces = np.asarray(body.skin.faces, dtype=int).tolist()
        look = {"faces": faces, "colour": body.skin.colour, "q": [where.start, where.stop]}
        return [{"points": points.tolist(), "modes": modes.tolist(), **look}]
    if body.rail is not None:
        lines = [(np.asarray(body.rail.position, dtype=float), np.asarray(body.rail.translation, dtype=float))]
    else:
        lines = [_bending_line(start, end) for start, end in _branches(body)]
    return [{"points": p.tolist(), "modes": m.tolist(), "q": [where.start, where.stop]} for p, m in lines]


@dataclass(frozen=True)
class _Point:
    """A point of a flexible body with how each mode moves and turns it."""

    position: np.ndarray  # (3,)
    translation: np.ndarray  # (3, modes)
    rotation: np.ndarray  # (3, modes)


def _branches(body: ModalBody) -> list[tuple[_Point, _Point]]:
    """Pairs that join every node to the nearest point closer to the origin, where the body is held."""
    held = np.zeros((3, body.modes))
    points = [_Point(np.zeros(3), held, held)]
    branches = []
    for node in sorted(body.nodes, key=lambda n: float(np.linalg.norm(np.asarray(n.position)))):
        point = _Point(*(np.asarray(x, dtype=float) for x in (node.position, node.translation, node.rotation)))
        nearest = min(points, key=lambda p: float(np.linalg.norm(p.position - point.position)))
        if np.linalg.norm(point.position - nearest.position) > 1e-9:
            branches.append((nearest, point))
        points.append(point)
    return branches


def _bending_line(start: _Point, end: _Point) -> tuple[np.ndarray, np.ndarray]:
    """A line between two points that bends like a beam: cubic, with the ends' displacements and slopes."""
    s = np.linspace(0.0, 1.0, _SEGMENTS + 1)[:, None, None]
    along = end.position - start.position
    # A small rotation theta turns a line element: its displacement changes by theta x along.
    slopes = [np.cross(point.rotation.T, along).T for point in (start, end)]
    modes = (
        (1 - 3 * s**2 + 2 * s**3) * start.translation
        + (3 * s**2 - 2 * s**3) * end.translation
        + (s - 2 * s**2 + s**3) * slopes[0]
        + (s**3 - s**2) * slopes[1]
    )
    return start.position + s[:, 0] * along, modes
