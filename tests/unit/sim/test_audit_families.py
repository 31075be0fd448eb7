"""Ordinary runs of every family are left alone: a few of those that benchmarks/audit_sensitivity.py draws.

Seeds and structures are those that were refused before their rounding was known: light hubs, booms that start from rest
on a prescribed joint, latches along a line, contact that is over within a step.
"""

import sys
import warnings
from pathlib import Path

import pytest

import freefloat as ff

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from audit_families import family

SAMPLES = {
    "prescribed_booms": [(3, seed) for seed in range(8)],
    "tiny_hubs": [(3, seed) for seed in range(8)],
    "latches": [(0, seed) for seed in range(3)],
    "brief_contacts": [(2, seed) for seed in range(4)],
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
