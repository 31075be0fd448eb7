"""Touching points of every pair of shapes: gaps change as the material points there separate; some exact cases."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.dynamics.bounding_balls import ball_radius, least_gap
from freefloat.dynamics.touching_points import TouchingPoints
from freefloat.effects.contact import (
    ContactBox,
    ContactCapsule,
    ContactCone,
    ContactPair,
    KelvinVoigt,
    Plane,
    Probe,
    Ring,
    Sphere,
)  # fmt: skip
from freefloat.spatial import Pose, angular, linear
from freefloat.spatial.rotations import from_roll_pitch_yaw, skew
from freefloat.values import ModelError

SHAPES = {
    "sphere": Sphere(0.2),
    "plane": Plane(),
    "ring": Ring(0.4, 0.03),
    "capsule": ContactCapsule(0.1, 0.6),
    "box": ContactBox((0.5, 0.8, 0.3)),
    "probe": Probe(0.1, 0.7, 0.05),
    "cone": ContactCone(0.5, 0.4, 0.1),
}
NEVER = {("plane", "plane"), ("plane", "cone"), ("cone", "cone"), ("box", "cone"), ("cone", "box"), ("cone", "plane")}
PAIRS = [(a, b) for a in SHAPES for b in SHAPES if (a, b) not in NEVER]
LAW = KelvinVoigt(1e4)


def pair_of(a, b):
    return ContactPair(SHAPES[a], SHAPES[b], LAW)


def pose_of(numbers):
    return Pose(position=numbers[:3], rotation=from_roll_pitch_yaw(numbers[3:]))


QUICK = {("box", "sphere"), ("capsule", "capsule"), ("cone", "probe")}  # the others take as long each


@pytest.mark.parametrize(
    ("a", "b"),
    [pytest.param(a, b, marks=() if (a, b) in QUICK else pytest.mark.slow) for a, b in PAIRS if a <= b],
)
def test_gap_changes_as_the_points_separate(a, b):
    """d gap / dt along a motion (autodiff) = normal . relative velocity there: force times rate is the power."""
    pair, rng = pair_of(a, b), np.random.default_rng(3)

    def both(numbers, twist):
        X = pose_of(numbers)
        _, rate = jax.jvp(
            lambda s: (
                pair.points(
                    Pose(position=X.p + s * linear(twist), rotation=(jnp.eye(3) + s * skew(angular(twist))) @ X.R)
                ).gaps
            ),
            (0.0,),
            (1.0,),
        )
        now = pair.contact_points(X, twist)
        return rate, -now.rates, pair.points(X).normals

    numbers, twists = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
    rates, expected, normals = engine.compile(both, numbers[0], twists[0]).batch(numbers, twists)
    np.testing.assert_allclose(rates, expected, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1.0, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), [("sphere", "box"), ("probe", "cone"), ("capsule", "ring"), ("ring", "plane")])
def test_a_pair_is_the_same_seen_from_the_other_side(a, b):
    def both(numbers):
        X = pose_of(numbers)
        one, other = pair_of(a, b).points(X), pair_of(b, a).points(X.inverse())
        return one, TouchingPoints(other.points @ X.R.T + X.p, -other.normals @ X.R.T, other.gaps)

    numbers = np.random.default_rng(5).normal(size=(3, 6))
    one, other = engine.compile(both, numbers[0]).batch(numbers)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-12), one, other)


def gaps_of(pair, position, rotation):
    place = np.array(position)
    return engine.compile(lambda p: pair.points(Pose(position=p, rotation=rotation)).gaps, place)(place)


def test_a_box_on_a_plane_stands_on_four_corners():
    gaps = gaps_of(pair_of("plane", "box"), (0.0, 0.0, 0.14), np.eye(3))
    np.testing.assert_allclose(np.sort(gaps), [-0.01] * 4 + [0.29] * 4, atol=1e-14)


def test_a_probe_in_a_cone_touches_wall_floor_and_mouth():
    """Against the geometry of the cone: half angle atan((mouth - throat)/depth), here 45 deg."""
    pair = pair_of("cone", "probe")
    gaps = gaps_of(pair, (0.05, 0.0, 0.2), np.diag([1.0, -1.0, -1.0]))  # the tip points to -z
    wall = (0.1 + 0.2 - 0.05) / np.sqrt(2.0)  # from the centre of the ball, across the wall
    far = (0.1 + 0.2 + 0.05) / np.sqrt(2.0)
    np.testing.assert_allclose(gaps, [wall - 0.1, far - 0.1, 0.2 - 0.1, 0.45 - 0.05], atol=1e-12)


def test_the_ball_around_a_shape_holds_all_of_it(rng):
    """Farthest points: of a capsule its caps, of a box its corners, of a cone its rim. No gap is less than theirs."""
    radii = {
        "sphere": 0.2,
        "ring": 0.43,
        "capsule": 0.4,
        "box": 0.5 * np.sqrt(0.98),
        "probe": 0.75,
        "cone": np.sqrt(0.41),
    }
    for name, radius in radii.items():
        assert float(ball_radius(SHAPES[name])) == pytest.approx(radius), name
    for _ in range(20):
        X = pose_of(np.concatenate([rng.normal(size=3), rng.uniform(-3.0, 3.0, 3)]))
        gaps = ContactPair(SHAPES["capsule"], SHAPES["sphere"], LAW).points(X).gaps
        assert float(least_gap(SHAPES["capsule"], SHAPES["sphere"], X)) <= float(jnp.min(gaps)) + 1e-12


@pytest.mark.parametrize("height", [0.3, 0.15])
def test_points_lie_in_the_middle_between_both_shapes(height):
    """A ball of 0.2 m above a plane, and pressed into it: half way between its lowest point and the plane."""
    found = ContactPair(Plane(), SHAPES["sphere"], LAW).points(Pose(position=(1.0, 2.0, height)))
    np.testing.assert_allclose(found.gaps, [height - 0.2], atol=1e-15)
    np.testing.assert_allclose(found.points, [[1.0, 2.0, 0.5 * (height - 0.2)]], atol=1e-15)


def test_impossible_pairs_are_refused():
    with pytest.raises(ModelError, match="A Plane cannot touch a ContactCone"):
        pair_of("plane", "cone").points(Pose())
    with pytest.raises(ModelError, match="narrower than its mouth"):
        ContactCone(0.1, 0.2, 0.3)
    with pytest.raises(ModelError, match="at least 3"):
        Ring(0.1, 0.01, 2)
