"""Pairs that latch, hold and release one another; some of them move along one axis only."""

from __future__ import annotations

import dataclasses

import numpy as np

import freefloat as ff
from audit_families.drawing import draw_body, draw_hub, with_link
from audit_families.family import Family
from audit_families.software import LatchAt

DT = 0.01  # [s]
HOLDS = ("all", "point", "hinge")
ALONG_A_LINE = 4  # structures
LINE = np.array([0.36, 0.48, 0.8])


def draw_half(structure: int, rng: np.random.Generator, name: str) -> ff.Spacecraft:
    """A box with a port; in some structures the port is on a link."""
    if structure < ALONG_A_LINE:  # its centre of mass is on the line of the ports
        way = float(rng.uniform(0.3, 0.7)) * LINE
        body = draw_body(rng, float(rng.uniform(5.0, 100.0))) | {"com": -float(rng.uniform(0.0, 0.5)) * way}
        return ff.Spacecraft.from_base(name, **body).with_frame("port", body="base", at=way)
    craft, body = draw_hub(rng, name), "base"
    if structure % 2:
        craft, body = with_link(rng, craft, "link", "base"), "link"
    return craft.with_frame("port", body=body, at=tuple(rng.uniform(-0.5, 0.5, 3)))


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """They come together slowly, and are latched by command or by themselves."""
    one, two = (draw_half(structure, rng, name) for name in ("one", "two"))
    automatic, reach = structure % 4 == 3, float(rng.uniform(0.05, 0.2))
    world = ff.World(one=one, two=two).connection(
        "dock", "one.port", "two.port", holds=HOLDS[structure % 3], automatic=automatic, reach=(reach, 10.0)
    )
    start = along_a_line(rng, one, two, reach) if structure < ALONG_A_LINE else at_random(rng, one, two, reach)
    software = () if automatic else (LatchAt(float(rng.uniform(0.1, 0.5)), "dock", on="one", period=0.05),)
    steps = 20 * int(rng.integers(10, 20))
    return ff.Experiment.of(world, *software, state=start, duration=steps * DT, dt=DT, record_dt=20 * DT)


def along_a_line(rng: np.random.Generator, one: ff.Spacecraft, two: ff.Spacecraft, reach: float) -> dict[str, ff.State]:
    """The second one faces the first, outside its reach or inside; nothing turns, ever."""
    speed, apart = float(rng.uniform(0.05, 0.3)), float(rng.uniform(1.01, 1.1)) * reach
    quat = np.append(0.0, np.cross(LINE, _direction(rng)))
    quat /= np.linalg.norm(quat)  # half a turn about an axis across the line
    place = _port(one, one.at_rest()) + apart * LINE
    second = dataclasses.replace(two.at_rest(), quat_NB=quat)
    second = dataclasses.replace(second, p_NB=place - _port(two, second), v=np.append(speed * LINE, np.zeros(3)))
    return {"two": second}


def at_random(rng: np.random.Generator, one: ff.Spacecraft, two: ff.Spacecraft, reach: float) -> dict[str, ff.State]:
    """Somewhere just outside of the reach, turning."""
    first, second = (
        dataclasses.replace(craft.at_rest(), v=rng.normal(size=craft.layout.nv) * 0.02) for craft in (one, two)
    )
    place = _port(one, first) - _port(two, second) + 1.02 * reach * _direction(rng)
    return {"one": first, "two": dataclasses.replace(second, p_NB=place)}


def _port(craft: ff.Spacecraft, state: ff.State) -> np.ndarray:
    return np.asarray(ff.dynamics.inertial_frame_pose(craft, state, "port").p)


def _direction(rng: np.random.Generator) -> np.ndarray:
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


FAMILY = Family("latches, some along one axis", 10, 60, draw)
