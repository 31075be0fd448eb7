"""Wheels that reach the limit of their momentum or of their torque."""

from __future__ import annotations

import numpy as np

import freefloat as ff
from audit_families.drawing import MODES, draw_boom, draw_hub, draw_place, draw_start, softened, with_link
from audit_families.family import Family
from audit_families.software import SpinWheels

DT = 0.01  # [s]


def draw_craft(structure: int, rng: np.random.Generator, softness: float) -> ff.Spacecraft:
    """One to three wheels on the hub; in some structures one of them on a link, or a boom."""
    craft = draw_hub(rng, "hub")
    if structure % 3 == 1:
        craft = with_link(rng, craft, "link", "base")
    if structure % 3 == 2:
        craft = craft.mount(draw_boom(rng, MODES[0], softness), name="boom", to="base", at=draw_place(rng))
    for k in range(1 + structure % 4):
        body = "link" if structure % 3 == 1 and k == 0 else "base"
        full = float(rng.uniform(0.1, 0.5))
        craft = craft.with_wheel(
            f"wheel{k}", body=body, axis=rng.normal(size=3), inertia=0.02, max_torque=0.4, max_momentum=full
        )
    return craft


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """A torque that fills them within the run, held by sampled software or given at every instant."""
    craft = softened(rng, lambda rng, softness: draw_craft(structure, rng, softness), DT)
    period = (None, 0.01, 0.1, 0.5)[structure % 4]
    software = SpinWheels(
        float(rng.uniform(0.0, 0.5)), float(rng.uniform(0.3, 0.6)), craft.layout.wheels, period=period
    )
    start = draw_start(rng, craft, 0.1)
    v = np.array(start.v)
    v[list(craft.layout.wheel_velocities)] = 0.0
    steps = 50 * int(rng.integers(6, 12))
    state = ff.State(start.p_NB, start.quat_NB, start.q, v)
    return ff.Experiment.of(craft, software, state=state, duration=steps * DT, dt=DT, record_dt=10 * DT)


FAMILY = Family("saturated wheels", 10, 60, draw)
