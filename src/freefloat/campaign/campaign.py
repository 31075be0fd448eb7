"""A campaign: an experiment, which of its numbers differ from run to run, what is kept of each run, and how many."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from freefloat.campaign.dispersions import Spread
from freefloat.campaign.draws import Draws
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.metrics import Metric, balance_metrics
from freefloat.campaign.program import CampaignProgram
from freefloat.campaign.requirements import Requirement
from freefloat.sim import Experiment
from freefloat.sim.rollout import Grid, grid

_MOST_RUNS = 2**31 - 1  # a run's number is an int32 in compiled code


@dataclass(frozen=True)
class History:
    """Channels that are kept over time, every `dt` [s]."""

    channels: tuple[str, ...]
    dt: float


@dataclass(frozen=True)
class Campaign:
    """Many runs of one experiment. Everything in it is checked by `prepare`, before anything runs.

    Run i depends on (seed, i) alone in a random design, in the others also on how many runs there are. Metrics are
    sampled every `sample_dt` [s], or where the experiment records. `block` runs are computed and stored together.
    """

    experiment: Experiment
    runs: int
    dispersions: tuple[Spread, ...] = ()
    metrics: tuple[Metric, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    seed: int = 0
    design: str = "random"
    impossible: str = "refuse"
    block: int = 1024
    sample_dt: float | None = None
    history: History | None = None
    balances: bool = True  # also keep how well momentum is kept
    title: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)  # scenario, variant and settings that it was built from

    def __post_init__(self) -> None:
        _require_count("runs", self.runs, 1, _MOST_RUNS)
        _require_count("block", self.block, 1, _MOST_RUNS)
        _require_count("seed", self.seed, 0, 2**63 - 1)
        if self.experiment.integrator != "rk4":
            raise CampaignError("Campaigns make fixed steps: build the experiment with integrator='rk4'.")
        for name in ("dispersions", "metrics", "requirements"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        known = [metric.name for metric in self.all_metrics]
        for one in self.requirements:
            if one.metric not in known:
                raise CampaignError(
                    f"Requirement '{one.name}': there is no metric '{one.metric}'. Metrics: {', '.join(known)}."
                )

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        """Those that were asked for, and the balances."""
        return (*self.metrics, *(balance_metrics(self.experiment) if self.balances else ()))

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.runs // self.block)

    @cached_property
    def timing(self) -> Grid:
        """Steps, and steps between two samples."""
        timing = grid(self.experiment.duration, self.experiment.dt, self.sample_dt or self.experiment.record_dt)
        return timing.require_even("a campaign samples its runs evenly (sample_dt)")

    @cached_property
    def prepared(self) -> Prepared:
        """Draws and compiled code; errors of paths, distributions and metrics come from here."""
        system, _ = self.experiment.begin()
        wired = dataclasses.replace(self.experiment, system=system)
        draws = Draws(
            wired, self.dispersions, seed=self.seed, runs=self.runs, design=self.design, impossible=self.impossible
        )
        draws.of(np.arange(min(self.runs, self.block)))  # what is impossible altogether is found now
        return Prepared(draws, CampaignProgram(wired, draws.numbers, self.all_metrics, self.timing))

    def described(self) -> dict[str, Any]:
        """Plain data that a store keeps: enough to know whether two campaigns are the same."""
        return {
            "title": self.title,
            "source": dict(self.source) or {"experiment": self.experiment.described()},
            "runs": self.runs,
            "seed": self.seed,
            "design": self.design,
            "impossible": self.impossible,
            "block": self.block,
            "sample_dt": self.sample_dt,
            "duration": self.experiment.duration,
            "dt": self.experiment.dt,
            "dispersions": [one.as_dict() for one in self.dispersions],
            "metrics": {one.name: one.as_dict() for one in self.all_metrics},
            "requirements": {one.name: one.as_dict() for one in self.requirements},
            "history": None
            if self.history is None
            else {"channels": list(self.history.channels), "dt": self.history.dt},
            "balances": self.balances,
        }

    def identity(self) -> str:
        """Equal for campaigns whose runs are the same."""
        text = json.dumps(self.described(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Prepared:
    """What a campaign needs to compute its runs."""

    draws: Draws
    program: CampaignProgram


def _require_count(name: str, value: Any, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise CampaignError(f"{name} must be a whole number from {least} to {most}, got {value!r}.")
