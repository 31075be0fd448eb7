"""Runs a scenario: simulate, describe and save first, then judge."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.engine import code_of
from freefloat.report.figures import is_curve, opening_figures
from freefloat.report.folder import finish_folder, save_run
from freefloat.scenarios.catalogue import find
from freefloat.scenarios.rehearsed import compared_with_simulation
from freefloat.scenarios.scenario import ScenarioError
from freefloat.scenarios.settings import settings_of
from freefloat.sim import Run, RunFailed
from freefloat.sim.interruption import catch_interrupts
from freefloat.sim.record.description import Figure
from freefloat.sim.record.record_size import MOST_BYTES, RecordTooLarge, in_words
from freefloat.sim.record.run import CUSTOM
from freefloat.values.folders import claimed_folder, free_bytes

if TYPE_CHECKING:
    from freefloat.hil import Facility, Rehearsal
    from freefloat.hil.rehearse import Watch
    from freefloat.scenarios.rehearsed import RehearsedScenario
    from freefloat.scenarios.scenario import Scenario
    from freefloat.sim import Experiment
    from freefloat.sim.record.description import Description
    from freefloat.sim.rollout import Engine
    from freefloat.values.progress import Progress

_MOST_OWN = 3  # plots of the channels of a user's own software
_PAGE_BYTES = 10_000_000  # room for the files besides the record: page, settings, summary

# Opens a progress report for a piece of work with this title.
Report = Callable[[str], AbstractContextManager["Progress | None"]]


def build_experiment(scenario: Scenario) -> Experiment:
    """Build the experiment of a scenario, with its settings; an arithmetic error is reported as a ScenarioError."""
    try:
        return dataclasses.replace(scenario.build(), scenario=scenario.as_dict())
    except ArithmeticError as error:
        raise ScenarioError(
            f"Scenario '{scenario.name}' cannot be computed with these settings ({type(error).__name__}: {error}). "
            "Some number is far too large or too small."
        ) from error


def simulate_variant(
    scenario: Scenario,
    variant: str = CUSTOM,
    progress: Progress | None = None,
    engine: Engine = "native",
    most_bytes: float = MOST_BYTES,
    *,
    accuracy: bool | None = None,
) -> Run:
    """Simulate a variant; the run, also that of a RunFailed, carries everything that its page shows."""
    from freefloat.sim import simulate

    try:
        with code_of(f"the simulation of '{scenario.name}'"):  # building also compiles code
            experiment = build_experiment(scenario)
            run = simulate(experiment, progress=progress, engine=engine, most_bytes=most_bytes, accuracy=accuracy)
        return _with_own_channels_first(experiment, _with_description(scenario, variant, run))
    except RunFailed as failure:
        run = _with_description(scenario, variant, failure.run)
        raise RunFailed(str(failure), run, interrupted=failure.interrupted) from None


def rehearse_variant(
    scenario: RehearsedScenario,
    variant: str,
    facility: Facility,
    *,
    realtime: bool = False,
    log: Path | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> tuple[Run, Run]:
    """Rehearse a variant in a facility; returns its run, complete for its page, and the plain simulation."""
    from freefloat.hil import rehearse
    from freefloat.sim import simulate

    with code_of(f"the rehearsal of '{scenario.name}'"):
        rehearsal = described_rehearsal(scenario)
        run = rehearse(rehearsal, facility, realtime=realtime, log=log, progress=progress, watch=watch)
        simulated = simulate(build_experiment(scenario), check=False, accuracy=False)
    comparison = compared_with_simulation(run, simulated)
    description = dataclasses.replace(run.description, tables=(*run.description.tables, comparison))
    return _with_description(scenario, variant, dataclasses.replace(run, description=description)), simulated


def described_rehearsal(scenario: RehearsedScenario) -> Rehearsal:
    """Rehearsal of a scenario, with the settings of the scenario attached to its run."""
    rehearsal = scenario.rehearsal()
    return dataclasses.replace(
        rehearsal, experiment=dataclasses.replace(rehearsal.experiment, scenario=scenario.as_dict())
    )


def judge_run(scenario: Scenario, run: Run, simulate: Callable[[str, str], Run]) -> Run:
    """Run with its claims added; `simulate` makes the other runs that they need, by scenario and variant."""
    if run.variant == CUSTOM or not run.completed:
        return run
    others = {name: simulate(*_scenario_and_variant(scenario, name)) for name in scenario.needed_runs(run.variant)}
    claims = scenario.claims(run.variant, run, others)
    return run.with_claims([claim.as_dict(scenario.name, run.variant) for claim in claims])


@dataclass(frozen=True)
class SavedRun:
    """A saved run, its summary, and why it failed or could not be judged."""

    run: Run
    summary: dict[str, Any]
    faults: tuple[str, ...]  # why the run failed, or why it could not be judged


def run_scenario(
    scenario: Scenario,
    variant: str,
    folder: Path,
    engine: Engine,
    report: Report,
    most_bytes: float = MOST_BYTES,
    *,
    accuracy: bool | None = None,
) -> SavedRun:
    """Simulate a scenario into a folder, which is reserved first. The run is saved before it is judged.

    The saved run stays whatever happens; an interrupt stops only work that can be repeated. `accuracy` as in
    `simulate`; it is not measured for the other runs that claims need.
    """

    def simulate(scenario: Scenario, variant: str, most: float, measured: bool | None = False) -> Run:
        signals.release_signals()
        with report(f"{scenario.name} {variant}") as progress:
            return simulate_variant(scenario, variant, progress, engine, most, accuracy=measured)

    faults: list[str] = []
    with claimed_folder(folder), catch_interrupts() as signals:
        room = float(free_bytes(folder) - _PAGE_BYTES)
        try:
            run = simulate(scenario, variant, min(most_bytes, max(room, 1.0)), accuracy)
        except RunFailed as failure:
            run, faults = failure.run, [str(failure)]
        except RecordTooLarge as error:
            if error.size <= room:
                raise
            raise OSError(
                f"{error.words}, and there is room for {in_words(room)} in {folder}. Choose another --out."
            ) from None
        _save_or_rescue(run, folder)
        try:
            signals.release_signals()
            run = judge_run(
                scenario, run, lambda name, other: simulate(find(name).variants()[other], other, most_bytes)
            )
        except Exception as error:  # whatever fails in a claim, the run must be kept
            faults.append(f"The run is saved, but it could not be judged: {type(error).__name__}: {error}")
        except KeyboardInterrupt:
            faults.append("The run is saved, but judging it was interrupted.")
        signals.hold_signals()
        return SavedRun(run, finish_folder(run, folder, faults), tuple(faults))


def _save_or_rescue(run: Run, folder: Path) -> None:
    """Save the run; if its folder cannot be written, save it in a temporary folder and raise an error with the path."""
    try:
        save_run(run, folder)
    except OSError as error:
        try:
            elsewhere = run.save(Path(tempfile.mkdtemp(prefix="freefloat-")) / "run.nc")
        except OSError:
            raise error from None
        raise OSError(f"{folder} cannot be written ({error.strerror or error}). The run is in {elsewhere}.") from error


def _scenario_and_variant(scenario: Scenario, name: str) -> tuple[str, str]:
    """Scenario and variant of another run that claims need."""
    owner, _, variant = name.rpartition("/")
    return owner or scenario.key(), variant


def _with_description(scenario: Scenario, variant: str, run: Run) -> Run:
    settings: Mapping[str, Any] = {"scenario": scenario.name, "variant": variant, **run.scenario}
    run = dataclasses.replace(run, scenario=dict(settings))
    return dataclasses.replace(run, description=describe(scenario, run))


def _with_own_channels_first(experiment: Experiment, run: Run) -> Run:
    """The run with the channels of a user's own software as its first plots, unless plots were chosen."""
    if run.description.figures:
        return run
    own = [
        system.full_name(channel.name, system.craft_index(software))
        for system in (experiment.system,)
        for software in system.software
        if not type(software).__module__.startswith("freefloat.")
        for channel in software.channels()
    ]
    first = [Figure(name) for name in own if is_curve(run, name)][:_MOST_OWN]
    if not first:
        return run
    usual = [figure for figure in opening_figures(run) if figure not in first]
    figures = (*first, *usual)[: max(len(usual), _MOST_OWN + 1)]
    return dataclasses.replace(run, description=dataclasses.replace(run.description, figures=figures))


def describe(scenario: Scenario, run: Run) -> Description:
    """Description of a run: that of the simulation, with title, notes, figures and units of the scenario."""
    summary = (scenario.__doc__ or "").strip().split("\n")[0]
    return dataclasses.replace(
        run.description,
        title=scenario.title,
        summary="" if summary.rstrip(".") == scenario.title else summary,
        source=scenario.source,
        notes=(scenario.note,) if scenario.note else (),
        outcome=scenario.outcome(run) if run.completed else "",
        figures=(*run.description.figures, *scenario.figures),
        scatters=tuple(scatter.plot(run) for scatter in scenario.scatters),
        units={setting.path: setting.unit for setting in settings_of(scenario) if setting.unit},
    )
