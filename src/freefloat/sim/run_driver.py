"""One run of an experiment: steps, records, audit, accuracy. `simulate` and its relatives are thin shells around it."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

from freefloat.model import State
from freefloat.model.drawing import drawing
from freefloat.model.start_state import starts_beyond_limits
from freefloat.sim.audit.accuracy import RunAccuracy, quantity
from freefloat.sim.audit.audit import Audit, IntegratorLoss, audit
from freefloat.sim.audit.balances import motion_sizes
from freefloat.sim.audit.divergence import explain_divergence, first_non_finite
from freefloat.sim.audit.force_resolution import unresolved_forces, with_unresolved_forces
from freefloat.sim.audit.frequencies import UnresolvedWarning, unresolved_rates
from freefloat.sim.audit.linear_domain import domain_warnings, effect_warnings
from freefloat.sim.audit.step_error import loss_of_fixed_steps
from freefloat.sim.audit.step_halving import HALVES, ComparedRun, compare_runs, halved_records
from freefloat.sim.audit.step_order import ORDER, measured_order
from freefloat.sim.audit.unseen_overlaps import overlap_warnings
from freefloat.sim.audit.wheel_limits import wheel_limit_entries
from freefloat.sim.events.clearance_watch import clearance_warnings, stop_of
from freefloat.sim.events.mesh_clearance import fill_mesh_distances
from freefloat.sim.events.run_events import Events, run_events
from freefloat.sim.experiment import Experiment
from freefloat.sim.interruption import Interruptions, catch_interrupts
from freefloat.sim.record.part_description import describe_system
from freefloat.sim.record.record_size import require_size
from freefloat.sim.record.recording import Recorder
from freefloat.sim.record.run import COMPLETED, DIVERGED, INTERRUPTED, Run, RunFailed, versions
from freefloat.sim.record.saved_state import SavedState
from freefloat.sim.rollout import (
    AdaptiveCount,
    Engine,
    FixedSteps,
    Grid,
    ToleranceError,
    adaptive_steps,
    grid,
    with_audited_instants,
)
from freefloat.sim.system.input_ports import tabulate
from freefloat.sim.system.system import System, SystemState
from freefloat.sim.unit_warnings import UnitWarning, unit_warnings
from freefloat.values.labelled import LabelledArrays
from freefloat.values.progress import Progress

_EXTRA = 2.0  # [s] that measuring the accuracy may take where it was not requested


@runtime_checkable
class Watcher(Protocol):
    """A progress report that also receives the recorded states during the run, for a live view."""

    def __call__(self, done: float, total: float) -> None:
        """Report the simulated time and the total time [s]."""
        ...

    def watch(self, system: System, block: SystemState) -> None:
        """Receive the latest recorded block (leading axis: time). May raise KeyboardInterrupt to stop the run."""
        ...


class StartWarning(UserWarning):
    """A joint starts beyond its limits."""


class RunDriver:
    """One run of an experiment, beginning from one of its states."""

    def __init__(
        self,
        experiment: Experiment,
        system: System,
        state: SystemState,
        start: tuple[State, ...],
        engine: Engine,
        progress: Progress | None,
        adaptive_step: float = 0.0,
    ) -> None:
        self.experiment, self.system, self.state, self.start = experiment, system, state, start
        self.engine: Engine = engine
        self.progress = progress
        self.fixed, self.first = experiment.integrator == "rk4", int(state.tick)
        self.asked = grid(experiment.duration, system.dt, experiment.record_dt)
        self.timing = with_audited_instants(self.asked)
        self.count = AdaptiveCount(step=adaptive_step)
        self.own_steps: FixedSteps | None = None  # in place of those that are compiled here
        self.accuracy: bool | None = None  # whether it is measured; None: where it takes little time
        self.took = 0.0  # [s] for the steps

    def run(self, *, check: bool, most_bytes: float) -> Run:
        """Simulate, record and audit; a signal stops the run, and what was simulated until then is kept."""
        with catch_interrupts() as signals:
            self._prepare(most_bytes)
            run = self._run(signals)
            if check:
                _raise_on_failure(run, interrupted=signals.pending)
        return run

    def _run(self, signals: Interruptions) -> Run:
        signals.hold_signals()
        records, status = self._collect(signals)
        if status == DIVERGED:
            again = partial(self._record_blocks, timing=Grid(self.timing.record_every, 1), count=AdaptiveCount())
            watch = self._watch
            status = explain_divergence(
                self.system, records, watch.table, watch.first, again, self.engine, fixed=self.fixed
            )
        run, data = self._finish(records, status)
        return dataclasses.replace(run, accuracy=self._measure(run, records, data, signals))

    def run_of(self, records: SystemState, status: str) -> Run:
        """The audited run of states that another driver has stepped through."""
        self._prepare(most_bytes=np.inf)
        run, _ = self._finish(records, status, end=True)
        return dataclasses.replace(
            run, accuracy=RunAccuracy("Accuracy was not measured: the steps were not made here.")
        )

    def _prepare(self, most_bytes: float) -> None:
        """Give warnings that are possible before the run, and compile; a part with faulty channels raises an error."""
        system, steps = self.system, self.timing.steps
        too_fast = unresolved_rates(system, self.start) if self.fixed else ()
        beyond = self._starts_beyond_limits()
        slips = () if self.first else unit_warnings(system, self.start)  # a run that goes on was looked at before
        for found, kind in ((too_fast, UnresolvedWarning), (beyond, StartWarning), (slips, UnitWarning)):
            for sentence in found:
                warnings.warn(sentence, kind, stacklevel=4)
        self._start_warnings = (*too_fast, *beyond, *slips)
        since = max(self.first - 1, 0)  # a record has the inputs of the step before it
        table = tabulate(system, self.experiment.inputs, since, self.first + steps - since)
        self._watch = Recorder(system, self.state, self.start, table, since, self.engine)
        require_size(self.asked.records + 1, self._watch.numbers, most_bytes)
        self._fixed_steps = self.own_steps
        if self.fixed and self.own_steps is None:
            self._fixed_steps = FixedSteps(system, self.state, self.experiment.inputs, self.first, steps, self.engine)
            # One step, for nothing: code is made when it is first called, and only the steps shall be timed.
            next(self._fixed_steps.blocks(self.state, Grid(1, 1)))

    def _finish(self, records: SystemState, status: str, *, end: bool = False) -> tuple[Run, LabelledArrays]:
        """The run at the instants that were asked for and, with `end`, its last state; and channels of all records."""
        system, data = self.system, self._dataset(records)
        judged = self._judge(self._watch, records, data, self._start_warnings)
        shown = self._asked_records(records)
        shown[-1] |= end or status == COMPLETED
        last = jax.tree.map(lambda x: np.asarray(x)[-1], records)
        run = Run(
            recorded=data.isel(time=np.flatnonzero(shown)),
            audit=judged,
            status=status,
            scenario=self.experiment.description(),
            versions=versions(),
            scene=drawing(system.world),
            description=describe_system(system, self.start),
            events=Events(run_events(system, records, self.experiment.start)),
            saved=SavedState.of(last, self.start, self.count.step),
        )
        return run, data

    def _asked_records(self, records: SystemState) -> np.ndarray:
        """Flags of the records that lie at the instants that were asked for."""
        return (np.asarray(records.tick) - self.first) % self.asked.record_every == 0

    def _measure(self, run: Run, records: SystemState, data: LabelledArrays, signals: Interruptions) -> RunAccuracy:
        """The accuracy of a run, or why it was not measured; a signal ends the measurement, and the run is kept."""
        if reason := self._reason_not_measured(run, signals):
            return RunAccuracy(f"Accuracy was not measured: {reason}.")
        interrupted = RunAccuracy("Accuracy was not measured: it was interrupted.")
        steps = self._fixed_steps
        assert steps is not None
        try:
            finer = halved_records(steps, records, self.timing, HALVES, lambda: not signals.pending)
            if finer is None:
                return interrupted
            with np.errstate(over="ignore", invalid="ignore"):
                order = measured_order(steps, records, finer)
                other = ComparedRun(finer, self._dataset(finer), run_events(self.system, finer, self.experiment.start))
                shown = self._asked_records(records)
                shown[-1] = True
                here = ComparedRun(records, data, run.events)
                order_text = "" if order is None else f"; the error is of order {order:.2g}"
                reason = f"Measured by the run at half the step, {self.system.dt / HALVES:g} s{order_text}."
                return compare_runs(self.system.world, here, other, shown, order or self._usual_order(run), reason)
        except KeyboardInterrupt:
            return interrupted

    def _usual_order(self, run: Run) -> float:
        """The order of RK4; half of it if contact, events or limits make corners inside steps."""
        corners = self.system.world.has_events or self.system.interactions or run.conditions
        return ORDER / 2.0 if corners else ORDER

    def _dataset(self, records: SystemState) -> LabelledArrays:
        data = self._watch.dataset(records)
        fill_mesh_distances(self.system, data)
        return data

    def _reason_not_measured(self, run: Run, signals: Interruptions) -> str:
        """Reason why the accuracy of a run is not measured; empty if it is."""
        if self.accuracy is False:
            return "accuracy=False"
        if self._fixed_steps is None:
            return "adaptive steps follow their tolerance; compare with a tighter one"
        if not (run.completed or run.stopped) or len(run.recorded["time"].values) < 2:
            return "the run did not come to its end"
        if signals.pending:
            return "it was interrupted"
        if self.accuracy is None and self.engine == "jax":
            return "plain JAX would compile again; accuracy=True measures it all the same"
        if self.accuracy is None and HALVES * self.took > _EXTRA:
            more = quantity(HALVES * self.took, "s")
            return f"it takes {more} more; accuracy=True (freefloat run --accuracy) measures it"
        return ""

    def _starts_beyond_limits(self) -> tuple[str, ...]:
        if self.first:  # a run that goes on was checked before
            return ()
        pairs = zip(self.system.world.crafts, self.start, strict=True)
        return tuple(sentence for craft, state in pairs for sentence in starts_beyond_limits(craft, state))

    def _record_blocks(self, state: SystemState, timing: Grid, count: AdaptiveCount) -> Iterator[SystemState]:
        if self._fixed_steps is not None:
            return self._fixed_steps.blocks(state, timing)
        inputs, tolerance = self.experiment.inputs, self.experiment.tolerance
        return adaptive_steps(self.system, state, inputs, timing, self.engine, tolerance, count)

    def _collect(self, signals: Interruptions) -> tuple[SystemState, str]:
        """Recorded states until the end, a number that is not finite, or an interruption; and the status of the run."""
        dt, since, duration = self.system.dt, self.first * self.system.dt, self.experiment.duration
        kept, status = [jax.tree.map(lambda x: np.asarray(x)[None], self.state)], COMPLETED
        since_clock = time.perf_counter()
        try:
            for block in (blocks := self._record_blocks(self.state, self.timing, self.count)):
                bad = first_non_finite(block)
                kept.append(jax.tree.map(lambda x, bad=bad: x[:bad], block))
                if bad is not None:
                    status = DIVERGED
                    break
                self._report(block, float(block.tick[-1]) * dt - since)
                if (stop := stop_of(self.system, self.state, block)) is not None:
                    at, status = stop
                    kept[-1:] = self._blocks_until(kept, at, blocks)
                    break
                signals.obey()
        except KeyboardInterrupt:
            status = f"{INTERRUPTED}{float(kept[-1].tick[-1]) * dt - since:g} s of {duration:g} s"
        except ToleranceError as error:
            status = str(error)
        self.took = time.perf_counter() - since_clock
        return jax.tree.map(lambda *parts: np.concatenate(parts), *kept), status

    def _blocks_until(self, kept: list[SystemState], at: int, blocks: Iterator[SystemState]) -> list[SystemState]:
        """The last block, and the next one if needed, up to the first record from number `at` on that was asked for."""
        every, before = self.asked.record_every // self.timing.record_every, sum(len(block.tick) for block in kept[:-1])
        end = at + 1 + (-(before + at)) % every
        following = next(blocks, None) if end > len(kept[-1].tick) else None
        last = [kept[-1]] if following is None else [kept[-1], following]
        ends = end - np.cumsum([0, *(len(block.tick) for block in last[:-1])])
        return [jax.tree.map(lambda x, n=n: x[:n], block) for block, n in zip(last, ends, strict=True)]

    def _report(self, block: SystemState, done: float) -> None:
        if self.progress:
            self.progress(done, self.experiment.duration)
        if isinstance(self.progress, Watcher):
            self.progress.watch(self.system, block)

    def _judge(self, watch: Recorder, records: SystemState, data: Any, start_warnings: tuple[str, ...]) -> Audit:
        world = self.system.world
        prefixes = tuple(world.prefix(c) for c in range(len(world.crafts)))
        masses = {prefix: float(craft.mass) for prefix, craft in zip(prefixes, world.crafts, strict=True)}
        unseen = ()
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverged is judged too
            motion = motion_sizes(data, masses)
            if self._fixed_steps is not None:
                steps = self._fixed_steps
                accuracy = loss_of_fixed_steps(steps, watch.dataset, records, data, motion, self.system.dt, prefixes)
                unseen = unresolved_forces(steps, records, motion, self.system.dt, prefixes)
            else:
                accuracy = IntegratorLoss.of_adaptive(self.experiment.tolerance, self.count.accepted)
            outside = [s for c, craft in enumerate(world.crafts) for s in domain_warnings(craft, data, prefixes[c])]
            outside += clearance_warnings(self.system, records)
            outside += overlap_warnings(self.system, records) if self._fixed_steps is not None else ()
            outside += effect_warnings(self.system, data)
            judged = audit(data, accuracy, motion, prefixes, (*start_warnings, *outside))
            limits = tuple(wheel_limit_entries(self.system, data))
            judged = dataclasses.replace(judged, entries=(*judged.entries, *limits))
            return with_unresolved_forces(judged, unseen, self.system.dt)


def _raise_on_failure(run: Run, *, interrupted: bool) -> None:
    """Raise RunFailed if the run or its audit failed, or if a signal came after the last step of a whole run."""
    if not run.completed and not run.stopped:
        message = f"The run stopped: {run.status}. What was recorded until then is in the exception's .run."
    elif not run.audit.holds:
        lines = "\n".join(f"  {entry}" for entry in run.audit.violations)
        also = "".join(f"\n{condition}" for condition in run.conditions)
        message = f"The audit is violated, so the result cannot be trusted:\n{lines}\n({run.audit.reason}){also}"
    elif interrupted:
        message = "Interrupted after the last step: the run is whole, and in the exception's .run."
    else:
        return
    raise RunFailed(message, run, interrupted=interrupted)
