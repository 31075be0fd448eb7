"""Hubs much lighter than the beams that they carry."""

from __future__ import annotations

import numpy as np

import freefloat as ff
from audit_families.drawing import MODES, draw_body, draw_boom, draw_place, draw_speed, draw_start, softened, with_link
from audit_families.family import Family
from audit_families.software import HoldJoints

DT = 0.002  # [s]


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """A hub of 1/30 to 1/1000 of the mass of a beam; in some structures two beams, or a link between them."""
    speed = draw_speed(rng)

    def make(rng: np.random.Generator, softness: float) -> ff.Spacecraft:
        mass = float(rng.uniform(2.0, 50.0))
        light = mass / float(np.exp(rng.uniform(*np.log((30.0, 1000.0)))))
        craft = ff.Spacecraft.from_base("hub", **draw_body(rng, light, size=0.1))
        to = "base"
        if structure % 3 == 1:
            craft, to = with_link(rng, craft, "link", "base"), "link"
        craft = craft.mount(
            draw_boom(rng, MODES[structure % 4], softness, mass), name="beam", to=to, at=draw_place(rng, 0.1)
        )
        if structure % 3 == 2:
            craft = craft.mount(
                draw_boom(rng, MODES[2], softness, mass), name="other", to="base", at=draw_place(rng, 0.1)
            )
        return craft

    craft = softened(rng, make, DT, speed)
    software = []
    if structure in (4, 7):
        software.append(HoldJoints(rng.uniform(0, 5.0), rng.uniform(0, 2.0), 0.5 * speed**2, 0, ("link.joint",)))
    steps = 20 * int(rng.integers(10, 30))
    start = draw_start(rng, craft, speed, drift=float(rng.choice([0.0, 1.0])))
    return ff.Experiment.of(craft, *software, state=start, duration=steps * DT, dt=DT, record_dt=20 * DT)


FAMILY = Family("hubs lighter than 1/30 of their beams", 10, 60, draw)
