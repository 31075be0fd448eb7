"""Channels of every run over time, at a few instants: recorded states, turned into channels block by block."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import numpy as np

from freefloat import engine
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.program import CampaignProgram, Carried
from freefloat.sim.rollout import grid


class HistoryProgram:
    """The chosen channels of recorded states, compiled."""

    def __init__(self, program: CampaignProgram, names: tuple[str, ...], every: int) -> None:
        self._program, self._every = program, every
        known = {channel.name: channel for channel in program.channels}
        if unknown := [name for name in names if name not in known]:
            raise CampaignError(f"history: there is no channel '{unknown[0]}'. Channels: {', '.join(known)}.")
        rows = program.timing.steps // every + 1
        self.shapes = {name: (rows, *[len(known[name].components)] * bool(known[name].axis)) for name in names}
        rules = program.rules

        def observe(carried: Carried, row: Any, run: Any) -> dict[str, Any]:
            system, states = rules.numbers.fill(row, run)
            values = rules.channel_values(system, carried.loop, states)
            return {name: values[name] for name in names}

        self._observe = observe
        self._compiled: engine.Compiled | None = None

    @staticmethod
    def of(campaign: Campaign) -> HistoryProgram:
        """Of a campaign that keeps histories."""
        return _made(campaign)

    def advance(
        self, carried: Carried, rows: np.ndarray, runs: np.ndarray, target: str, threads: int | None
    ) -> tuple[Carried, dict[str, np.ndarray]]:
        """All runs to their end, and their histories (runs, instants, ...)."""
        program = self._program
        made = program.compiled(target).rollout_batch(
            carried, rows, runs, steps=program.timing.steps, record_every=self._every, threads=threads
        )
        whole: Any = jax.tree.map(lambda a, b: np.concatenate([a[:, None], b], axis=1), carried, made.record)
        count, instants = len(runs), program.timing.steps // self._every + 1
        flat: Any = jax.tree.map(lambda x: x.reshape(count * instants, *x.shape[2:]), whole)
        if self._compiled is None:
            one = jax.tree.map(lambda x: x[0], flat)
            self._compiled = engine.compile(self._observe, one, rows[0], runs[0])
        values = self._compiled.batch(flat, np.repeat(rows, instants, 0), np.repeat(runs, instants, 0), threads=threads)
        return made.state, {name: x.reshape(count, instants, *x.shape[1:]) for name, x in values.items()}


@lru_cache(maxsize=4)
def _cached(program: CampaignProgram, names: tuple[str, ...], every: int) -> HistoryProgram:
    return HistoryProgram(program, names, every)


def _made(campaign: Campaign) -> HistoryProgram:
    history = campaign.history
    if history is None:
        raise CampaignError("This campaign keeps no histories.")
    timing = grid(campaign.experiment.duration, campaign.experiment.dt, history.dt)
    every = timing.require_even("histories are sampled evenly").record_every
    return _cached(campaign.prepared.program, tuple(history.channels), every)
