"""Contact so stiff that it begins and ends within a step, and booms that would cross one another in a step."""

from __future__ import annotations

import dataclasses

import numpy as np

import freefloat as ff
from audit_families import contacts
from audit_families.drawing import draw_body
from audit_families.family import Family
from freefloat.effects.contact import CompliantContact, ContactCapsule, HuntCrossley, KelvinVoigt

DT = 0.1  # [s]
RADIUS, LENGTH = 0.02, 2.0  # of a boom [m]
CROSSING = (10, 11)  # structures
ACROSS = ff.Pose.from_rpy_deg((0.0, 90.0, 0.0))


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """As `contacts`, but stiff; or two booms that cross."""
    return draw_crossing(structure, rng) if structure in CROSSING else contacts.draw(structure, rng, brief=True)


def draw_crossing(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """One boom comes at a speed at which a step takes it from one side of the other to beyond it; both turn then."""
    one, two = (
        ff.Spacecraft.from_base(name, **draw_body(rng, float(rng.uniform(5.0, 50.0))) | {"com": np.zeros(3)})
        for name in ("one", "two")
    )
    speed, stiffness = float(rng.uniform(0.5, 1.5)), float(10.0 ** rng.uniform(5.0, 7.0))
    law = KelvinVoigt(stiffness) if structure == 10 else HuntCrossley(10.0 * stiffness, 0.1)
    aside, ahead = rng.uniform(-0.3, 0.3, 2), float(rng.uniform(0.3, 0.9))
    comes = dataclasses.replace(
        two.at_rest(), p_NB=np.array([aside[0], ahead, aside[1]]), v=np.array([0.0, -speed, 0.0, 0.0, 0.0, 0.0])
    )
    contact = CompliantContact(
        "one.base", ContactCapsule(RADIUS, LENGTH), "two.base", ContactCapsule(RADIUS, LENGTH), law, at_b=ACROSS
    )
    world = ff.World(one=one, two=two)
    return ff.Experiment.of(world, contact, state={"two": comes}, duration=20 * DT, dt=DT, record_dt=DT)


FAMILY = Family("contact within a step", 12, 110, draw)
