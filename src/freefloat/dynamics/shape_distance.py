"""Distance between spheres, capsules and boxes anywhere, for clearances. In metres, negative inside.

A sphere is a point and a capsule a segment, both with a radius around them. Distances of separate solids are exact to
rounding; for solids that overlap it is the shortest way apart, with a minus sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

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
from freefloat.values import record, static
from freefloat.values.arrays import Mat3, Numeric, Scalar, Vec3, Vector
from freefloat.values.tracing import cond

Kind = Literal["point", "segment", "box"]
Placed: TypeAlias = "tuple[Core, Pose]"
VectorPair = tuple[Vec3, Vec3]

_PARALLEL = 1e-12  # squared sine of the angle between edges: the axis across them is useless


class Core(NamedTuple):
    """Core of a simple solid: a point (no axis), a segment along z, or a box; with a radius around it."""

    half: np.ndarray  # half its edges along x, y, z [m]; zero where it has none
    radius: float  # [m]

    @property
    def kind(self) -> Kind:
        """Kind of the core without its radius."""
        return ("point", "segment", "", "box")[int(np.count_nonzero(self.half))]  # pyright: ignore[reportReturnType]

    @property
    def reach(self) -> float:
        """Radius of the ball around its centre that contains it [m]."""
        return float(np.linalg.norm(self.half)) + self.radius


@record
class PlacedPairs:
    """Pairs of solids of the same two kinds, one after the other: `half` and `radius` of cores, and where they are."""

    kinds: tuple[Kind, Kind] = static()  # the simpler one first
    half: tuple[Numeric, Numeric]  # (n, 3) each [m]
    radius: Numeric  # (n) of both together [m]
    reach: Numeric  # (n) of both together [m]
    R: tuple[Numeric, Numeric]  # (n, 3, 3) each: axes of the solids in N
    p: tuple[Numeric, Numeric]  # (n, 3) each: their centres in N [m]

    @staticmethod
    def of(pairs: Sequence[tuple[Placed, Placed]]) -> PlacedPairs:
        """Placed pairs from pairs of (core, pose in N), the simpler core first."""
        cores = tuple([placed[side][0] for placed in pairs] for side in (0, 1))
        poses = tuple([placed[side][1] for placed in pairs] for side in (0, 1))
        return PlacedPairs(
            kinds=(cores[0][0].kind, cores[1][0].kind),
            half=(np.stack([core.half for core in cores[0]]), np.stack([core.half for core in cores[1]])),
            radius=np.array([a.radius + b.radius for a, b in zip(*cores, strict=True)]),
            reach=np.array([a.reach + b.reach for a, b in zip(*cores, strict=True)]),
            R=(jnp.stack([X.R for X in poses[0]]), jnp.stack([X.R for X in poses[1]])),
            p=(jnp.stack([X.p for X in poses[0]]), jnp.stack([X.p for X in poses[1]])),
        )


def pair_order(a: Placed, b: Placed) -> tuple[Placed, Placed]:
    """Two placed cores, the simpler one first."""
    return (a, b) if _KINDS.index(a[0].kind) <= _KINDS.index(b[0].kind) else (b, a)


def solid_distances(pairs: PlacedPairs, beyond: Numeric | None = None) -> Vector:
    """Distance of every pair [m], negative where it overlaps.

    For pairs whose bounding balls are farther apart than `beyond` (n) the gap of the balls is returned, which is less
    than the distance and takes no time. A loop goes through the pairs, so that code does not grow with their number.
    """
    measure = partial(_distance, pairs.kinds)
    numbers = pairs.half, pairs.radius, pairs.R, pairs.p
    if beyond is None:
        return jax.lax.map(lambda pair: measure(*pair), jax.tree.map(jnp.asarray, numbers))

    def bounded_distance(pair: tuple) -> Scalar:
        reach, edge, numbers = pair
        p_NA, p_NB = numbers[3]
        balls = length(p_NA - p_NB) - reach
        return cond(balls > edge, lambda: balls, lambda: measure(*numbers))

    return jax.lax.map(bounded_distance, jax.tree.map(jnp.asarray, (pairs.reach, beyond, numbers)))


def _distance(
    kinds: tuple[Kind, Kind], half: VectorPair, radius: Scalar, R: tuple[Mat3, Mat3], p: VectorPair
) -> Scalar:
    """Distance between two solids, the simpler one first; everything in the frame of the other."""
    turn, way = R[1].T @ R[0], R[1].T @ (p[0] - p[1])
    return _MEASURES[kinds](turn, way, *half) - radius


# ---- points and segments against everything; R, p: pose of the first in the frame of the second


def _segment_segment(R: Mat3, p: Vec3, a: Vec3, b: Vec3) -> Scalar:
    ours, theirs = closest_of_segments(p - R @ a, p + R @ a, -b, b)
    return length(ours - theirs)


def _segment_box(R: Mat3, p: Vec3, a: Vec3, b: Vec3) -> Scalar:
    apart = point_to_box(closest_on_segment_to_box(p - R @ a, p + R @ a, b), b).distance
    return jnp.where(apart > 0.0, apart, _largest_gap(R, p, a, b))


# ---- two boxes


def _box_box(R: Mat3, p: Vec3, a: Vec3, b: Vec3) -> Scalar:
    """Distance between boxes with half edges a and b.

    Apart, the closest points are a corner of one and a point of the other, or points of two edges: all of them are
    checked. Overlapping, the depth is the least along the 15 directions that can part two boxes.
    """
    depth = _largest_gap(R, p, a, b)
    signs = np.array(list(product((-1.0, 1.0), repeat=3)))
    ours = p + (signs * a) @ R.T  # corners of the first, in the second's frame
    theirs = (signs * b - p) @ R  # corners of the second, in the first's
    corners = [point_to_box(corner, b).distance for corner in ours]
    corners += [point_to_box(corner, a).distance for corner in theirs]
    apart = jnp.minimum(jnp.min(jnp.stack(corners)), _between_edges(R, p, a, b))
    return jnp.where(depth > 0.0, apart, depth)


def _largest_gap(R: Mat3, p: Vec3, a: Vec3, b: Vec3) -> Scalar:
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


def _unit_edges() -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends (12, 3) of the edges of a box, as multiples of half its edges."""
    found = []
    for along, (s, t) in product(range(3), product((-1.0, 1.0), repeat=2)):
        start = np.zeros(3)
        start[along], start[(along + 1) % 3], start[(along + 2) % 3] = -1.0, s, t
        end = start.copy()
        end[along] = 1.0
        found.append((start, end))
    starts, ends = zip(*found, strict=True)
    return np.array(starts), np.array(ends)


def _between_edges(R: Mat3, p: Vec3, a: Vec3, b: Vec3) -> Scalar:
    """The smallest distance of an edge of the first box from one of the second: a loop, because there are 144 pairs."""
    starts, ends = (p + (edge * a) @ R.T for edge in _unit_edges())
    theirs, their_ends = (jnp.asarray(edge * b) for edge in _unit_edges())

    def smaller_distance(k: Numeric, least: Scalar) -> Scalar:
        i, j = k // 12, k % 12
        x, y = closest_of_segments(starts[i], ends[i], theirs[j], their_ends[j])
        return jnp.minimum(least, (x - y) @ (x - y))

    squared = jax.lax.fori_loop(0, 144, smaller_distance, jnp.asarray(jnp.inf))
    return jnp.sqrt(squared)


_KINDS: tuple[Kind, ...] = ("point", "segment", "box")
_MEASURES = {
    ("point", "point"): lambda R, p, a, b: length(p),
    ("point", "segment"): lambda R, p, a, b: length(p - closest_on_segment(p, -b, b)),
    ("point", "box"): lambda R, p, a, b: point_to_box(p, b).distance,
    ("segment", "segment"): _segment_segment,
    ("segment", "box"): _segment_box,
    ("box", "box"): _box_box,
}
