"""Spacecraft that hardly move: everything in their balances is rounding."""

from __future__ import annotations

import dataclasses

import numpy as np

import freefloat as ff
from audit_families.drawing import MODES, draw_boom, draw_hub, draw_place, draw_start, softened, with_link
from audit_families.family import Family
from audit_families.software import HoldJoints, SpinWheels, SwingJoint

DT = 0.01  # [s]


def draw_craft(structure: int, rng: np.random.Generator, softness: float) -> ff.Spacecraft:
    """Links, a boom in every second structure, wheels in every third."""
    craft = draw_hub(rng, "station", mass=(1e3, 1e5))
    for k in range(1 + structure % 3):
        craft = with_link(rng, craft, f"link{k}", f"link{k - 1}" if k else "base")
    if structure % 2:
        craft = craft.mount(draw_boom(rng, MODES[structure % 4], softness), name="boom", to="base", at=draw_place(rng))
    for k in range(3 if structure % 3 == 0 else 0):
        craft = craft.with_wheel(f"wheel{k}", body="base", axis=rng.normal(size=3), inertia=0.05)
    return craft


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """At rest but for rounding, or at 1e-16 to 1e-9 of an ordinary speed; held by software that finds nothing to do."""
    craft = softened(rng, lambda rng, softness: draw_craft(structure, rng, softness), DT)
    speed = float(rng.choice([0.0, 10.0 ** rng.uniform(-16.0, -9.0)]))
    start = draw_start(rng, craft, speed)
    turning = np.zeros(craft.layout.nv)
    wheels = list(craft.layout.wheel_velocities)
    turning[wheels] = rng.uniform(-300.0, 300.0, len(wheels)) * rng.integers(2)
    start = dataclasses.replace(start, v=start.v * np.isin(np.arange(len(turning)), wheels, invert=True) + turning)
    joints, software = craft.layout.moving_joints, []
    if structure in (1, 2, 5, 8):
        at = np.asarray(start.q)[list(craft.layout.joint_positions)]
        q = np.asarray(start.q).copy()
        q[list(craft.layout.joint_positions)] = 0.0 * at
        start = dataclasses.replace(start, q=q)
        software.append(HoldJoints(50.0, 20.0, 10.0, 0, joints, period=0.1 if structure == 5 else None))
    if structure in (4, 7):
        software.append(SwingJoint(0.0, 1.0, joints[0]))
    if craft.wheels:
        software.append(SpinWheels(1.0, 0.0, craft.layout.wheels))
    steps = 20 * int(rng.integers(10, 30))
    return ff.Experiment.of(craft, *software, state=start, duration=steps * DT, dt=DT, record_dt=20 * DT)


FAMILY = Family("nearly at rest", 10, 60, draw)
