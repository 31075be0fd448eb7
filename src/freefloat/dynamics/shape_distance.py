"""Distance between spheres, capsules and boxes anywhere: what clearance is made of. Metres, negative inside.

A sphere is a point and a capsule a segment, both with a radius around them. Distances of what is apart are exact to
rounding; of what overlaps it is the shortest way apart, with a minus.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.closest_points import (
    closest_of_segments,
    closest_on_segment,
    closest_on_segment_to_box,
    length,
    point_to_box,
)
from freefloat.spatial import Pose
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Mat3, Numeric, Scalar, Vec3

_PARALLEL = 1e-12  # squared sine of the angle between edges: the axis across them says nothing


class Core(NamedTuple):
    """What a simple solid is at heart: a point (no axis), a segment along z, or a box; with a radius around it."""

    half: np.ndarray  # half its edges along x, y, z [m]; zero where it has none
    radius: float  # [m]

    @property
    def dimensions(self) -> int:
        """0 of a point, 1 of a segment, 3 of a box."""
        return int(np.count_nonzero(self.half))

    @property
    def reach(self) -> float:
        """Radius of the ball around its centre that contains it [m]."""
        return float(np.linalg.norm(self.half)) + self.radius


def core_distance(a: Core, X_NA: Pose, b: Core, X_NB: Pose) -> Scalar:
    """Between two solids at their poses [m]; negative where they overlap."""
    if a.dimensions > b.dimensions:
        a, X_NA, b, X_NB = b, X_NB, a, X_NA
    # All of it in the frame of the one with more edges.
    R, p = X_NB.R.T @ X_NA.R, X_NB.R.T @ (X_NA.p - X_NB.p)
    return _bare_distance(a, R, p, b) - (a.radius + b.radius)


def ball_distance(a: Core, X_NA: Pose, b: Core, X_NB: Pose) -> Scalar:
    """Between the balls that contain two solids [m]: never more than the distance."""
    return length(X_NA.p - X_NB.p) - (a.reach + b.reach)


def _bare_distance(a: Core, R: Mat3, p: Vec3, b: Core) -> Scalar:
    """Without radii; R, p: pose of a in the frame of b."""
    if b.dimensions == 0:
        return length(p)
    if b.dimensions == 1:
        start, end = -b.half, b.half
        if a.dimensions == 0:
            return length(p - closest_on_segment(p, start, end))
        ours, theirs = closest_of_segments(p - R @ a.half, p + R @ a.half, jnp.asarray(start), jnp.asarray(end))
        return length(ours - theirs)
    if a.dimensions == 0:
        return point_to_box(p, b.half).distance
    if a.dimensions == 1:
        nearest = closest_on_segment_to_box(p - R @ a.half, p + R @ a.half, b.half)
        apart = point_to_box(nearest, b.half).distance
        return jnp.where(apart > 0.0, apart, _largest_gap(R, p, a.half, b.half))
    return _between_boxes(R, p, a.half, b.half)


# ---- two boxes


def _between_boxes(R: Mat3, p: Vec3, a: np.ndarray, b: np.ndarray) -> Scalar:
    """Boxes with half edges a and b; R, p: pose of the first in the frame of the second.

    Apart, the closest points are a corner of one and a point of the other, or points of two edges: all of them are
    looked at. Overlapping, the depth is the least along the 15 directions that can part two boxes.
    """
    depth = _largest_gap(R, p, a, b)
    signs = np.array(list(product((-1.0, 1.0), repeat=3)))
    ours = p + (signs * a) @ R.T  # corners of the first, in the second's frame
    theirs = (signs * b - p) @ R  # corners of the second, in the first's
    corners = [point_to_box(one, b).distance for one in ours] + [point_to_box(one, a).distance for one in theirs]
    apart = jnp.minimum(jnp.min(jnp.stack(corners)), _between_edges(R, p, a, b))
    return jnp.where(depth > 0.0, apart, depth)


def _largest_gap(R: Mat3, p: Vec3, a: np.ndarray, b: np.ndarray) -> Scalar:
    """The largest gap that a direction shows between two boxes (Gottschalk 1996); negative: none parts them."""
    size = jnp.abs(R)
    gaps = [*(jnp.abs(p) - (b + size @ a)), *(jnp.abs(R.T @ p) - (a + size.T @ b))]
    for i, j in product(range(3), repeat=2):
        axis = cross(jnp.eye(3)[i], R[:, j])
        squared = axis @ axis
        reach = jnp.abs(axis) @ b + jnp.abs(R.T @ axis) @ a
        usable = squared > _PARALLEL
        gap = (jnp.abs(p @ axis) - reach) / jnp.sqrt(jnp.where(usable, squared, 1.0))
        gaps.append(jnp.where(usable, gap, -jnp.inf))
    return jnp.max(jnp.stack(gaps))


def _edges(half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of the twelve edges of a box (12, 3)."""
    found = []
    for along, (s, t) in product(range(3), product((-1.0, 1.0), repeat=2)):
        start = np.zeros(3)
        start[along], start[(along + 1) % 3], start[(along + 2) % 3] = -1.0, s, t
        end = start.copy()
        end[along] = 1.0
        found.append((start * half, end * half))
    starts, ends = zip(*found, strict=True)
    return np.array(starts), np.array(ends)


def _between_edges(R: Mat3, p: Vec3, a: np.ndarray, b: np.ndarray) -> Scalar:
    """The smallest distance of an edge of the first box from one of the second: a loop, because there are 144 pairs."""
    starts, ends = (p + edge @ R.T for edge in _edges(a))
    theirs, their_ends = (jnp.asarray(edge) for edge in _edges(b))

    def look(k: Numeric, least: Scalar) -> Scalar:
        i, j = k // 12, k % 12
        x, y = closest_of_segments(starts[i], ends[i], theirs[j], their_ends[j])
        return jnp.minimum(least, (x - y) @ (x - y))

    squared = jax.lax.fori_loop(0, 144, look, jnp.asarray(jnp.inf))
    return jnp.sqrt(squared)
