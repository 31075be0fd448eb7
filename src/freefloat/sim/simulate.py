"""`simulate` and its like: from an experiment to a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from freefloat import engine as compiler
from freefloat.model import Spacecraft, World
from freefloat.sim.compiling_line import making_shown
from freefloat.sim.experiment import Experiment, require_choice
from freefloat.sim.record.record_size import MOST_BYTES
from freefloat.sim.record.run import Run
from freefloat.sim.rollout import Engine, FixedSteps, Grid, grid, with_audited_instants
from freefloat.sim.run_driver import RunDriver
from freefloat.sim.system.input_ports import tabulate
from freefloat.sim.system.system import SystemState
from freefloat.values.precision import require_float64
from freefloat.values.progress import Progress


def simulate(
    what: Experiment | Spacecraft | World,
    *parts: Any,
    engine: Engine = "native",
    progress: Progress | None = None,
    check: bool = True,
    accuracy: bool | Mapping[str, float] | None = None,
    most_bytes: float = MOST_BYTES,
    **options: Any,
) -> Run:
    """Simulate an experiment, or a spacecraft or world with parts and the options of `Experiment.of`, and audit it.

    `engine="jax"` runs the same functions under plain `jax.jit`, to compare. A run that would record more than
    `most_bytes` is refused before it begins. `accuracy`: True measures it by the run at half the step, False does not,
    None does where that takes less than two seconds; a mapping, `{"attitude_deg": 0.01}`, in place of `dt` chooses the
    step (`Experiment.of`).
    A run that becomes non-finite, is interrupted, or violates a balance raises `RunFailed` with the run so far in
    `.run`; with `check=False` it is returned, and its `status` and `audit` say what happened.
    """
    require_float64()
    require_choice("engine", engine, ("native", "jax"))
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function of (seconds done, seconds in all), got {progress!r}.")
    if not (accuracy is None or isinstance(accuracy, (bool, Mapping))):
        raise ValueError(
            f"accuracy must be True, False, or what is wanted, {{'attitude_deg': 0.01}}, got {accuracy!r}."
        )
    if not isinstance(what, (Experiment, Spacecraft, World)):
        raise ValueError(f"simulate needs an Experiment, or a Spacecraft or World and parts, got {what!r}.")
    if isinstance(what, Experiment) and (parts or options or isinstance(accuracy, Mapping)):
        raise ValueError("An experiment has its parts and options already. Change it by dataclasses.replace.")
    with making_shown(progress is None), compiler.code_of(f"the simulation of '{_name_of(what)}'"):
        wanted = accuracy if isinstance(accuracy, Mapping) else None
        experiment = what if isinstance(what, Experiment) else Experiment.of(what, *parts, accuracy=wanted, **options)
        system, loop = experiment.begin()
        driver = RunDriver(experiment, system, loop, experiment.start, engine, progress)
        driver.accuracy = None if isinstance(accuracy, Mapping) else accuracy
        return driver.run(check=check, most_bytes=most_bytes)


def _name_of(what: Experiment | Spacecraft | World) -> str:
    """What people call it: the scenario, else the spacecraft."""
    if isinstance(what, Spacecraft):
        return what.name
    names = ", ".join((what.world if isinstance(what, Experiment) else what).names)
    return str(what.scenario.get("scenario", names)) if isinstance(what, Experiment) else names


def continue_run(
    run: Run,
    experiment: Experiment,
    *,
    duration: float | None = None,
    engine: Engine = "native",
    progress: Progress | None = None,
    check: bool = True,
    accuracy: bool | None = None,
    most_bytes: float = MOST_BYTES,
) -> Run:
    """Go on from the end of a run, for `duration` or as long as the experiment says [s].

    Everything is taken up where it was: time, memories, delay lines, noise, the adaptive step. The experiment must be
    the one that made the run, or have the same structure; user code is not in the file.
    """
    require_float64()
    if run.saved is None:
        raise ValueError("This run has no saved state to go on from. Run it again with this version.")
    with making_shown(progress is None), compiler.code_of(f"the simulation of '{_name_of(experiment)}'"):
        system, fresh = experiment.begin()
        loop, start = run.saved.restore(fresh, experiment.start)
        more = dataclasses.replace(experiment, duration=experiment.duration if duration is None else duration)
        driver = RunDriver(more, system, loop, start, engine, progress, run.saved.adaptive_step)
        driver.accuracy = accuracy
        return driver.run(check=check, most_bytes=most_bytes)


def simulate_by(
    experiment: Experiment,
    loop: SystemState,
    steps: FixedSteps,
    *,
    progress: Progress | None = None,
    check: bool = True,
) -> Run:
    """Simulate an experiment, begun already, by steps of the caller; recorded and audited as ever."""
    require_float64()
    driver = RunDriver(experiment, experiment.system, loop, experiment.start, "native", progress)
    driver.own_steps, driver.accuracy = steps, False
    return driver.run(check=check, most_bytes=MOST_BYTES)


def run_of_records(experiment: Experiment, records: SystemState, status: str) -> Run:
    """The audited run of an experiment that another driver has stepped, as far as it came.

    `records` are its states at the start, after every `recorded_every(experiment)` ticks, and at the end; what came
    in on the way are the experiment's inputs.
    """
    require_float64()
    system, loop = experiment.begin()
    return RunDriver(experiment, system, loop, experiment.start, "native", None).run_of(records, status)


def recorded_every(experiment: Experiment) -> int:
    """Ticks between the states that a run is made and audited of."""
    return with_audited_instants(grid(experiment.duration, experiment.dt, experiment.record_dt)).record_every


def states_until(experiment: Experiment, ticks: int, total: int) -> SystemState:
    """States at the start, after every recorded interval, and at the end."""
    system, loop = experiment.begin()
    every = recorded_every(experiment)
    steps = FixedSteps(system, loop, tabulate(system, experiment.inputs, 0, total), 0, total, "native")
    kept = [jax.tree.map(lambda x: np.asarray(x)[None], loop), *steps.blocks(loop, Grid(ticks, every))]
    return jax.tree.map(lambda *parts: np.concatenate(parts), *kept)
