"""Replay one run of a campaign in full: every channel, events, audit and page.

The motion is computed by the code of the campaign itself, for one run instead of many side by side, with the same
result to the last bit; the metrics are computed again and compared with the stored ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from freefloat import engine
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.driver import block_facts
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.program import CampaignProgram, RunState
from freefloat.campaign.random_words import noise_numbers
from freefloat.campaign.store import Store
from freefloat.sim import Experiment, Run, SystemState
from freefloat.sim.rollout import BLOCK, FixedSteps, Grid
from freefloat.sim.simulate import simulate_by


@dataclasses.dataclass(frozen=True)
class ReplayedRun:
    """A run in full, and its metrics as computed by the campaign's code."""

    run: Run
    metrics: np.ndarray


class _CampaignSteps(FixedSteps):
    """Steps one run with the code of its campaign; its numbers are inputs, so that every run has the same code."""

    def __init__(self, program: CampaignProgram, carried: RunState, row: np.ndarray, number: Any) -> None:
        self._program, self._numbers = program, (row, number)
        self.carried = carried

    def blocks(self, state: SystemState, timing: Grid, parts: int = 1) -> Iterator[SystemState]:
        """Yield blocks of recorded states, from the start of the run."""
        if parts != 1:
            raise ValueError("A campaign's run is replayed by its own steps, not by finer ones.")
        for even in timing.stretches:
            every = even.record_every
            for done in range(0, even.steps, BLOCK * every):
                yield self._block(min(BLOCK * every, even.steps - done), every)

    def _block(self, steps: int, every: int) -> SystemState:
        """Advance the run as a batch of one run, so that code that the campaign compiled can be used."""
        runs: Any = jax.tree.map(lambda x: np.asarray(x)[None], (self.carried, *self._numbers))
        rollout = self._program.compiled_step().rollout_batch(*runs, steps=steps, record_every=every, threads=1)
        self.carried: Any = jax.tree.map(lambda x: x[0], rollout.state)
        return jax.tree.map(lambda x: x[0], rollout.record).system_state

    def advance(self, states: SystemState, steps: int, parts: int) -> SystemState:
        """States after some steps, of which `parts` make a tick, from many states."""
        held = *self._numbers, np.asarray(parts, np.int32)
        example = jax.tree.map(lambda x: np.asarray(x)[0], states)
        finer = engine.compile(self._program.rules.advance_in_parts, example, *held)
        return finer.rollout_batch(
            states, *held, steps=steps, in_axes=[0, None, None, None], threads=1, scalar=True
        ).state


class _CaseSteps(_CampaignSteps):
    """Steps a run that does not depend on its run number: the audit repeats its steps with the code of `simulate`."""

    def __init__(
        self, program: CampaignProgram, carried: RunState, row: np.ndarray, number: Any, of: Experiment
    ) -> None:
        super().__init__(program, carried, row, number)
        self._own = FixedSteps(of.system, carried.system_state, of.inputs, 0, program.timing.steps, "native")

    def advance(self, states: SystemState, steps: int, parts: int) -> SystemState:
        """States after some steps, of which `parts` make a tick, from many states."""
        return self._own.advance(states, steps, parts)


def replay(campaign: Campaign, number: int, *, check: bool = False) -> ReplayedRun:
    """Replay run `number` of a campaign in full; with `check` a run that fails raises an error, as in `simulate`."""
    if not 0 <= number < campaign.runs:
        raise CampaignError(f"There is no run {number}: the campaign has 0 to {campaign.runs - 1}.")
    draws, program = campaign.preparation.draws, campaign.preparation.program
    drawn = draws.of(np.array([number]))
    if drawn.refused[0]:
        raise CampaignError(f"Run {number} was refused: what it drew is physically impossible.")
    row, own = drawn.numbers[0], noise_numbers(campaign.seed, np.array([number]))[0]
    initial: Any = jax.tree.map(lambda x: np.asarray(x)[0], program.begin(row[None], own[None]))
    # Only the steps depend on the number of the run: code that only reads states is the same for every run.
    system, start = draws.numbers.system_and_start(row, None)
    description = dict(campaign.experiment.description()) | {"campaign": campaign.title, "run": number}
    experiment = dataclasses.replace(campaign.experiment, system=system, start=start, scenario=description)
    arguments = program, initial, row, own
    steps = _CampaignSteps(*arguments) if draws.numbers.has_run_numbers else _CaseSteps(*arguments, experiment)
    run = simulate_by(experiment, initial.system_state, steps, check=check)
    last: Any = jax.tree.map(lambda x: np.asarray(x)[None], steps.carried)
    return ReplayedRun(run, program.results(last)[0])


def case(campaign: Campaign, number: int) -> Experiment:
    """Experiment of one run, which can be simulated, changed or exported like any other."""
    row = campaign.preparation.draws.of(np.array([number])).numbers[0]
    noise = noise_numbers(campaign.seed, np.array([number]))[0]
    system, start = campaign.preparation.draws.numbers.system_and_start(row, noise)
    return dataclasses.replace(campaign.experiment, system=system, start=start)


def replay_from_store(campaign: Campaign, folder: Path, number: int) -> Run:
    """Replay run `number` of a campaign in a folder; raises an error if its metrics differ from the stored ones."""
    store, replayed = Store(folder), replay(campaign, number)
    store.require_same(campaign)
    block, place = divmod(number, campaign.block)
    if block in store.finished_blocks():
        facts = store.facts(block)
        here = block_facts(campaign, "native")
        exact = all(facts[key] == here[key] for key in ("target", "program", "machine"))
        _require_same_metrics(replayed, store.read("metrics", [block])[place], exact=exact)
    return replayed.run


def _require_same_metrics(replayed: ReplayedRun, kept: np.ndarray, *, exact: bool) -> None:
    """Raise an error if a replay has other metrics than the stored run."""
    same = np.array_equal(replayed.metrics, kept, equal_nan=True)
    close = np.allclose(replayed.metrics, kept, rtol=1e-9, atol=1e-12, equal_nan=True)
    if same or (close and not exact):
        return
    raise CampaignError(
        "The replayed run has other metrics than the campaign kept: it was made by another version, or on a processor "
        "with other arithmetic. Run the campaign again here."
    )
