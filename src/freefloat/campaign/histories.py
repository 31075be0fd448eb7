"""Histories: channels of every run at a few instants, computed block by block from recorded states."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import numpy as np

from freefloat import engine
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.program import CampaignProgram, RunState
from freefloat.sim.rollout import grid


class HistoryProgram:
    """Compiled code that computes the chosen channels from recorded states."""

    def __init__(self, program: CampaignProgram, names: tuple[str, ...], every: int) -> None:
        self._program, self._every = program, every
        known = {channel.name: channel for channel in program.channels}
        if unknown := [name for name in names if name not in known]:
            raise CampaignError(f"history: there is no channel '{unknown[0]}'. Channels: {', '.join(known)}.")
        rows = program.timing.steps // every + 1
        self.shapes = {name: (rows, *[len(known[name].components)] * bool(known[name].axis)) for name in names}
        rules = program.rules

        def observe(state: RunState, row: Any, run: Any) -> dict[str, Any]:
            system, states = rules.numbers.system_and_start(row, run)
            values = rules.channel_values(system, state.system_state, states)
            return {name: values[name] for name in names}

        self._observe = observe
        self._compiled: engine.Compiled | None = None

    @staticmethod
    def of(campaign: Campaign) -> HistoryProgram:
        """The program of a campaign that stores histories."""
        return _campaign_program(campaign)

    def advance(
        self, state: RunState, rows: np.ndarray, runs: np.ndarray, target: str, threads: int | None
    ) -> tuple[RunState, dict[str, np.ndarray]]:
        """Advance all runs to their end; returns their last states and histories (runs, instants, ...)."""
        program = self._program
        rollout = program.compiled_step(target).rollout_batch(
            state, rows, runs, steps=program.timing.steps, record_every=self._every, threads=threads
        )
        whole: Any = jax.tree.map(lambda a, b: np.concatenate([a[:, None], b], axis=1), state, rollout.record)
        count, instants = len(runs), program.timing.steps // self._every + 1
        flat: Any = jax.tree.map(lambda x: x.reshape(count * instants, *x.shape[2:]), whole)
        if self._compiled is None:
            example = jax.tree.map(lambda x: x[0], flat)
            self._compiled = engine.compile(self._observe, example, rows[0], runs[0])
        values = self._compiled.batch(flat, np.repeat(rows, instants, 0), np.repeat(runs, instants, 0), threads=threads)
        return rollout.state, {name: x.reshape(count, instants, *x.shape[1:]) for name, x in values.items()}


@lru_cache(maxsize=4)
def _cached_program(program: CampaignProgram, names: tuple[str, ...], every: int) -> HistoryProgram:
    return HistoryProgram(program, names, every)


def _campaign_program(campaign: Campaign) -> HistoryProgram:
    history = campaign.history
    if history is None:
        raise CampaignError("This campaign keeps no histories.")
    timing = grid(campaign.experiment.duration, campaign.experiment.dt, history.dt)
    every = timing.require_even("histories are sampled evenly").record_every
    return _cached_program(campaign.preparation.program, tuple(history.channels), every)
