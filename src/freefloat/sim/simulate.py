"""`simulate` and related functions: from an experiment to a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import jax
import numpy as np

from freefloat import engine as compiler
from freefloat.model import Part, Spacecraft, World
from freefloat.model.start_state import Joints
from freefloat.sim.compiling_line import show_on_terminal
from freefloat.sim.experiment import Experiment, Integrator, States, experiment_from, require_choice
from freefloat.sim.record.record_size import MOST_BYTES
from freefloat.sim.record.run import Run
from freefloat.sim.rollout import Engine, FixedSteps, Grid, grid, with_audited_instants
from freefloat.sim.run_driver import RunDriver
from freefloat.sim.system.input_ports import Signal, tabulate
from freefloat.sim.system.system import SystemState
from freefloat.values.precision import require_float64
from freefloat.values.progress import Progress


def simulate(
    what: Experiment | Spacecraft | World,
    *parts: Part,
    duration: float | None = None,
    state: States | None = None,
    joints: Joints | None = None,
    joints_deg: Joints | None = None,
    dt: float | None = None,
    record_dt: float | None = None,
    integrator: Integrator = "rk4",
    tolerance: float = 1e-10,
    inputs: Mapping[str, Signal] | None = None,
    vary: str | Sequence[str] = "all",
    engine: Engine = "native",
    progress: Progress | None = None,
    check: bool = True,
    accuracy: bool | Mapping[str, float] | None = None,
    most_bytes: float = MOST_BYTES,
) -> Run:
    """Simulate an experiment, or a spacecraft or world with parts and the options of `Experiment.of`, and audit it.

    An experiment has its parts and options already: then only engine, progress, check, accuracy and most_bytes apply.
    A run that becomes non-finite, is interrupted, or violates a balance raises `RunFailed` with the run so far in
    `.run`; with `check=False` it is returned, and its `status` and `audit` say what happened.

    duration: length of the run [s]; needed with a spacecraft or a world.
    state: state at the start; of a world states by name, the others begin at rest. None: at rest.
    joints: positions of the joints at the start [rad, m], all in order or some by name; in place of `state`.
    joints_deg: the same in degrees for revolute joints, in metres for the others.
    dt: length of a tick, and of a fixed step [s]; None: 0.01 s.
    record_dt: time between two records [s]; None: about 2000 records.
    integrator: "rk4" for fixed steps, "adaptive" for steps that follow `tolerance`.
    tolerance: permitted error of an adaptive step, relative to 1 + size, in SI units.
    inputs: signals by port: an array over time, a function of the tick, `Steps`, or one value.
    vary: numbers that may change without compiling again: "all", "nothing", or some by dotted path.
    engine: "native" for compiled code; "jax" runs the same functions under plain `jax.jit`, to compare.
    progress: function of the simulated time and the total time [s], called now and then.
    check: whether a run that fails raises an error.
    accuracy: True measures the accuracy by the run at half the step, False does not, None does if that takes less than
        two seconds. A mapping, `{"attitude_deg": 0.01}`, in place of `dt` chooses the step (`Experiment.of`).
    most_bytes: largest permitted size of the record [B]; a larger one raises an error before the run.
    """
    arguments = locals()
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
    wanted = accuracy if isinstance(accuracy, Mapping) else None
    with show_on_terminal(progress is None), compiler.code_of(f"the simulation of '{_name_of(what)}'"):
        experiment = experiment_from(what, parts, {**arguments, "accuracy": wanted})
        system, begun = experiment.begin()
        driver = RunDriver(experiment, system, begun, experiment.start, engine, progress)
        driver.accuracy = None if isinstance(accuracy, Mapping) else accuracy
        return driver.run(check=check, most_bytes=most_bytes)


def _name_of(what: Experiment | Spacecraft | World) -> str:
    """Name of an experiment for reports: its scenario, else its spacecraft."""
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
    """Simulate on from the end of a run, and audit the new part.

    Everything continues where it was: time, memories, delay lines, noise, the adaptive step. The experiment must be the
    one that made the run, or have the same structure; user code is not in the file.

    duration: length of the new part [s]; None: that of the experiment.
    engine, progress, check, accuracy, most_bytes: as in `simulate`.
    """
    require_float64()
    if run.saved is None:
        raise ValueError("This run has no saved state to go on from. Run it again with this version.")
    with show_on_terminal(progress is None), compiler.code_of(f"the simulation of '{_name_of(experiment)}'"):
        system, fresh = experiment.begin()
        state, start = run.saved.restore(fresh, experiment.start)
        more = dataclasses.replace(experiment, duration=experiment.duration if duration is None else duration)
        driver = RunDriver(more, system, state, start, engine, progress, run.saved.adaptive_step)
        driver.accuracy = accuracy
        return driver.run(check=check, most_bytes=most_bytes)


def simulate_by(
    experiment: Experiment,
    state: SystemState,
    steps: FixedSteps,
    *,
    progress: Progress | None = None,
    check: bool = True,
) -> Run:
    """Simulate an experiment from its begun state by steps of the caller, and audit it like any run."""
    require_float64()
    driver = RunDriver(experiment, experiment.system, state, experiment.start, "native", progress)
    driver.own_steps, driver.accuracy = steps, False
    return driver.run(check=check, most_bytes=MOST_BYTES)


def run_of_records(experiment: Experiment, records: SystemState, status: str) -> Run:
    """The audited run of an experiment that another driver has stepped, to the end or until it stopped.

    `records` are its states at the start, after every `recorded_every(experiment)` ticks, and at the end; the inputs
    on the way are those of the experiment.
    """
    require_float64()
    system, state = experiment.begin()
    return RunDriver(experiment, system, state, experiment.start, "native", None).run_of(records, status)


def recorded_every(experiment: Experiment) -> int:
    """Number of ticks between the states from which a run is made and audited."""
    return with_audited_instants(grid(experiment.duration, experiment.dt, experiment.record_dt)).record_every


def states_until(experiment: Experiment, ticks: int, total: int) -> SystemState:
    """States at the start, after every recorded interval, and at the end."""
    system, state = experiment.begin()
    every = recorded_every(experiment)
    steps = FixedSteps(system, state, tabulate(system, experiment.inputs, 0, total), 0, total, "native")
    kept = [jax.tree.map(lambda x: np.asarray(x)[None], state), *steps.blocks(state, Grid(ticks, every))]
    return jax.tree.map(lambda *parts: np.concatenate(parts), *kept)
