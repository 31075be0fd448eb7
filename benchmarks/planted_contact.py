"""A contact between two spacecraft on two ideal robots, and what can be planted in it, for `planted_defects`."""

# pyright: reportMissingImports=false

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.hil import DelayCompensation, read_log, rehearse
from freefloat.hil.defects import DefectiveFacility, Defects
from freefloat.hil.judging import Evidence

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.judged_rehearsals import (
    DAMPING,
    DELAY,
    SERVICER_ROBOT,
    STIFFNESS,
    contact_rehearsal,
    jointed_cell,
    simulated,
    with_declared,
)
from support.rehearsing import cell_contact

_NOISE = 0.05  # [N], of a force sample


class NoisyCell(type(jointed_cell())):
    """Robots whose wrist sensors are noisy, by a seed."""

    def draw_noise(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed)

    def _make_reading(self, cycle: int, readings: Any) -> Any:
        found = super()._make_reading(cycle, readings)
        noisy = {
            name: replace(reading, wrench=reading.wrench + _NOISE * self._draw.standard_normal(6))
            for name, reading in found.robots.items()
        }
        self._last = replace(found, robots=noisy)
        return self._last


@cache
def sound_contact(seed: int) -> Evidence:
    """Evidence of a sound contact."""
    return contact_evidence(seed, {})


def contact_evidence(seed: int, planted: Mapping[str, Any]) -> Evidence:
    """Evidence of a contact with something planted: settings of it, of what is declared, or `Defects`."""
    given = dict(planted)
    delay = given.pop("delay", DELAY)
    like = jointed_cell()
    wrench = cell_contact(given.pop("stiffness", STIFFNESS), given.pop("damping", DAMPING), both=True)
    cell = NoisyCell(like.robots, wrench, delay=delay)
    cell.draw_noise(seed)
    compensation = given.pop("compensation", DelayCompensation())
    if "made_up" in given:
        compensation = DelayCompensation(given.pop("made_up"))
    declared = {name: 1.0 / given.pop(name) for name in ("mass", "inertia") if name in given}
    if "inertia" in declared:
        declared["inertia"] = np.full(3, declared["inertia"])
    facility = DefectiveFacility(cell, Defects(robot=SERVICER_ROBOT, **given)) if given else cell
    made = contact_rehearsal(compensation=compensation)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cycles.log"
        run = rehearse(made, facility, log=path)
        log = read_log(path)
    evidence = Evidence(made, run, log, made.experiment.world, simulated=simulated())
    return with_declared(evidence, **declared) if declared else evidence
