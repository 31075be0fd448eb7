"""From a scenario to its run: simulate, describe, save, and only then judge."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.engine import code_of
from freefloat.report.folder import finish_folder, save_run
from freefloat.scenarios.catalogue import find
from freefloat.scenarios.rehearsed import compared_with_simulation
from freefloat.scenarios.scenario import ScenarioError
from freefloat.scenarios.settings import settings_of
from freefloat.sim import Run, RunFailed
from freefloat.sim.interruption import heard_interrupts
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

_PAGE_BYTES = 10_000_000  # room for what stands beside the record: page, settings, summary

# Opens a report of progress for a piece of work with this title.
Report = Callable[[str], AbstractContextManager["Progress | None"]]


def build_experiment(scenario: Scenario) -> Experiment:
    """What a scenario simulates; numbers that pass one by one, and overflow together, get a sentence."""
    try:
        return scenario.build()
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
    """The run of a scenario with everything that its page will tell; of a failed one too."""
    from freefloat.sim import simulate

    try:
        with code_of(f"the simulation of '{scenario.name}'"):  # what building it compiles too
            experiment = dataclasses.replace(build_experiment(scenario), scenario=scenario.as_dict())
            run = simulate(experiment, progress=progress, engine=engine, most_bytes=most_bytes, accuracy=accuracy)
        return _described(scenario, variant, run)
    except RunFailed as failure:
        told = _described(scenario, variant, failure.run)
        raise RunFailed(str(failure), told, interrupted=failure.interrupted) from None


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
    """The run of a scenario in a facility with everything that its page will tell, and the simulation beside it."""
    from freefloat.hil import rehearse
    from freefloat.sim import simulate

    with code_of(f"the rehearsal of '{scenario.name}'"):
        asked = described_rehearsal(scenario)
        run = rehearse(asked, facility, realtime=realtime, log=log, progress=progress, watch=watch)
        plain = dataclasses.replace(scenario.build(), scenario=scenario.as_dict())
        simulated = simulate(plain, check=False, accuracy=False)
    beside = compared_with_simulation(run, simulated)
    told = dataclasses.replace(run.description, tables=(*run.description.tables, beside))
    return _described(scenario, variant, dataclasses.replace(run, description=told)), simulated


def described_rehearsal(scenario: RehearsedScenario) -> Rehearsal:
    """A scenario's rehearsal, whose run will say which scenario it is."""
    rehearsal = scenario.rehearsal()
    return dataclasses.replace(
        rehearsal, experiment=dataclasses.replace(rehearsal.experiment, scenario=scenario.as_dict())
    )


def judge(scenario: Scenario, run: Run, simulate: Callable[[str, str], Run]) -> Run:
    """The run with its claims; `simulate` makes the other runs that they need, by scenario and variant."""
    if run.variant == CUSTOM or not run.completed:
        return run
    others = {name: simulate(*_place(scenario, name)) for name in scenario.needed_runs(run.variant)}
    claims = scenario.claims(run.variant, run, others)
    return run.with_claims([claim.as_dict(scenario.name, run.variant) for claim in claims])


@dataclass(frozen=True)
class Kept:
    """What became of a run that was saved."""

    run: Run
    summary: dict[str, Any]
    faults: tuple[str, ...]  # why the run failed, or why it could not be judged


def perform(
    scenario: Scenario,
    variant: str,
    folder: Path,
    engine: Engine,
    report: Report,
    most_bytes: float = MOST_BYTES,
    *,
    accuracy: bool | None = None,
) -> Kept:
    """Simulate a scenario into a folder, which is claimed first. The run is on disk before anything judges it.

    It stays there whatever happens; a signal stops what can be done again, never what cannot. `accuracy` as in
    `simulate`; it is not measured of other runs that claims need.
    """

    def simulate(scenario: Scenario, variant: str, most: float, measured: bool | None = False) -> Run:
        signals.release()
        with report(f"{scenario.name} {variant}") as progress:
            return simulate_variant(scenario, variant, progress, engine, most, accuracy=measured)

    faults: list[str] = []
    with claimed_folder(folder), heard_interrupts() as signals:
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
        _save(run, folder)
        try:
            signals.release()
            run = judge(scenario, run, lambda name, other: simulate(find(name).variants()[other], other, most_bytes))
        except Exception as error:  # whatever a claim does, the run is worth more
            faults.append(f"The run is saved, but it could not be judged: {type(error).__name__}: {error}")
        except KeyboardInterrupt:
            faults.append("The run is saved, but judging it was interrupted.")
        signals.hold()
        return Kept(run, finish_folder(run, folder, faults), tuple(faults))


def _save(run: Run, folder: Path) -> None:
    """Keep the run; where its folder cannot take it any more, in another place."""
    try:
        save_run(run, folder)
    except OSError as error:
        try:
            elsewhere = run.save(Path(tempfile.mkdtemp(prefix="freefloat-")) / "run.nc")
        except OSError:
            raise error from None
        raise OSError(f"{folder} cannot be written ({error.strerror or error}). The run is in {elsewhere}.") from error


def _place(scenario: Scenario, name: str) -> tuple[str, str]:
    """Scenario and variant of a needed run."""
    owner, _, variant = name.rpartition("/")
    return owner or scenario.key(), variant


def _described(scenario: Scenario, variant: str, run: Run) -> Run:
    settings: Mapping[str, Any] = {"scenario": scenario.name, "variant": variant, **run.scenario}
    run = dataclasses.replace(run, scenario=dict(settings))
    return dataclasses.replace(run, description=describe(scenario, run))


def describe(scenario: Scenario, run: Run) -> Description:
    """What the scenario knows about a run, added to what the simulation told."""
    return dataclasses.replace(
        run.description,
        title=scenario.title,
        summary=(scenario.__doc__ or "").strip().split("\n")[0],
        source=scenario.source,
        notes=(scenario.note,) if scenario.note else (),
        outcome=scenario.outcome(run) if run.completed else "",
        figures=(*run.description.figures, *scenario.figures),
        scatters=tuple(scatter.plot(run) for scatter in scenario.scatters),
        units={setting.path: setting.unit for setting in settings_of(scenario) if setting.unit},
    )
