"""The compiled code of a campaign: the start of a run from its numbers, and one step of it with its metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat import engine
from freefloat.campaign.metrics import Meters, Metric
from freefloat.campaign.numbers import Numbers
from freefloat.campaign.reductions import ReductionState
from freefloat.sim import Experiment, System, SystemState, begin, step
from freefloat.sim.events.held_start import UnknownStart
from freefloat.sim.record.recording import channels_of
from freefloat.sim.record.run_channels import run_channels
from freefloat.sim.rollout import Grid
from freefloat.sim.system.input_ports import tabulate
from freefloat.values import record
from freefloat.values.arrays import Numeric
from freefloat.values.tracing import cond

COMPLETED, DIVERGED, STOPPED, REFUSED = 0, 1, 2, 3
STATUS = ("completed", "diverged", "stopped", "refused")


@record
class RunState:
    """State of a run that is passed from step to step."""

    system_state: SystemState
    kept: tuple[ReductionState, ...]  # of each metric
    status: Numeric  # int32: COMPLETED so far, DIVERGED or STOPPED
    ended: Numeric  # when it diverged or stopped [s]; infinite while it goes on


@dataclass(frozen=True)
class Rules:
    """Everything that determines the compiled code of a campaign; equal ones share their code."""

    numbers: Numbers
    meters: Meters
    every: int  # ticks between two samples
    table: dict[str, np.ndarray]  # inputs from outside at every tick

    def inputs(self, tick: Any) -> dict[str, Any]:
        """Inputs from outside at a tick, by port."""
        return {port: jnp.asarray(rows)[tick] for port, rows in self.table.items()}

    def start(self, row: Any, run: Any) -> RunState:
        """State of a run at tick zero, with its first sample taken."""
        system, states = self.numbers.system_and_start(row, run)
        _, state = begin(system, states, self.inputs(0))
        kept = self.meters.begin(self.channel_values(system, state, states))
        return RunState(state, kept, jnp.zeros((), jnp.int32), jnp.asarray(jnp.inf))

    def advance(self, run: RunState, row: Any, number: Any) -> RunState:
        """State of a run one tick later."""
        system, states = self.numbers.system_and_start(row, number)
        state = step(system, run.system_state, self.inputs(run.system_state.tick))
        if self.every == 1:
            return self._take_sample(run, system, state, states)
        due = state.tick % self.every == 0
        kept, status, ended = cond(
            due,
            lambda: _parts(self._take_sample(run, system, state, states)),
            lambda: (run.kept, run.status, run.ended),
        )
        return RunState(state, kept, status, ended)

    def advance_in_parts(self, state: SystemState, row: Any, number: Any, parts: Any) -> SystemState:
        """State one part of a tick later, without metrics: the audit of a replayed run repeats it with finer steps."""
        system, _ = self.numbers.system_and_start(row, number)
        return step(system, state, self.inputs(state.tick // parts), parts)

    def _take_sample(self, run: RunState, system: System, state: SystemState, states: Any) -> RunState:
        """State of a run with one more sample, unless the run has ended before."""
        goes_on, time = run.status == COMPLETED, state.tick * system.dt
        sound = jnp.all(jnp.stack([jnp.all(jnp.isfinite(x)) for s in state.states for x in jax.tree.leaves(s)]))
        stopped = state.clearances.stopped > 0 if state.clearances else jnp.asarray(False)
        counted = self.meters.update(run.kept, self.channel_values(system, state, states))
        kept = jax.tree.map(lambda new, old: jnp.where(goes_on & sound, new, old), counted, run.kept)
        ends = jnp.where(~sound, DIVERGED, jnp.where(stopped, STOPPED, COMPLETED)).astype(jnp.int32)
        status = jnp.where(goes_on, ends, run.status).astype(jnp.int32)
        return RunState(state, kept, status, jnp.where(goes_on & (status != COMPLETED), time, run.ended))

    def channel_values(self, system: System, state: SystemState, states: Any) -> dict[str, Any]:
        """Values of every channel by name; compiled code leaves out those that no metric uses."""
        channels = run_channels(system, state, states, self.inputs(jnp.maximum(state.tick - 1, 0)))
        return {"time": state.tick * system.dt} | {channel.name: value for channel, value in channels}


def _parts(run: RunState) -> tuple[Any, ...]:
    return run.kept, run.status, run.ended


class CampaignProgram:
    """Compiled runs of one experiment with varied numbers: many side by side or one by one, with the same result."""

    def __init__(self, experiment: Experiment, numbers: Numbers, metrics: Sequence[Metric], timing: Grid) -> None:
        system, state = experiment.begin()
        channels = channels_of(system, state, experiment.start)
        table = tabulate(system, experiment.inputs, 0, timing.steps)
        self.channels, self.timing, self.metrics = channels, timing, tuple(metrics)
        self.rules = Rules(numbers, Meters(metrics, channels), timing.record_every, table)
        self._example = numbers.nominal, np.zeros((), np.int32)
        self._begun: Any = None
        self._programs: dict[str, engine.Compiled] = {}
        self._check()

    def _check(self) -> None:
        """Compile the start of a run, which checks every metric; if it needs known numbers, runs start one by one."""
        try:
            self._begun = engine.compile(self.rules.start, *self._example)
        except Exception as error:
            if not (engine.needs_numbers(error) or isinstance(error, (engine.EngineError, UnknownStart))):
                raise
            self.rules.start(*self._example)

    def begin(self, rows: np.ndarray, runs: np.ndarray) -> RunState:
        """States of many runs at tick zero (leading axis: runs)."""
        if self._begun is not None:
            return self._begun.batch(rows, runs)
        entries = [jax.tree.map(np.asarray, self.rules.start(row, run)) for row, run in zip(rows, runs, strict=True)]
        return jax.tree.map(lambda *leaves: np.stack(leaves), *entries)

    def compiled_step(self, target: str = "native", **options: Any) -> engine.Compiled:
        """The code of one step, compiled for a target."""
        if target not in self._programs:
            first = jax.tree.map(lambda x: np.asarray(x)[0], self.begin(self._example[0][None], self._example[1][None]))
            self._programs[target] = engine.compile(self.rules.advance, first, *self._example, target=target, **options)
        return self._programs[target]

    def advance(
        self, state: RunState, rows: np.ndarray, runs: np.ndarray, target: str = "native", threads: int | None = None
    ) -> RunState:
        """States of all runs at their end, from those at tick zero."""
        program = self.compiled_step(target)
        return program.rollout_batch(state, rows, runs, steps=self.timing.steps, threads=threads).state

    def results(self, state: RunState) -> np.ndarray:
        """Values of the metrics, (runs, metrics)."""
        return np.stack(self.rules.meters.results(state.kept), axis=-1, dtype=float)
