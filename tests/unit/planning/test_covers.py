"""Balls contain what they stand for, boxes contain drums, and the soft minimum errs on the safe side."""

import jax.numpy as jnp
import numpy as np

from freefloat.library import envisat, servicer
from freefloat.model.shapes import Box
from freefloat.planning.covers import SHARPNESS, balls_of, obstacles_of, soft_minimum, with_boxed_drums
from freefloat.sim.events.clearance_pairs import core_of


def test_balls_contain_the_shapes_of_every_body():
    draw, craft = np.random.default_rng(11), servicer()
    for name in craft.body_names:
        balls = balls_of(craft, name)
        for shape in craft.body(name).shapes:
            core = core_of(shape.solid)
            inner = draw.uniform(-1.0, 1.0, (200, 3)) * core.half
            rim = draw.normal(size=(200, 3))
            points = inner + core.radius * rim / np.linalg.norm(rim, axis=1, keepdims=True)
            points = np.array(shape.position) + points @ np.array(shape.rotation).T
            away = np.linalg.norm(points[:, None] - balls.centres, axis=2) - balls.radii
            assert away.min(axis=1).max() <= 1e-12, name


def test_a_flat_drum_is_the_box_around_it_and_ends_at_its_face():
    ring = next(one for one in obstacles_of(envisat(), "client") if "target" in one.name)
    ahead = np.array([3.0, 0.0, 0.0])  # 0.1 m before the ring's face; the bar around it would reach to 3.85 m
    assert abs(float(ring.distance(jnp.asarray(ahead))) - 0.1) < 1e-12
    boxed = [shape for shape in with_boxed_drums(envisat()).body("base").shapes if shape.colour == "target"]
    assert boxed[0].solid == Box((1.9, 1.9, boxed[0].solid.size[2]))


def test_the_soft_minimum_is_never_more_than_the_smallest():
    draw = np.random.default_rng(12)
    for _ in range(20):
        some = draw.uniform(-0.2, 0.5, 8)
        soft = float(soft_minimum(jnp.asarray(some)))
        assert some.min() - np.log(8) / SHARPNESS <= soft <= some.min()
