"""Ordinary runs of every family are left alone: a few of those that benchmarks/audit_sensitivity.py draws.

Seeds and structures are those that were refused before their rounding was known: light hubs, booms that start from rest
on a prescribed joint, latches along a line, contact that is over within a step, pushes shorter than half a step or just
longer, which half steps did not halve; balls in orbit that nothing turns.
"""

import dataclasses
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import freefloat as ff
from freefloat.effects.contact import CompliantContact, HuntCrossley, KelvinVoigt, Sphere

sys.path.append(str(Path(__file__).parents[4] / "benchmarks"))

from audit_families import family

SAMPLES = {
    "prescribed_booms": [(3, seed) for seed in range(8)],
    "tiny_hubs": [(3, seed) for seed in range(8)],
    "latches": [(0, seed) for seed in range(3)],
    "brief_contacts": [(2, seed) for seed in range(4)] + [(10, 0)],
    "pulses": [(6, 0), (1, 106)],
    "orbiting_groups": [(10, 0), (12, 0)],
    "contacts": [(5, seed) for seed in range(2)],
    "full_wheels": [(3, seed) for seed in range(2)],
    "near_rest": [(3, seed) for seed in range(4)],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_an_ordinary_run_is_not_refused(name):
    for structure, seed in SAMPLES[name]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a boom may bend more than its linear model is for
            run = ff.simulate(family(name).experiment(structure, seed), check=False)
        assert run.completed
        assert run.audit.holds, f"{name}, structure {structure}, seed {seed}\n{run.audit}"


@pytest.mark.parametrize("law", [KelvinVoigt(1e7), HuntCrossley(1e10, 0.0)], ids=lambda law: type(law).__name__)
def test_an_elastic_contact_within_a_step_is_judged_by_what_it_turned_over(law):
    """Head-on: no record sees energy stored or work done, and nothing moves about its own centre of mass."""
    ball = ff.Spacecraft.from_base("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    towards, speed = np.array([0.36, 0.48, 0.8]), 0.5  # [m/s]
    comes = dataclasses.replace(
        ball.at_rest(), p_NB=towards * (0.2 + 0.09 * speed), v=np.append(-speed * towards, [0, 0, 0])
    )
    contact = CompliantContact("one.base", Sphere(0.1), "two.base", Sphere(0.1), law)
    world = ff.World(one=ball, two=ball)
    run = ff.simulate(world, contact, state={"one": comes}, duration=0.4, dt=0.02, record_dt=0.02)
    assert run.audit.holds
    assert np.max(run["interactions.stored"].values) == 0.0
    # Equal balls exchange their velocities; half the energy is stored when both are as fast.
    assert run["interactions.turnover"].values[-1] == pytest.approx(0.5 * 0.5 * 2.0 * speed**2, rel=0.05)
    np.testing.assert_allclose(run["two.base.velocity"].values[-1], -speed * towards, rtol=1e-8)
