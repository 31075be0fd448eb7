"""Pushes of a given duration, anywhere on the clock, that declare when they begin and end."""

from __future__ import annotations

import numpy as np

import freefloat as ff
from audit_families.drawing import MODES, draw_boom, draw_hub, draw_place, draw_speed, draw_start, softened, with_link
from audit_families.family import Family

DT = 0.01  # [s]
WITHIN_ONE_STEP = (6, 7, 8)  # structures


def draw_craft(structure: int, rng: np.random.Generator, softness: float) -> ff.Spacecraft:
    """Rigid, or with a link or a boom."""
    craft = draw_hub(rng, "hub")
    if structure % 3 == 1:
        craft = with_link(rng, craft, "link", "base")
    if structure % 3 == 2:
        craft = craft.mount(draw_boom(rng, MODES[structure % 4], softness), name="boom", to="base", at=draw_place(rng))
    return craft.with_frame("nozzle", body=craft.body_names[-1] if structure % 2 else "base", at=draw_place(rng))


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """One to three pushes, from a twentieth of a step to many steps long; in some structures all within one step."""
    craft = softened(rng, lambda rng, softness: draw_craft(structure, rng, softness), DT)
    steps, pushes = 20 * int(rng.integers(10, 20)), []
    first = float(rng.uniform(0.0, 0.9)) * steps * DT
    for k in range(3 if structure in WITHIN_ONE_STEP else 1 + structure % 3):
        start, length = float(rng.uniform(0.0, 0.9)) * steps * DT, float(10.0 ** rng.uniform(-1.3, 1.5)) * DT
        if structure in WITHIN_ONE_STEP:
            start, length = first + float(rng.uniform(0.0, 0.9)) * DT, float(rng.uniform(0.01, 0.3)) * DT
        wrench = rng.normal(size=6) * float(rng.uniform(0.1, 10.0))
        pushes.append(ff.effects.WrenchPulse("nozzle", wrench, start, start + length, name=f"push{k}"))
    speed = draw_speed(rng) * int(rng.integers(2))
    state = draw_start(rng, craft, speed)
    return ff.Experiment.of(craft, *pushes, state=state, duration=steps * DT, dt=DT, record_dt=20 * DT)


FAMILY = Family("pushes between ticks", 10, 60, draw)
