"""Bodies that touch: balls against walls and against one another, with and without friction, soft to stiff."""

from __future__ import annotations

import dataclasses

import numpy as np

import freefloat as ff
from audit_families.drawing import draw_body, draw_start, with_link
from audit_families.family import Family
from freefloat.effects.contact import Bristles, CompliantContact, HuntCrossley, KelvinVoigt, Plane, Sphere

DT = 0.005  # [s]
RADIUS = 0.1  # [m]


def draw_ball(rng: np.random.Generator, name: str, *, link: bool) -> ff.Spacecraft:
    """A body with a ball at a frame `tip`; in some structures on a link that is free to turn."""
    craft, body = ff.Spacecraft.from_base(name, **draw_body(rng, float(rng.uniform(2.0, 50.0)))), "base"
    if not link and rng.integers(2):  # it is hit at its centre of mass, and nothing turns
        return craft.with_frame("tip", body=body, at=tuple(craft.bodies[0].com))
    if link:
        craft, body = with_link(rng, craft, "arm", "base"), "arm"
    return craft.with_frame("tip", body=body, at=tuple(rng.uniform(-0.3, 0.3, 3)))


def draw_law(structure: int, rng: np.random.Generator, brief: bool) -> tuple[object, ...]:
    """Elastic or damped; a brief contact is so stiff that it is over within a step."""
    stiffness = float(np.exp(rng.uniform(*np.log((1e7, 1e9) if brief else (1e3, 1e5)))))
    if structure % 3 == 0:
        return (KelvinVoigt(stiffness),)
    if structure % 3 == 1:
        return (HuntCrossley(10.0 * stiffness, float(rng.uniform(0.01, 0.3))),)
    return KelvinVoigt(stiffness, 1e-4 * stiffness), Bristles(
        float(rng.uniform(0.05, 0.5)), 0.5 * stiffness, 1e-4 * stiffness
    )


def draw(structure: int, rng: np.random.Generator, *, brief: bool = False) -> ff.Experiment:
    """One body against a wall that stands still, or two bodies against one another, one of them moving."""
    law, speed = draw_law(structure, rng, brief), float(rng.uniform(0.02, 0.5))
    one = draw_ball(rng, "one", link=structure % 2 == 1)
    towards, steps = _direction(rng), 20 * int(rng.integers(10, 20))
    arrives = float(rng.uniform(0.1, 0.5)) * steps * DT
    first = draw_start(rng, one, 0.1 * speed * rng.integers(2))
    if structure < 5:
        wall = ff.Pose(position=(0.0, 0.0, 0.0), rotation=_facing(-towards))
        first = _placed(one, first, -towards * (RADIUS + speed * arrives), speed * towards)
        contact = CompliantContact("tip", Sphere(RADIUS), "N", Plane(), *law, at_b=wall)
        return ff.Experiment.of(one, contact, state=first, duration=steps * DT, dt=DT, record_dt=20 * DT)
    two = draw_ball(rng, "two", link=structure == 8)
    second = draw_start(rng, two, 0.1 * speed * rng.integers(2))
    first = _placed(one, first, -towards * (2.0 * RADIUS + speed * arrives), speed * towards)
    second = _placed(two, second, np.zeros(3), np.zeros(3))
    contact = CompliantContact("one.tip", Sphere(RADIUS), "two.tip", Sphere(RADIUS), *law)
    world, state = ff.World(one=one, two=two), {"one": first, "two": second}
    return ff.Experiment.of(world, contact, state=state, duration=steps * DT, dt=DT, record_dt=20 * DT)


def _placed(craft: ff.Spacecraft, state: ff.State, tip: np.ndarray, velocity: np.ndarray) -> ff.State:
    """The same with its tip at a place, and its base moving along."""
    pose = ff.dynamics.inertial_frame_pose(craft, state, "tip")
    v = np.array(state.v)
    v[:3] = np.asarray(state.X_NB.R).T @ velocity
    return dataclasses.replace(state, p_NB=np.asarray(state.p_NB) + tip - np.asarray(pose.p), v=v)


def _direction(rng: np.random.Generator) -> np.ndarray:
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


def _facing(normal: np.ndarray) -> np.ndarray:
    """A rotation whose z is the normal."""
    side = np.cross(normal, np.roll(normal, 1) + np.array([0.1, 0.2, 0.3]))
    side /= np.linalg.norm(side)
    return np.column_stack([np.cross(side, normal), side, normal])


FAMILY = Family("contact", 10, 110, draw)
