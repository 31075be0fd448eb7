"""Sizes of shapes: whether two are so far apart that no exact check is needed, and how far closest points can jump."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.dynamics.closest_points import length
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
from freefloat.values.arrays import Numeric, Scalar


def ball_radius(shape: ContactShape) -> Numeric | float:
    """Radius of the ball around the origin of a shape that contains all of it [m]; infinite for a plane."""
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Ring):
        return shape.radius + shape.bar
    if isinstance(shape, ContactCapsule):
        return 0.5 * shape.length + shape.radius
    if isinstance(shape, ContactBox):
        return 0.5 * length(jnp.asarray(shape.size))
    if isinstance(shape, Probe):
        return jnp.maximum(shape.radius, shape.length + shape.shaft)
    if isinstance(shape, ContactCone):
        return jnp.sqrt(jnp.asarray(shape.mouth**2 + shape.depth**2, float))
    return jnp.inf


def least_gap(a: ContactShape, b: ContactShape, X_AB: Pose) -> Scalar:
    """Lower bound of the distance between a and b, with b in pose X_AB in the frame of a [m]."""
    if isinstance(a, Plane):
        return X_AB.p[2] - ball_radius(b)
    if isinstance(b, Plane):
        return X_AB.inverse().p[2] - ball_radius(a)
    return length(jnp.asarray(X_AB.p)) - ball_radius(a) - ball_radius(b)


def reach_of(a: ContactShape, b: ContactShape) -> Scalar:
    """Largest distance of closest points from the origin of b while both are near [m]: the lever arm of rotations."""
    finite = [ball_radius(shape) for shape in (a, b) if not isinstance(shape, Plane)]
    return jnp.asarray(2.0 * sum(finite), float)


def bar_length(a: ContactShape, b: ContactShape) -> Scalar | None:
    """How far the closest point of two convex shapes can jump along the shorter one [m]; None if only points touch."""
    if any(isinstance(shape, (Sphere, Plane)) for shape in (a, b)) or not _has_bar(a, b):
        return None
    return jnp.minimum(*(jnp.asarray(_core_length(shape), float) for shape in (a, b)))


def has_circle(a: ContactShape, b: ContactShape) -> bool:
    """Whether one of two shapes is taken as a circle, not convex: a ring, or the mouth of a cone beside a bar."""
    if any(isinstance(shape, ContactCone) for shape in (a, b)):
        return _has_bar(a, b)
    return any(isinstance(shape, Ring) for shape in (a, b)) and not any(
        isinstance(s, (ContactBox, Plane)) for s in (a, b)
    )


def _has_bar(*shapes: ContactShape) -> bool:
    return any(isinstance(shape, (ContactCapsule, Probe)) for shape in shapes)


def _core_length(shape: ContactShape) -> Numeric | float:
    if isinstance(shape, (ContactCapsule, Probe)):
        return shape.length
    return 2.0 * ball_radius(shape)
