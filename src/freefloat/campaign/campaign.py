"""A campaign: an experiment, the numbers that differ from run to run, what is stored of each run, how many runs."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from freefloat.campaign.dispersions import AnyDispersion
from freefloat.campaign.draws import Draws
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.metrics import Metric, balance_metrics
from freefloat.campaign.program import CampaignProgram
from freefloat.campaign.requirements import Requirement
from freefloat.sim import Experiment
from freefloat.sim.rollout import Grid, grid
from freefloat.values.short_text import TextDisplay, cut

_MOST_LINES, _WIDE = 36, 110  # of a printed campaign: lines below the first two, and characters of each
_MOST_RUNS = 2**31 - 1  # a run's number is an int32 in compiled code


@dataclass(frozen=True)
class History:
    """Channels that are stored over time, every `dt` [s]."""

    channels: tuple[str, ...]
    dt: float


@dataclass(frozen=True)
class Campaign(TextDisplay):
    """Many runs of one experiment. Everything in it is checked before anything runs.

    In a random design run i depends on (seed, i) alone; in the other designs also on the number of runs. Metrics are
    sampled every `sample_dt` [s], by default when the experiment records. `block` runs are computed and stored at once.
    """

    experiment: Experiment
    runs: int
    dispersions: tuple[AnyDispersion, ...] = ()
    metrics: tuple[Metric, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    seed: int = 0
    design: str = "random"
    impossible: str = "refuse"
    block: int = 1024
    sample_dt: float | None = None
    history: History | None = None
    balances: bool = True  # also store how well momentum is conserved
    title: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)  # scenario, variant and settings that it was built from

    def __repr__(self) -> str:
        return f"<{self._headline}>"

    def __str__(self) -> str:
        """What runs, what is dispersed, measured and required, in at most 40 lines."""
        lines = [f"disperses {cut(repr(entry), _WIDE)}" for entry in self.dispersions]
        lines += [f"measures {metric.name} [{metric.unit or '1'}]" for metric in self.metrics]
        lines += [f"requires {entry.name}: {entry.words}" for entry in self.requirements]
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES - 1 :] = [f"and {len(lines) - _MOST_LINES + 1} entries more"]
        return "\n".join([self._headline, repr(self.experiment), *lines])

    @property
    def _headline(self) -> str:
        parts = {"dispersion": self.dispersions, "metric": self.metrics, "requirement": self.requirements}
        counts = ", ".join(f"{len(entries)} {kind}{'s' * (len(entries) != 1)}" for kind, entries in parts.items())
        return f"Campaign '{self.title or 'unnamed'}': {self.runs} runs, {self.design}, {counts}"

    def __post_init__(self) -> None:
        _require_count("runs", self.runs, 1, _MOST_RUNS)
        _require_count("block", self.block, 1, _MOST_RUNS)
        _require_count("seed", self.seed, 0, 2**63 - 1)
        if self.experiment.integrator != "rk4":
            raise CampaignError("Campaigns make fixed steps: build the experiment with integrator='rk4'.")
        for name in ("dispersions", "metrics", "requirements"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        known = [metric.name for metric in self.all_metrics]
        for requirement in self.requirements:
            if requirement.metric not in known:
                raise CampaignError(
                    f"Requirement '{requirement.name}': there is no metric '{requirement.metric}'. "
                    f"Metrics: {', '.join(known)}."
                )

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        """The requested metrics, then those of the momentum balances."""
        return (*self.metrics, *(balance_metrics(self.experiment) if self.balances else ()))

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.runs // self.block)

    @cached_property
    def timing(self) -> Grid:
        """Number of steps, and of steps between two samples."""
        timing = grid(self.experiment.duration, self.experiment.dt, self.sample_dt or self.experiment.record_dt)
        return timing.require_even("a campaign samples its runs evenly (sample_dt)")

    @cached_property
    def preparation(self) -> Preparation:
        """Draws and compiled code of the runs; wrong paths, distributions and metrics raise their errors here."""
        system, _ = self.experiment.begin()
        wired = dataclasses.replace(self.experiment, system=system)
        draws = Draws(
            wired, self.dispersions, seed=self.seed, runs=self.runs, design=self.design, impossible=self.impossible
        )
        draws.of(np.arange(min(self.runs, self.block)))  # raises the error of impossible dispersions now
        return Preparation(draws, CampaignProgram(wired, draws.numbers, self.all_metrics, self.timing))

    def as_dict(self) -> dict[str, Any]:
        """The campaign as plain data for a store: enough to find out whether two campaigns are the same."""
        return {
            "title": self.title,
            "source": dict(self.source) or {"experiment": self.experiment.description()},
            "runs": self.runs,
            "seed": self.seed,
            "design": self.design,
            "impossible": self.impossible,
            "block": self.block,
            "sample_dt": self.sample_dt,
            "duration": self.experiment.duration,
            "dt": self.experiment.dt,
            "dispersions": [spread.as_dict() for spread in self.dispersions],
            "metrics": {metric.name: metric.as_dict() for metric in self.all_metrics},
            "requirements": {required.name: required.as_dict() for required in self.requirements},
            "history": None
            if self.history is None
            else {"channels": list(self.history.channels), "dt": self.history.dt},
            "balances": self.balances,
        }

    def identity(self) -> str:
        """Hash of the campaign, equal for two campaigns with the same runs."""
        text = json.dumps(self.as_dict(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Preparation:
    """Draws and compiled code, from which a campaign computes its runs."""

    draws: Draws
    program: CampaignProgram


def _require_count(name: str, value: Any, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise CampaignError(f"{name} must be a whole number from {least} to {most}, got {value!r}.")
