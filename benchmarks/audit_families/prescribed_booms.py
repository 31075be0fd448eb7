"""Flexible booms on joints whose rates are prescribed."""

from __future__ import annotations

import numpy as np

import freefloat as ff
from audit_families.drawing import MODES, draw_boom, draw_hub, draw_place, draw_speed, draw_start, softened, with_link
from audit_families.family import Family
from audit_families.software import HoldJoints, SpinWheels, SwingJoint

DT = 0.005  # [s]


def draw_craft(structure: int, rng: np.random.Generator, softness: float) -> ff.Spacecraft:
    """A boom on a joint of the hub, or at the end of one or two links; in some structures a panel or a wheel."""
    craft, links = draw_hub(rng, "hub"), structure % 3
    for k in range(links):
        kind = "prismatic" if structure == 7 and k == 0 else "revolute"
        craft = with_link(rng, craft, f"link{k}", f"link{k - 1}" if k else "base", kind)
    boom, at = draw_boom(rng, MODES[structure % 4], softness), draw_place(rng)
    if links:
        craft = craft.mount(boom, name="boom", to=f"link{links - 1}", at=at)
    else:
        craft = craft.mount(boom, name="boom", joint="revolute", axis=rng.normal(size=3), at=at)
    if structure in (3, 8):
        craft = craft.mount(draw_boom(rng, MODES[2], softness), name="panel", to="base", at=draw_place(rng))
    if structure in (4, 9):
        craft = craft.with_wheel("wheel", body="base", axis=rng.normal(size=3), inertia=0.02)
    return craft


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """The first joint swings as prescribed, continuously or sampled; the second one is held by a spring."""
    speed = draw_speed(rng)
    craft = softened(rng, lambda rng, softness: draw_craft(structure, rng, softness), DT, speed)
    joints, period = craft.layout.moving_joints, (None, None, 0.05, None, 0.02)[structure % 5]
    software: list[ff.Software] = [SwingJoint(0.5 * speed, float(rng.uniform(0.3, 2.0)), joints[0], period=period)]
    if len(joints) == 2:
        limit = float(rng.uniform(0.1, 0.6)) * speed**2
        software.append(HoldJoints(float(rng.uniform(0.0, 5.0)), float(rng.uniform(0.0, 2.0)), limit, 1, joints[1:]))
    if craft.wheels:
        software.append(SpinWheels(float(rng.uniform(0.0, 1.0)), 0.01 * speed**2, ("wheel",)))
    steps = 20 * int(rng.integers(10, 30))
    start = draw_start(rng, craft, speed, drift=float(rng.choice([0.0, 0.0, 1.0, 7500.0])))
    start = craft.at_rest() if rng.integers(2) else start
    return ff.Experiment.of(craft, *software, state=start, duration=steps * DT, dt=DT, record_dt=20 * DT)


FAMILY = Family("flexible booms on prescribed joints", 10, 220, draw)
