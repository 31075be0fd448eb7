"""Distances between spheres, capsules and boxes, against `coal` and where edges and faces are parallel.

1e-9 m is what is promised; both agree to 1e-14 where coal's own tolerance is set that low.
"""

from itertools import combinations_with_replacement

import coal
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.dynamics.shape_distance import Core, PlacedPairs, pair_order, solid_distances
from freefloat.spatial import Pose
from support import trees
from support.compiling import compiled

POSES = 10_000
CORES = {
    "sphere": Core(np.zeros(3), 0.3),
    "capsule": Core(np.array([0.0, 0.0, 0.55]), 0.2),
    "box": Core(np.array([0.35, 0.2, 0.65]), 0.0),
    "long box": Core(np.array([0.05, 0.1, 1.5]), 0.0),
}
THEIRS = {
    "sphere": coal.Sphere(0.3),
    "capsule": coal.Capsule(0.2, 1.1),
    "box": coal.Box(0.7, 0.4, 1.3),
    "long box": coal.Box(0.1, 0.2, 3.0),
}


def between(a, b, beyond=None):
    """Distance of two cores, a function of R_NA, p_NA, R_NB, p_NB."""

    def distance(R_NA, p_NA, R_NB, p_NB):
        first, second = Pose(position=p_NA, rotation=R_NA), Pose(position=p_NB, rotation=R_NB)
        pairs = PlacedPairs.of([pair_order((a, first), (b, second))])
        return solid_distances(pairs, None if beyond is None else jnp.array([beyond]))[0]

    return distance


def draw_poses(rng, count):
    rotations = np.array([trees.draw_rotation(rng) for _ in range(count)])
    return rotations, rng.uniform(-1.5, 1.5, (count, 3))


def by_coal(a, b, R_NA, p_NA, R_NB, p_NB):
    request, result, found = coal.DistanceRequest(), coal.DistanceResult(), []
    request.gjk_tolerance, request.gjk_max_iterations = 1e-12, 1000
    for RA, pA, RB, pB in zip(R_NA, p_NA, R_NB, p_NB, strict=True):
        result.clear()
        found.append(coal.distance(a, coal.Transform3s(RA, pA), b, coal.Transform3s(RB, pB), request, result))
    return np.array(found)


KINDS = ("sphere", "capsule", "box")


@pytest.mark.parametrize(("a", "b"), [*combinations_with_replacement(KINDS, 2), ("box", "long box")])
def test_random_poses_are_as_far_apart_as_coal_says(rng, a, b):
    """Apart to 1e-9; where they overlap too, but that coal's own depth is an iteration of lower order."""
    poses = (*draw_poses(rng, POSES), *draw_poses(rng, POSES))
    program = engine.compile(between(CORES[a], CORES[b]), *(x[0] for x in poses))
    ours, theirs = program.batch(*poses), by_coal(THEIRS[a], THEIRS[b], *poses)
    apart = theirs > 0.0
    assert np.count_nonzero(apart) > 0.8 * POSES
    assert np.max(np.abs(ours - theirs)[apart]) < 1e-9
    assert np.max(np.abs(ours - theirs)[~apart], initial=0.0) < 1e-6
    # Where only what is close matters, the rest is told to be farther than that, and no farther than it is.
    near = engine.compile(between(CORES[a], CORES[b], 0.2), *(x[0] for x in poses)).batch(*poses)
    assert np.array_equal(near[ours <= 0.2], ours[ours <= 0.2])
    assert np.all(near[ours > 0.2] > 0.2)
    assert np.all(near <= ours + 1e-12)
    assert np.count_nonzero(near != ours) > 0.1 * POSES


distance_of_boxes = compiled(between(Core(np.array([0.5, 1.0, 1.5]), 0.0), Core(np.array([0.4, 0.3, 0.2]), 0.0)))
distance_of_capsules = compiled(between(Core(np.array([0.0, 0.0, 1.0]), 0.1), Core(np.array([0.0, 0.0, 2.0]), 0.2)))


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ((2.0, 0.0, 0.0), 1.1),  # face to face
        ((2.0, 0.2, -0.1), 1.1),
        ((2.0, 2.0, 0.0), np.hypot(1.1, 0.7)),  # edge to edge, parallel
        ((2.0, 2.0, 3.0), np.sqrt(1.1**2 + 0.7**2 + 1.3**2)),  # corner to corner
        ((0.9, 0.0, 0.0), 0.0),  # touching
        ((0.8, 0.0, 0.0), -0.1),  # overlapping
        ((0.0, 0.0, 0.0), -0.9),  # one in the other: the shortest way out is along x
    ],
)
def test_boxes_that_are_aligned(p, expected):
    here = np.eye(3), np.zeros(3)
    assert distance_of_boxes(*here, np.eye(3), np.array(p)) == pytest.approx(expected, abs=1e-15)
    # The same turned together, and a hair from aligned: nothing is divided by what is nearly zero.
    turn = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    assert distance_of_boxes(turn, np.ones(3), turn, np.ones(3) + turn @ p) == pytest.approx(expected, abs=1e-14)
    for angle in (1e-7, 1e-9, 1e-12):
        off = np.array([[1.0, -angle, 0.0], [angle, 1.0, 0.0], [0.0, 0.0, 1.0]])
        assert distance_of_boxes(*here, off, np.array(p)) == pytest.approx(expected, abs=2.0 * angle + 1e-15)


def test_capsules_that_are_parallel_or_end_to_end():
    here = np.eye(3), np.zeros(3)
    for p, expected in (
        ((1.0, 0.0, 0.5), 0.7),
        ((0.0, 0.0, 4.0), 0.7),
        ((3.0, 4.0, 3.0), 4.7),
        ((0.1, 0.0, 0.0), -0.2),
    ):
        assert distance_of_capsules(*here, np.eye(3), np.array(p)) == pytest.approx(expected, abs=1e-15)
