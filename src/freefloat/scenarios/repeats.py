"""A rehearsal repeated with other seeds: how often is it a go? One run has one noise and one bias."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.scenarios.scenario import ScenarioError
from freefloat.values.rates import Rate
from freefloat.values.verdicts import Verdict

if TYPE_CHECKING:
    from freefloat.hil import Facility
    from freefloat.hil.judging import Evidence
    from freefloat.scenarios.rehearsed import RehearsedScenario
    from freefloat.sim import Run

Wrap = Callable[["Facility"], "Facility"]


def judge_seeds(
    scenario: RehearsedScenario, seeds: Iterable[int], simulated: Run | None = None, wrap: Wrap | None = None
) -> list[Verdict]:
    """Verdicts of one scenario with each of the seeds of its cell; `wrap` puts another facility around the cell."""
    from freefloat.sim import simulate

    if not any(field.name == "seed" for field in dataclasses.fields(scenario)):
        raise ScenarioError(f"Scenario '{scenario.name}' has no setting 'seed': it is the same each time.")
    beside = simulated or simulate(scenario.build())
    return [judge_scenario(dataclasses.replace(scenario, seed=seed), beside, wrap) for seed in seeds]


def judge_scenario(scenario: RehearsedScenario, simulated: Run, wrap: Wrap | None = None) -> Verdict:
    """Verdict of one rehearsal in lockstep, without a folder."""
    from freefloat.hil.judging import judge_rehearsal

    return judge_rehearsal(rehearsed_evidence(scenario, simulated, wrap))


def rehearsed_evidence(scenario: RehearsedScenario, simulated: Run, wrap: Wrap | None = None) -> Evidence:
    """Evidence of one rehearsal in lockstep, in the scenario's own cell; `wrap` puts another facility around it."""
    from freefloat.hil import read_log, rehearse
    from freefloat.hil.judging import Evidence

    made, cell = scenario.rehearsal(), scenario.facility()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cycles.log"
        run = rehearse(made, wrap(cell) if wrap else cell, log=path)
        log = read_log(path)
    claims = tuple(scenario.mission_claims(run, simulated))
    return Evidence(made, run, log, scenario.declared_world(), simulated, claims, scenario.acceptance())


def go_rate(verdicts: Iterable[Verdict]) -> Rate:
    """How often a rehearsal was a go, with exact bounds."""
    return Rate.of(verdict.go for verdict in verdicts)
