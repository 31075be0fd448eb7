"""Simplified shapes for planning: balls contain the servicer's shapes, boxes and bars contain the client's.

Distances of balls are smooth where nothing overlaps, and the smallest of several is approximated smoothly from below:
both are never larger than the true distance.
"""

from __future__ import annotations

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.closest_points import closest_on_segment, length, point_to_box
from freefloat.dynamics.shape_distance import Core
from freefloat.model import ModalBody, Spacecraft
from freefloat.model.shapes import Box, Cylinder, Shape
from freefloat.sim.events.clearance_pairs import core_of
from freefloat.spatial import Pose
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Numeric, Scalar

_FINEST = 0.1  # [m]: half an edge that is not divided
SHARPNESS = 60.0  # [1/m] of the soft minimum: two equal distances count as 12 mm less


@record
class Balls:
    """Balls that contain the shapes of one body, in the body's frame."""

    body: str = static()
    centres: Numeric  # (balls, 3) [m]
    radii: Numeric  # (balls) [m]


@record
class Obstacle:
    """A box, or a bar along z with a radius, in the frame of its spacecraft's base."""

    name: str = static()  # for messages
    X_TS: Pose
    half: Numeric  # half its edges [m]
    radius: Numeric | float  # around it [m]

    def distance(self, p: Numeric) -> Scalar:
        """Distance from a point in the same frame [m]."""
        inside = self.X_TS.R.T @ (p - self.X_TS.p)
        if np.count_nonzero(np.asarray(self.half)) == 3:
            return point_to_box(inside, self.half).distance - self.radius
        return length(inside - closest_on_segment(inside, -self.half, self.half)) - self.radius


def with_boxed_drums(craft: Spacecraft) -> Spacecraft:
    """Copy of a spacecraft in which cylinders that are wider than long are replaced by the boxes around them.

    A bar that contains a flat cylinder would reach beyond its faces by the radius.
    """
    bodies = tuple(
        body
        if isinstance(body, ModalBody)
        else dataclasses.replace(body, shapes=tuple(map(_box_flat_drum, body.shapes)))
        for body in craft.bodies
    )
    return dataclasses.replace(craft, bodies=bodies)


def _box_flat_drum(shape: Shape) -> Shape:
    solid = shape.solid
    if not isinstance(solid, Cylinder) or solid.length >= 2.0 * solid.radius:
        return shape
    return dataclasses.replace(shape, solid=Box((2.0 * solid.radius, 2.0 * solid.radius, solid.length)))


def obstacles_of(craft: Spacecraft, name: str) -> tuple[Obstacle, ...]:
    """Obstacles that the shapes of a base make."""
    found = []
    for number, shape in enumerate(_shapes(craft, craft.body_names[0])):
        core, place = _core(_box_flat_drum(shape), name), Pose(np.array(shape.position), np.array(shape.rotation))
        found.append(Obstacle(f"{name} ({shape.colour} {number})", place, core.half, core.radius))
    return tuple(found)


def balls_of(craft: Spacecraft, body: str, pieces: int = 2) -> Balls:
    """Balls that contain the shapes of a body; boxes are divided into at most `pieces` along an edge."""
    centres, radii = [np.zeros((0, 3))], []
    for shape in _shapes(craft, body):
        core = _core(shape, body)
        points, radius = _covering_balls(core, pieces)
        centres.append(np.array(shape.position) + points @ np.array(shape.rotation).T)
        radii += [radius] * len(points)
    return Balls(body, np.concatenate(centres), np.array(radii))


def _covering_balls(core: Core, pieces: int) -> tuple[np.ndarray, float]:
    """Centres of equal balls that contain a box or a bar, and their radius."""
    half = np.asarray(core.half, dtype=float)
    size = max(float(half.max()) / pieces, _FINEST)
    counts = np.maximum(np.ceil(half / size - 1e-9), 1).astype(int)
    cell = half / counts
    grids = [h * (2.0 * np.arange(n) + 1.0 - n) for h, n in zip(cell, counts, strict=True)]
    return np.array(list(itertools.product(*grids))), float(np.linalg.norm(cell)) + core.radius


def _shapes(craft: Spacecraft, body: str) -> tuple[Shape, ...]:
    found = craft.body(body)
    return () if isinstance(found, ModalBody) else found.shapes


def _core(shape: Shape, owner: str) -> Core:
    core = core_of(shape.solid)
    if core is None:
        raise ModelError(
            f"'{owner}' has a {type(shape.solid).__name__}, whose distance is not planned with. Give it boxes, balls, "
            "bars and drums: craft.with_shapes(...)."
        )
    return core


def soft_minimum(distances: Numeric) -> Scalar:
    """Smooth lower bound of the smallest distance [m]."""
    return -jax.nn.logsumexp(-SHARPNESS * distances) / SHARPNESS


def body_distance(balls: Balls, X_TL: Pose, obstacles: tuple[Obstacle, ...]) -> Scalar:
    """Smooth lower bound of the distance of a body at X_TL from obstacles [m]."""
    found = [
        obstacle.distance(X_TL.apply(jnp.asarray(centre))) - radius
        for centre, radius in zip(balls.centres, balls.radii, strict=True)
        for obstacle in obstacles
    ]
    return soft_minimum(jnp.stack(found))
