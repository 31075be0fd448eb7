"""One block of runs: drawn, started, advanced to its end, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.draws import Drawn
from freefloat.campaign.histories import HistoryProgram
from freefloat.campaign.program import REFUSED, CampaignProgram, Carried
from freefloat.campaign.random_words import noise_numbers

_TOGETHER = 128  # runs whose histories are in memory as whole states at once


@dataclass(frozen=True)
class Block:
    """The runs from `first` on; every array has them along its first axis."""

    first: int
    arrays: dict[str, np.ndarray]


def columns_of(campaign: Campaign) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Type and further axes of every array that a block has."""
    draws, program = campaign.prepared.draws, campaign.prepared.program
    found: dict[str, tuple[np.dtype, tuple[int, ...]]] = {
        "draws": (np.dtype("f8"), (len(draws.names),)),
        "metrics": (np.dtype("f8"), (len(program.metrics),)),
        "status": (np.dtype("i4"), ()),
        "ended": (np.dtype("f8"), ()),
        "attempts": (np.dtype("i4"), ()),
        "events": (np.dtype("i4"), ()),
    }
    if campaign.history is not None:
        for name, shape in HistoryProgram.of(campaign).shapes.items():
            found[f"history/{name}"] = np.dtype("f8"), shape
    return found


def compute_block(campaign: Campaign, number: int, target: str = "native", threads: int | None = None) -> Block:
    """Block number `number`, on this machine; the same bits for every number of threads."""
    first = number * campaign.block
    runs = np.arange(first, min(first + campaign.block, campaign.runs))
    return Block(first, compute_runs(campaign, runs, target, threads))


def compute_runs(
    campaign: Campaign, runs: np.ndarray, target: str = "native", threads: int | None = None
) -> dict[str, np.ndarray]:
    """What is kept of some runs, by the arrays of a block."""
    drawn, program = campaign.prepared.draws.of(runs), campaign.prepared.program
    able = np.flatnonzero(~drawn.refused)
    arrays = _empty(campaign, drawn)
    if able.size:
        for name, values in _computed(campaign, program, drawn.numbers[able], runs[able], target, threads).items():
            arrays[name][able] = values
    return arrays


def _empty(campaign: Campaign, drawn: Drawn) -> dict[str, np.ndarray]:
    """As if every run had been refused."""
    count = len(drawn.draws)
    arrays = {
        name: np.full((count, *shape), np.nan if kind.kind == "f" else 0, kind)
        for name, (kind, shape) in columns_of(campaign).items()
    }
    return arrays | {
        "draws": drawn.draws,
        "attempts": drawn.attempts,
        "status": np.full(count, REFUSED, np.int32),
        "ended": np.zeros(count),
    }


def _computed(
    campaign: Campaign,
    program: CampaignProgram,
    rows: np.ndarray,
    runs: np.ndarray,
    target: str,
    threads: int | None,
) -> dict[str, np.ndarray]:
    numbers = noise_numbers(campaign.seed, runs)
    carried = program.begin(rows, numbers)
    if campaign.history is None:
        return _kept(program, program.advance(carried, rows, numbers, target, threads))
    parts: list[dict[str, np.ndarray]] = []
    history = HistoryProgram.of(campaign)
    for first in range(0, len(runs), _TOGETHER):
        some = slice(first, first + _TOGETHER)
        begun: Any = jax.tree.map(lambda x, some=some: x[some], carried)
        last, values = history.advance(begun, rows[some], numbers[some], target, threads)
        parts.append(_kept(program, last) | {f"history/{name}": x for name, x in values.items()})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _kept(program: CampaignProgram, carried: Carried) -> dict[str, np.ndarray]:
    modes = carried.loop.constraints
    events = modes.log.count if modes else np.zeros(len(carried.status), np.int32)
    return {
        "metrics": program.results(carried),
        "status": np.asarray(carried.status),
        "ended": np.asarray(carried.ended),
        "events": np.asarray(events),
    }
