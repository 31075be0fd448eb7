"""Where two shapes touch: points, normals and gaps of a pair, a fixed number of them, whatever the poses.

One shape of a pair is taken as a *surface* that gives the distance of a point, the other one as *features*: balls
and segments with a radius. A feature's gap is its distance from the surface less its radius. Each gap grows at the rate
at which the material points there separate along the normal, so that what a force along it does is force times rate.
"""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.closest_points import (
    SurfaceDistance,
    closest_of_segments,
    closest_on_circle,
    closest_on_segment,
    closest_on_segment_to_box,
    closest_on_segment_to_circle,
    direction,
    length,
    point_to_ball,
    point_to_box,
    point_to_funnel,
)
from freefloat.model.contact_shapes import (
    ContactBox,
    ContactCapsule,
    ContactCone,
    ContactShape,
    Plane,
    Probe,
    Ring,
    Sphere,
)
from freefloat.spatial import Pose
from freefloat.values import ModelError, record
from freefloat.values.arrays import Matrix, Numeric, Vec3, Vector

_Z = np.array([0.0, 0.0, 1.0])
# Which of two shapes is the surface: the one that stands further to the right.
_ORDER: tuple[type, ...] = (Sphere, Probe, ContactCapsule, Ring, ContactBox, Plane, ContactCone)
_CANNOT_TOUCH = ((Plane, Plane), (Plane, ContactCone), (ContactCone, ContactCone), (ContactBox, ContactCone))


@record
class TouchingPoints:
    """Points where the two shapes of a pair are closest or overlap, in the frame of the surface."""

    points: Matrix  # (n, 3): in the middle between both shapes [m]
    normals: Matrix  # (n, 3): out of the surface
    gaps: Vector  # [m], negative where they overlap


Touch: TypeAlias = tuple[Vec3, SurfaceDistance, Numeric | float]  # centre of a feature, how far it is, its radius


def is_surface_first(a: ContactShape, b: ContactShape) -> bool:
    """True if a is the surface of the pair; a pair that cannot touch raises an error."""
    for first, second in ((a, b), (b, a)):
        if (type(first), type(second)) in _CANNOT_TOUCH:
            raise ModelError(
                f"A {type(a).__name__} cannot touch a {type(b).__name__}. Use a ContactCapsule, a Probe, a Ring or a "
                "Sphere for one of them."
            )
    return _ORDER.index(type(a)) > _ORDER.index(type(b))


def touching_points(feature: ContactShape, surface: ContactShape, X_SF: Pose) -> TouchingPoints:
    """Touching points of a feature in pose X_SF in the frame of a surface."""
    touches = list(_touches(feature, surface, X_SF))
    if isinstance(feature, ContactBox) and isinstance(
        surface, ContactBox
    ):  # corners of either; edges that cross are not seen
        back, X_FS = [], X_SF.inverse()
        for corner, near, radius in _touches(surface, feature, X_FS):
            back.append((X_SF.apply(corner), SurfaceDistance(near.distance, -(X_SF.R @ near.normal)), radius))
        touches += [(p + near.distance * near.normal, near, radius) for p, near, radius in back]
    normals = jnp.stack([near.normal for _, near, _ in touches])
    gaps = jnp.stack([near.distance - radius for _, near, radius in touches])
    centres, radii = jnp.stack([c for c, _, _ in touches]), jnp.stack([jnp.asarray(r, float) for _, _, r in touches])
    return TouchingPoints(centres - (radii + 0.5 * gaps)[:, None] * normals, normals, gaps)


def _touches(feature: ContactShape, surface: ContactShape, X_SF: Pose) -> list[Touch]:
    balls, bars = _features(feature, surface)
    found: list[Touch] = []
    for centre, radius in balls:
        p = X_SF.apply(centre)
        found += [(p, near, radius) for near in _from_point(surface, p)]
    for start, end, radius in bars:
        found += _from_segment(surface, X_SF.apply(start), X_SF.apply(end), radius)
    return found


Balls: TypeAlias = list[tuple[Vec3, Numeric | float]]
Bars: TypeAlias = list[tuple[Vec3, Vec3, Numeric | float]]


def _features(shape: ContactShape, surface: ContactShape) -> tuple[Balls, Bars]:
    """Balls and segments of a shape in its own frame."""
    if isinstance(shape, Sphere):
        return [(np.zeros(3), shape.radius)], []
    if isinstance(shape, Probe):
        return [(np.zeros(3), shape.radius)], [(np.zeros(3), -shape.length * _Z, shape.shaft)]
    if isinstance(shape, ContactCapsule):
        ends = 0.5 * shape.length * _Z
        balls = [(-ends, shape.radius), (ends, shape.radius)] if isinstance(surface, ContactCone) else []
        return balls, [(-ends, ends, shape.radius)]
    if isinstance(shape, Ring):
        angles = 2.0 * np.pi * np.arange(shape.points) / shape.points
        circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(shape.points)], axis=1)
        return [(shape.radius * at, shape.bar) for at in circle], []
    assert isinstance(shape, ContactBox)
    half = 0.5 * jnp.asarray(shape.size)
    return [(half * np.array(signs), 0.0) for signs in product((-1.0, 1.0), repeat=3)], []


def _from_point(surface: ContactShape, p: Vec3) -> list[SurfaceDistance]:
    """Distance of a point from a surface: one, or one from each of its walls."""
    if isinstance(surface, Plane):
        return [SurfaceDistance(p[2], jnp.asarray(_Z))]
    if isinstance(surface, Sphere):
        return [point_to_ball(p, surface.radius)]
    if isinstance(surface, ContactBox):
        return [point_to_box(p, 0.5 * jnp.asarray(surface.size))]
    if isinstance(surface, ContactCone):
        walls = point_to_funnel(p, surface.mouth, surface.depth, surface.throat)
        return [walls.near, walls.far, walls.floor]
    if isinstance(surface, Ring):
        return [_ball_distance(p, closest_on_circle(p, surface.radius), surface.bar)]
    if isinstance(surface, ContactCapsule):
        ends = 0.5 * surface.length * _Z
        return [_ball_distance(p, closest_on_segment(p, -ends, ends), surface.radius)]
    ball, (start, end, shaft) = point_to_ball(p, surface.radius), _features(surface, surface)[1][0]
    return [ball, _ball_distance(p, closest_on_segment(p, start, end), shaft)]


def _from_segment(surface: ContactShape, a: Vec3, b: Vec3, radius: Numeric | float) -> list[Touch]:
    """Points of a segment that are closest to a surface."""
    if isinstance(surface, Plane):
        return [(p, near, radius) for p in (a, b) for near in _from_point(surface, p)]
    if isinstance(surface, ContactBox):
        p = closest_on_segment_to_box(a, b, 0.5 * jnp.asarray(surface.size))
        return [(p, near, radius) for near in _from_point(surface, p)]
    if isinstance(surface, Ring):
        p, c = closest_on_segment_to_circle(a, b, surface.radius)
        return [(p, _ball_distance(p, c, surface.bar), radius)]
    if isinstance(
        surface, ContactCone
    ):  # inside a cone a bar touches the wall with its ends, and the mouth with its side
        up = surface.depth * _Z
        p, c = closest_on_segment_to_circle(a - up, b - up, surface.mouth)
        return [(p + up, _ball_distance(p, c, 0.0), radius)]
    balls, bars = _features(surface, surface)
    found: list[Touch] = []
    for centre, size in balls:
        p = closest_on_segment(centre, a, b)
        found.append((p, _ball_distance(p, centre, size), radius))
    for start, end, size in bars:
        p, q = closest_of_segments(a, b, start, end)
        found.append((p, _ball_distance(p, q, size), radius))
    return found


def _ball_distance(p: Vec3, q: Vec3, radius: Numeric | float) -> SurfaceDistance:
    """Distance of a point p from a ball around q."""
    return SurfaceDistance(length(p - q) - radius, direction(p - q, _Z))
