"""Closest points of simple shapes: points, segments, circles, boxes and funnels. Everything in one frame, in metres.

Signed distances are negative inside. Iterations have a fixed count, so that the functions compile. Derivatives of
distances are right; those of points on segments beside circles and boxes are not, because halving has none. Where a
closest point is not unique (the centre of a sphere, the axis of a circle) one of them is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vec3

_TINY = 1e-300  # smallest divisor
_HALVINGS = 50  # of an interval of the segment's parameter: to the last digit
_SAMPLES = 9  # along a segment, to find which of two minima is the lower one


@record
class SurfaceDistance:
    """Distance of a point from a surface, and the direction in which that distance grows."""

    distance: Scalar  # [m], negative inside
    normal: Vec3  # unit vector out of the surface


def length(x: Numeric) -> Scalar:
    """Length |x| of a vector; its derivative at zero is zero."""
    squared = x @ x
    positive = squared > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squared, 1.0)), 0.0)


def direction(x: Vec3, otherwise: Vec3) -> Vec3:
    """Unit vector x / |x|, or another unit vector where x is zero."""
    size = length(x)
    return jnp.where(size > 0.0, x / jnp.where(size > 0.0, size, 1.0), jnp.asarray(otherwise))


# ---- points


def closest_on_segment(p: Vec3, a: Vec3, b: Vec3) -> Vec3:
    """The point of the segment from a to b that is closest to p."""
    u = b - a
    s = jnp.clip((p - a) @ u / jnp.maximum(u @ u, _TINY), 0.0, 1.0)
    return a + s * u


def closest_on_circle(p: Vec3, radius: Numeric | float) -> Vec3:
    """The point closest to p of a circle about z in the plane of x and y."""
    out = direction(jnp.array([p[0], p[1], 0.0]), np.array([1.0, 0.0, 0.0]))
    return radius * out


def point_to_ball(p: Vec3, radius: Numeric | float) -> SurfaceDistance:
    """Distance of a point from a ball around the origin."""
    return SurfaceDistance(length(p) - radius, direction(p, np.array([0.0, 0.0, 1.0])))


def point_to_box(p: Vec3, half: Vec3) -> SurfaceDistance:
    """Distance of a point from a box around the origin, `half` its edges; inside, from the nearest face."""
    over = jnp.abs(p) - half
    signs = jnp.where(p < 0.0, -1.0, 1.0)
    outside, deepest = jnp.maximum(over, 0.0), jnp.argmax(over)
    face = signs * (jnp.arange(3) == deepest)
    apart = length(outside)
    return SurfaceDistance(
        jnp.where(apart > 0.0, apart, jnp.max(over)),
        jnp.where(apart > 0.0, signs * direction(outside, np.array([0.0, 0.0, 1.0])), face),
    )


# ---- segments


def closest_of_segments(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> tuple[Vec3, Vec3]:
    """The closest points of the segments from a to b and from c to d (Ericson, Real-Time Collision Detection, 5.1.9).

    On parallel segments the points are in the middle of the part where they lie side by side.
    """
    u, v, w = b - a, d - c, a - c
    uu, vv, uv, uw, vw = u @ u, v @ v, u @ v, u @ w, v @ w
    across = uu * vv - uv * uv  # |u x v|^2
    parallel = across <= 1e-14 * uu * vv
    s = jnp.clip((uv * vw - uw * vv) / jnp.where(parallel, 1.0, jnp.maximum(across, _TINY)), 0.0, 1.0)
    s = jnp.where(parallel, _middle_beside(a, u, uu, c, d), s)
    t = (vw + s * uv) / jnp.maximum(vv, _TINY)
    # Beyond an end of the second: that end, and what is closest to it on the first.
    end = jnp.clip(t, 0.0, 1.0)
    s = jnp.where(t == end, s, jnp.clip((end * uv - uw) / jnp.maximum(uu, _TINY), 0.0, 1.0))
    return a + s * u, c + end * v


def _middle_beside(a: Vec3, u: Vec3, uu: Scalar, c: Vec3, d: Vec3) -> Scalar:
    """Parameter of the middle of that part of the first segment which lies beside a parallel one."""
    ends = jnp.stack([(c - a) @ u, (d - a) @ u]) / jnp.maximum(uu, _TINY)
    low, high = jnp.clip(jnp.min(ends), 0.0, 1.0), jnp.clip(jnp.max(ends), 0.0, 1.0)
    return 0.5 * (low + high)


def closest_on_segment_to_circle(a: Vec3, b: Vec3, radius: Numeric | float) -> tuple[Vec3, Vec3]:
    """The closest points of the segment from a to b and of a circle about z in the plane of x and y.

    There may be two minima: the lower one of samples along the segment is refined.
    """

    def slope(s: Scalar) -> Scalar:
        p = a + s * (b - a)
        return (p - closest_on_circle(p, radius)) @ (b - a)

    def distance(s: Scalar) -> Scalar:
        p = a + s * (b - a)
        return length(p - closest_on_circle(p, radius))

    # Samples at equal distances, and where the segment comes closest to the plane of the circle.
    crossing = jnp.clip(-a[2] / jnp.where(jnp.abs(b[2] - a[2]) > 0.0, b[2] - a[2], 1.0), 0.0, 1.0)
    samples = jnp.concatenate([jnp.linspace(0.0, 1.0, _SAMPLES), crossing[None]])
    best = samples[jnp.argmin(jnp.stack([distance(s) for s in samples]))]
    wide = 1.0 / (_SAMPLES - 1)
    s = _zero_of(slope, jnp.clip(best - wide, 0.0, 1.0), jnp.clip(best + wide, 0.0, 1.0))
    s = jnp.where(distance(s) <= distance(best), s, best)
    p = a + s * (b - a)
    return p, closest_on_circle(p, radius)


def closest_on_segment_to_box(a: Vec3, b: Vec3, half: Vec3) -> Vec3:
    """The point of the segment from a to b that is closest to a box around the origin, or deepest in it.

    The signed distance from a convex body is convex along a segment, so there is one minimum.
    """

    def slope(s: Scalar) -> Scalar:
        return point_to_box(a + s * (b - a), half).normal @ (b - a)

    return a + _zero_of(slope, jnp.zeros(()), jnp.ones(())) * (b - a)


def _zero_of(slope: Callable[[Scalar], Scalar], low: Scalar, high: Scalar) -> Scalar:
    """Parameter between two others at which a slope changes from negative to positive; one end, if it does not."""

    def halve(_: Numeric, ends: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        left, right = ends
        middle = 0.5 * (left + right)
        rises = slope(middle) > 0.0
        return jnp.where(rises, left, middle), jnp.where(rises, middle, right)

    left, right = jax.lax.fori_loop(0, _HALVINGS, halve, (low, high))
    return 0.5 * (left + right)


# ---- funnels


@record
class FunnelWalls:
    """Distances of a point from a funnel along z: its wall on the near and on the far side of the axis, and its floor.

    The wall goes from the throat, a circle at z = 0, to the wider mouth at z = depth; the floor closes the throat. All
    of them are thin: distances are positive on both sides.
    """

    near: SurfaceDistance
    far: SurfaceDistance
    floor: SurfaceDistance


def point_to_funnel(
    p: Vec3, mouth: Numeric | float, depth: Numeric | float, throat: Numeric | float = 0.0
) -> FunnelWalls:
    """Distances of a point from a funnel with the radius `mouth` at z = depth and `throat` at z = 0 [m]."""
    rho = length(p[:2])
    out = direction(jnp.array([p[0], p[1], 0.0]), np.array([1.0, 0.0, 0.0]))

    def nearest_in_space(plane: tuple[Scalar, Scalar, Scalar], side: float = 1.0) -> SurfaceDistance:
        distance, along, up = plane
        return SurfaceDistance(distance, side * along * out + up * np.array([0.0, 0.0, 1.0]))

    z = p[2]
    over = jnp.maximum(rho - throat, 0.0)
    below = jnp.where(z < 0.0, -1.0, 1.0)
    away = jnp.sqrt(jnp.maximum(over**2 + z**2, _TINY))
    floor = (away, over / away, jnp.where(jnp.abs(z) > 0.0, z / away, below * (over <= 0.0)))
    return FunnelWalls(
        near=nearest_in_space(_to_wall(rho, z, mouth, depth, throat)),
        far=nearest_in_space(_to_wall(-rho, z, mouth, depth, throat), -1.0),
        floor=nearest_in_space(floor),
    )


def _to_wall(
    rho: Scalar, z: Scalar, mouth: Numeric | float, depth: Numeric | float, throat: Numeric | float
) -> tuple[Scalar, Scalar, Scalar]:
    """Distance and normal (rho, z) in the half plane through the axis from the line (throat, 0) to (mouth, depth)."""
    slant = jnp.sqrt(jnp.asarray((mouth - throat) ** 2 + depth**2, float))
    along_rho, along_z = (mouth - throat) / slant, depth / slant
    x, y = rho - throat, z
    s = x * along_rho + y * along_z  # along the wall, from the throat
    height = -x * along_z + y * along_rho  # over it, towards the axis
    side = jnp.where(height < 0.0, -1.0, 1.0)
    beyond = s - jnp.clip(s, 0.0, slant)
    away = jnp.sqrt(jnp.maximum(height**2 + beyond**2, _TINY))
    inside = beyond == 0.0
    # Beside the wall its own normal; beyond its ends the direction from the end.
    normal_rho = jnp.where(inside, -side * along_z, (beyond * along_rho - height * along_z) / away)
    normal_z = jnp.where(inside, side * along_rho, (beyond * along_z + height * along_rho) / away)
    return jnp.where(inside, jnp.abs(height), away), normal_rho, normal_z
