"""A part of `benchmarks/planted_defects.py`: planted defects are named, and five sound rehearsals are five go's."""

import sys
from pathlib import Path

import pytest

from freefloat.hil.judging import judge_rehearsal
from freefloat.scenarios.goddard import GoddardRehearsal
from freefloat.scenarios.repeats import go_rate, judge_seeds

pytest.importorskip("mujoco")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from planted_defects import DEFECTS, table_row

SEEDS = range(5)
CHOSEN = {  # defect of the contact, in a size that all seeds must find
    "delay not made up for": 25.0,
    "more made up for than there is, of 20 ms": 1.2,
    "one robot late by cycles of 1 ms": 20,
    "sensor gain too large": 1.2,
    "sensor turned about y": 3.0,
    "force bias along x": 2.0,
    "client of another mass than declared": 1.2,
    "contact in the cell stiffer": 4.0,
    "frame of a robot away from where it is said to be": 10.0,
}


def planted(name, scenario="contact"):
    return next(one for one in DEFECTS if (one.scenario, one.name) == (scenario, name))


def test_there_are_many_defects_and_no_two_are_the_same() -> None:
    assert len({(one.scenario, one.name) for one in DEFECTS}) == len(DEFECTS) >= 40


@pytest.mark.parametrize("name", CHOSEN)
def test_a_defect_is_named(name) -> None:
    defect = planted(name)
    verdict = judge_rehearsal(defect.plant(CHOSEN[name], 0))
    assert [found.name for found in verdict.against if found.name.startswith(defect.named)]


def test_the_smallest_size_is_found_from_below() -> None:
    """A gain of 1.02 is within the limit of 5 %; the first size beyond it is found."""
    row = table_row(planted("sensor gain too large"), 1)
    assert row["tried"].startswith("1.02: 0/1")
    assert row["named by"].startswith("sensor gain of robot servicer-robot")


@pytest.mark.parametrize("variant", ["25-kg", "50-kg"])
def test_sound_rehearsals_are_a_go_with_any_seed(variant) -> None:
    verdicts = judge_seeds(GoddardRehearsal.variants()[variant], SEEDS)
    assert go_rate(verdicts).successes == len(SEEDS), [verdict.reasons(2) for verdict in verdicts]
