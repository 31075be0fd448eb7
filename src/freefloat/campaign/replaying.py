"""One run of a campaign again, in full: every channel, events, audit and page.

The motion is computed by the code of the campaign itself, one run instead of many side by side, which gives the same
bits; its metrics come out again and are compared with those that were kept.
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
from freefloat.campaign.program import CampaignProgram, Carried
from freefloat.campaign.random_words import noise_numbers
from freefloat.campaign.store import Store
from freefloat.sim import Experiment, Run, SystemState
from freefloat.sim.rollout import BLOCK, FixedSteps, Grid
from freefloat.sim.simulate import simulate_by


@dataclasses.dataclass(frozen=True)
class Replayed:
    """A run in full, and its metrics as the campaign's code gives them."""

    run: Run
    metrics: np.ndarray


class _CampaignSteps(FixedSteps):
    """Steps of one run by the code of its campaign; its numbers are inputs, so that every run has the same code."""

    def __init__(self, program: CampaignProgram, carried: Carried, row: np.ndarray, number: Any) -> None:
        self._program, self._numbers = program, (row, number)
        self.carried = carried

    def blocks(self, loop: SystemState, timing: Grid, parts: int = 1) -> Iterator[SystemState]:
        """Blocks of recorded loops, from the start of the run."""
        if parts != 1:
            raise ValueError("A campaign's run is replayed by its own steps, not by finer ones.")
        for even in timing.stretches:
            every = even.record_every
            for done in range(0, even.steps, BLOCK * every):
                yield self._block(min(BLOCK * every, even.steps - done), every)

    def _block(self, steps: int, every: int) -> SystemState:
        """So many steps more, as a batch of one run: by code for many side by side where the campaign has left it."""
        runs: Any = jax.tree.map(lambda x: np.asarray(x)[None], (self.carried, *self._numbers))
        made = self._program.compiled().rollout_batch(*runs, steps=steps, record_every=every, threads=1)
        self.carried: Any = jax.tree.map(lambda x: x[0], made.state)
        return jax.tree.map(lambda x: x[0], made.record).loop

    def advance(self, loops: SystemState, steps: int, parts: int) -> SystemState:
        """States after so many steps, of which `parts` make a tick, from many of them."""
        held = *self._numbers, np.asarray(parts, np.int32)
        one = jax.tree.map(lambda x: np.asarray(x)[0], loops)
        finer = engine.compile(self._program.rules.advance_in_parts, one, *held)
        return finer.rollout_batch(
            loops, *held, steps=steps, in_axes=[0, None, None, None], threads=1, scalar=True
        ).state


class _CaseSteps(_CampaignSteps):
    """The same where nothing knows which run it is in: the audit repeats steps by the code of `simulate`."""

    def __init__(
        self, program: CampaignProgram, carried: Carried, row: np.ndarray, number: Any, of: Experiment
    ) -> None:
        super().__init__(program, carried, row, number)
        self._own = FixedSteps(of.system, carried.loop, of.inputs, 0, program.timing.steps, "native")

    def advance(self, loops: SystemState, steps: int, parts: int) -> SystemState:
        """States after so many steps, of which `parts` make a tick, from many of them."""
        return self._own.advance(loops, steps, parts)


def replay(campaign: Campaign, number: int, *, check: bool = False) -> Replayed:
    """Run `number` of a campaign in full; with `check` a run that fails raises, as in `simulate`."""
    if not 0 <= number < campaign.runs:
        raise CampaignError(f"There is no run {number}: the campaign has 0 to {campaign.runs - 1}.")
    draws, program = campaign.prepared.draws, campaign.prepared.program
    drawn = draws.of(np.array([number]))
    if drawn.refused[0]:
        raise CampaignError(f"Run {number} was refused: what it drew is physically impossible.")
    row, own = drawn.numbers[0], noise_numbers(campaign.seed, np.array([number]))[0]
    begun: Any = jax.tree.map(lambda x: np.asarray(x)[0], program.begin(row[None], own[None]))
    # Which run it is matters to the steps alone: code that only looks at states is the same for every run.
    system, start = draws.numbers.fill(row, None)
    told = dict(campaign.experiment.described()) | {"campaign": campaign.title, "run": number}
    experiment = dataclasses.replace(campaign.experiment, system=system, start=start, scenario=told)
    given = program, begun, row, own
    steps = _CampaignSteps(*given) if draws.numbers.has_run_numbers else _CaseSteps(*given, experiment)
    run = simulate_by(experiment, begun.loop, steps, check=check)
    last: Any = jax.tree.map(lambda x: np.asarray(x)[None], steps.carried)
    return Replayed(run, program.results(last)[0])


def case(campaign: Campaign, number: int) -> Experiment:
    """The experiment of one run, to be simulated, changed or exported like any other."""
    row = campaign.prepared.draws.of(np.array([number])).numbers[0]
    noise = noise_numbers(campaign.seed, np.array([number]))[0]
    system, start = campaign.prepared.draws.numbers.fill(row, noise)
    return dataclasses.replace(campaign.experiment, system=system, start=start)


def replay_from_store(campaign: Campaign, folder: Path, number: int) -> Run:
    """Run `number` of a campaign that is kept in a folder, and that it is the one that was kept, where it was."""
    store, replayed = Store(folder), replay(campaign, number)
    store.require_same(campaign)
    block, place = divmod(number, campaign.block)
    if block in store.done():
        facts = store.facts(block)
        here = block_facts(campaign, "native")
        exact = all(facts[key] == here[key] for key in ("target", "program", "machine"))
        _require_same_metrics(replayed, store.read("metrics", [block])[place], exact=exact)
    return replayed.run


def _require_same_metrics(replayed: Replayed, kept: np.ndarray, *, exact: bool) -> None:
    """Refuse a replay that is another run than the one that was kept."""
    same = np.array_equal(replayed.metrics, kept, equal_nan=True)
    close = np.allclose(replayed.metrics, kept, rtol=1e-9, atol=1e-12, equal_nan=True)
    if same or (close and not exact):
        return
    raise CampaignError(
        "The replayed run has other metrics than the campaign kept: it was made by another version, or on a processor "
        "with other arithmetic. Run the campaign again here."
    )
