"""One block of runs: draw its numbers, start it, advance it to its end, and collect the stored arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.draws import DrawnRuns
from freefloat.campaign.histories import HistoryProgram
from freefloat.campaign.program import REFUSED, CampaignProgram, RunState
from freefloat.campaign.random_words import noise_numbers

_TOGETHER = 128  # runs whose histories are in memory as whole states at once


@dataclass(frozen=True)
class RunBlock:
    """The runs from `first` on; every array has them along its first axis."""

    first: int
    arrays: dict[str, np.ndarray]


def columns_of(campaign: Campaign) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Type of every array of a block, and its shape per run."""
    draws, program = campaign.preparation.draws, campaign.preparation.program
    columns: dict[str, tuple[np.dtype, tuple[int, ...]]] = {
        "draws": (np.dtype("f8"), (len(draws.names),)),
        "metrics": (np.dtype("f8"), (len(program.metrics),)),
        "status": (np.dtype("i4"), ()),
        "ended": (np.dtype("f8"), ()),
        "attempts": (np.dtype("i4"), ()),
        "events": (np.dtype("i4"), ()),
    }
    if campaign.history is not None:
        for name, shape in HistoryProgram.of(campaign).shapes.items():
            columns[f"history/{name}"] = np.dtype("f8"), shape
    return columns


def compute_block(campaign: Campaign, number: int, target: str = "native", threads: int | None = None) -> RunBlock:
    """Compute one block on this machine; the result is the same to the last bit for every number of threads."""
    first = number * campaign.block
    runs = np.arange(first, min(first + campaign.block, campaign.runs))
    return RunBlock(first, compute_runs(campaign, runs, target, threads))


def compute_runs(
    campaign: Campaign, runs: np.ndarray, target: str = "native", threads: int | None = None
) -> dict[str, np.ndarray]:
    """Compute some runs; the result has the arrays of a block."""
    drawn, program = campaign.preparation.draws.of(runs), campaign.preparation.program
    possible = np.flatnonzero(~drawn.refused)
    arrays = _refused_arrays(campaign, drawn)
    if possible.size:
        rows = drawn.numbers[possible]
        for name, values in _compute_arrays(campaign, program, rows, runs[possible], target, threads).items():
            arrays[name][possible] = values
    return arrays


def _refused_arrays(campaign: Campaign, drawn: DrawnRuns) -> dict[str, np.ndarray]:
    """Arrays of a block in which every run is marked as refused."""
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


def _compute_arrays(
    campaign: Campaign, program: CampaignProgram, rows: np.ndarray, runs: np.ndarray, target: str, threads: int | None
) -> dict[str, np.ndarray]:
    numbers = noise_numbers(campaign.seed, runs)
    state = program.begin(rows, numbers)
    if campaign.history is None:
        return _block_arrays(program, program.advance(state, rows, numbers, target, threads))
    parts: list[dict[str, np.ndarray]] = []
    history = HistoryProgram.of(campaign)
    for first in range(0, len(runs), _TOGETHER):
        some = slice(first, first + _TOGETHER)
        start: Any = jax.tree.map(lambda x, some=some: x[some], state)
        last, values = history.advance(start, rows[some], numbers[some], target, threads)
        parts.append(_block_arrays(program, last) | {f"history/{name}": x for name, x in values.items()})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _block_arrays(program: CampaignProgram, state: RunState) -> dict[str, np.ndarray]:
    modes = state.system_state.constraints
    events = modes.log.count if modes else np.zeros(len(state.status), np.int32)
    return {
        "metrics": program.results(state),
        "status": np.asarray(state.status),
        "ended": np.asarray(state.ended),
        "events": np.asarray(events),
    }
