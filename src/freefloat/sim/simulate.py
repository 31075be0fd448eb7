"""`simulate`: from a spacecraft and its laws to a run."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, Protocol, runtime_checkable

import jax
import numpy as np

from freefloat.model import Spacecraft, State
from freefloat.model.drawing import drawing
from freefloat.model.start_state import Joints
from freefloat.sim.audit import Accuracy, audit
from freefloat.sim.books import sizes
from freefloat.sim.divergence import explain_divergence, first_non_finite
from freefloat.sim.law_description import describe_system
from freefloat.sim.linear_domain import domain_warnings
from freefloat.sim.recording import Recorder
from freefloat.sim.resolution import UnresolvedWarning, unresolved
from freefloat.sim.rollout import (
    AdaptiveCount,
    Engine,
    Grid,
    ToleranceError,
    adaptive_steps,
    fixed_step,
    fixed_steps,
    grid,
    with_audited_instants,
)
from freefloat.sim.run import COMPLETED, DIVERGED, Run, RunFailed, versions
from freefloat.sim.step_error import of_fixed_steps
from freefloat.sim.system import System, SystemState, begin
from freefloat.values.checks import require_quantity
from freefloat.values.precision import require_float64

Progress = Callable[[float, float], None]  # (seconds simulated, seconds in all)


@runtime_checkable
class Watcher(Protocol):
    """A progress report that also wants to see the states as they come, for a live view."""

    def __call__(self, done: float, total: float) -> None:
        """Seconds simulated, seconds in all."""
        ...

    def watch(self, system: System, block: SystemState) -> None:
        """The latest recorded block (leading axis: time). May raise KeyboardInterrupt to stop the run."""
        ...


def simulate(
    craft: Spacecraft,
    *laws: Any,
    duration: float,
    state: State | None = None,
    joints: Joints | None = None,
    joints_deg: Joints | None = None,
    dt: float = 0.01,
    record_dt: float | None = None,
    integrator: Literal["rk4", "adaptive"] = "rk4",
    tolerance: float = 1e-10,
    engine: Engine = "native",
    scenario: dict[str, Any] | None = None,
    progress: Progress | None = None,
    check: bool = True,
) -> Run:
    """Simulate a spacecraft under laws and audit the result.

    Start from `state`, or at rest with the joints at `joints` [rad, m] or `joints_deg` (degrees for revolute joints,
    metres for the others): all in order, or some by name, `joints_deg={"elbow": 30.0}`, the others at zero.
    `engine="jax"` runs the same functions under plain `jax.jit`, to compare.
    A run that becomes non-finite, is interrupted, or violates a balance raises `RunFailed` with the run so far in
    `.run`; with `check=False` it is returned, and its `status` and `audit` say what happened.
    """
    require_float64()
    require_choice("integrator", integrator, ("rk4", "adaptive"))
    require_choice("engine", engine, ("native", "jax"))
    require_quantity("tolerance", tolerance, "", above=0.0)
    if not isinstance(craft, Spacecraft):
        raise ValueError(f"simulate needs a Spacecraft first, then laws, got {craft!r}.")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function of (seconds done, seconds in all), got {progress!r}.")
    asked = grid(duration, dt, record_dt)
    timing = with_audited_instants(asked)
    start = _start(craft, state, joints, joints_deg)
    system, loop = begin(System(craft=craft, laws=laws, dt=dt), start)
    fixed = integrator == "rk4"
    too_fast = unresolved(system, start) if fixed else ()
    for sentence in too_fast:
        warnings.warn(sentence, UnresolvedWarning, stacklevel=2)
    scene = drawing(craft)
    # Compiled first: a law with faulty channels is refused before the run.
    watch = Recorder(system, loop, start, engine)
    count = AdaptiveCount()
    advance = fixed_step(system, loop, engine) if fixed else None

    def drive(loop: SystemState, timing: Grid, count: AdaptiveCount) -> Iterator[SystemState]:
        if advance is not None:
            return fixed_steps(advance, loop, timing)
        return adaptive_steps(system, loop, timing, engine, tolerance, count)

    records, status = _collect(system, loop, drive(loop, timing, count), duration, progress)
    if status == DIVERGED:
        every_step = Grid(steps=timing.record_every, record_every=1)
        again = partial(drive, timing=every_step, count=AdaptiveCount())
        status = explain_divergence(system, records, again, engine, fixed=fixed)
    data = watch.dataset(records)
    with np.errstate(over="ignore", invalid="ignore"):  # a run that diverged is judged too
        motion = sizes(data, float(craft.mass))
        if advance is not None:
            accuracy = of_fixed_steps(advance, watch.dataset, records, data, motion, dt)
        else:
            accuracy = Accuracy.of_adaptive(tolerance, count.accepted)
        judged = audit(data, accuracy, motion, (*too_fast, *domain_warnings(craft, data)))
    data = data.isel(time=slice(None, None, asked.record_every // timing.record_every))
    described = scenario or {"spacecraft": craft.name, "duration": duration, "dt": dt, "integrator": integrator}
    run = Run(
        data=data,
        audit=judged,
        status=status,
        scenario=described,
        versions=versions(),
        scene=scene,
        description=describe_system(system, start),
    )
    if check:
        _raise_on_failure(run)
    return run


def require_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Refuse a choice that is not one of the known ones."""
    if value not in known:
        raise ValueError(f"There is no {name} '{value}'. Choose one of: {', '.join(known)}.")


def _start(craft: Spacecraft, state: State | None, joints: Joints | None, joints_deg: Joints | None) -> State:
    if state is None:
        return craft.at_rest(joints=joints, joints_deg=joints_deg)
    if joints is not None or joints_deg is not None:
        raise ValueError("Give either state, or joints or joints_deg, not both.")
    start: State = jax.tree.map(lambda x: np.asarray(x, dtype=float), craft.require_state(state))
    return dataclasses.replace(start, quat_NB=start.quat_NB / np.linalg.norm(start.quat_NB))


def _collect(
    system: System, loop: SystemState, blocks: Any, duration: float, progress: Progress | None
) -> tuple[SystemState, str]:
    """Gather recorded blocks until the end, a number that is not finite, or an interruption."""
    dt = system.dt
    kept, status = [jax.tree.map(lambda x: np.asarray(x)[None], loop)], COMPLETED
    try:
        for block in blocks:
            bad = first_non_finite(block)
            kept.append(jax.tree.map(lambda x, bad=bad: x[:bad], block))
            if bad is not None:
                status = DIVERGED
                break
            if progress:
                progress(float(block.tick[-1]) * dt, duration)
            if isinstance(progress, Watcher):
                progress.watch(system, block)
    except KeyboardInterrupt:
        status = f"interrupted after {float(kept[-1].tick[-1]) * dt:g} s of {duration:g} s"
    except ToleranceError as error:
        status = str(error)
    return jax.tree.map(lambda *parts: np.concatenate(parts), *kept), status


def _raise_on_failure(run: Run) -> None:
    if not run.completed:
        raise RunFailed(f"The run stopped: {run.status}. What was recorded until then is in the exception's .run.", run)
    if not run.audit.holds:
        lines = "\n".join(f"  {entry}" for entry in run.audit.violations)
        also = "".join(f"\n{condition}" for condition in run.conditions)
        message = f"The audit is violated, so the result cannot be trusted:\n{lines}\n({run.audit.reason}){also}"
        raise RunFailed(message, run)
