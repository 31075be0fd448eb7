"""What came out of a campaign: draws, metrics and status of every run, and the questions that a review asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.campaign import statistics
from freefloat.campaign.blocks import Block
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.program import COMPLETED, DIVERGED, REFUSED, STATUS
from freefloat.campaign.requirements import Requirement
from freefloat.campaign.statistics import CONFIDENCE, Estimate, SobolIndex
from freefloat.campaign.store import Store

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Verdict:
    """Whether a requirement is met: shown, refuted, or not decided by so many runs."""

    requirement: Requirement
    met: int
    runs: int
    share: Estimate
    passed: bool | None  # None: too few runs to tell

    @property
    def word(self) -> str:
        """Pass, fail, or neither."""
        return {True: "pass", False: "fail", None: "not decided"}[self.passed]


class Results:
    """The runs of a campaign that have been computed."""

    def __init__(
        self, described: Mapping[str, Any], names: Mapping[str, Sequence[str]], arrays: Any, runs: np.ndarray
    ) -> None:
        self.described, self._arrays, self.runs = dict(described), cache(arrays), runs
        self.draw_names, self.metric_names = tuple(names["draws"]), tuple(names["metrics"])
        self.units = dict(zip(self.metric_names, names["units"], strict=True))

    @staticmethod
    def open(folder: str | Path) -> Results:
        """Of a folder that a campaign was kept in."""
        return Results.of_store(Store(Path(folder)))

    @staticmethod
    def of_store(store: Store) -> Results:
        """What a store holds now."""
        names = {key: store.attributes[key] for key in ("draws", "metrics", "units")}
        blocks = store.done()
        return Results(store.described, names, lambda name: store.read(name, blocks), store.runs())

    @staticmethod
    def of_blocks(campaign: Campaign, blocks: Sequence[Block]) -> Results:
        """Of a campaign that stays in memory."""
        prepared = campaign.prepared
        metrics = prepared.program.metrics
        names = {
            "draws": prepared.draws.names,
            "metrics": [metric.name for metric in metrics],
            "units": [metric.unit for metric in metrics],
        }
        whole = {name: np.concatenate([block.arrays[name] for block in blocks]) for name in blocks[0].arrays}
        return Results(campaign.described(), names, whole.__getitem__, np.arange(len(whole["status"])))

    # ---- the runs

    @cached_property
    def status(self) -> np.ndarray:
        """0 completed, 1 diverged, 2 stopped, 3 refused."""
        return self._arrays("status")

    @cached_property
    def attempts(self) -> np.ndarray:
        """How often each run was drawn again."""
        return self._arrays("attempts")

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many runs ended how, and how many draws were impossible."""
        found = np.bincount(self.status, minlength=len(STATUS))
        told = {word: int(count) for word, count in zip(STATUS, found, strict=True)}
        return {"runs": len(self.runs), **told, "redrawn": int(self.attempts.sum())}

    @cached_property
    def ran(self) -> np.ndarray:
        """Whether each run was run at all: not refused."""
        return self.status != REFUSED

    def array(self, name: str) -> np.ndarray:
        """One of: draws, metrics, status, ended, attempts, events, history/<channel>."""
        return self._arrays(name)

    def metric(self, name: str) -> np.ndarray:
        """One metric of all runs that were run; not a number where a run diverged."""
        values = self._arrays("metrics")[:, self._place(name, self.metric_names, "metric")]
        return np.where(self.status == DIVERGED, np.nan, values)[self.ran]

    def draw(self, name: str) -> np.ndarray:
        """What was drawn for a path, of all runs that were run."""
        return self._arrays("draws")[self.ran, self._place(name, self.draw_names, "draw")]

    def _place(self, name: str, names: tuple[str, ...], kind: str) -> int:
        if name not in names:
            raise CampaignError(f"This campaign has no {kind} '{name}'. There are: {', '.join(names) or 'none'}.")
        return names.index(name)

    def as_dataset(self) -> xarray.Dataset:
        """Everything but histories, as xarray has it, by run."""
        import xarray

        draws, metrics = self._arrays("draws"), self._arrays("metrics")
        columns: dict[str, Any] = {name: ("run", draws[:, k]) for k, name in enumerate(self.draw_names)}
        for k, name in enumerate(self.metric_names):
            columns[name] = ("run", metrics[:, k], {"units": self.units[name]})
        columns |= {name: ("run", self._arrays(name)) for name in ("status", "ended", "attempts", "events")}
        return xarray.Dataset(columns, coords={"run": self.runs})

    # ---- questions

    def quantile(self, metric: str, probability: float, confidence: float = CONFIDENCE) -> Estimate:
        """A quantile of a metric with its bounds; runs without the number are left out."""
        values = self.metric(metric)
        return statistics.quantile(values[~np.isnan(values)], probability, confidence)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What the campaign was made to show."""
        given = self.described["requirements"]
        return tuple(Requirement.from_dict(name, one) for name, one in given.items())

    def verdict(self, requirement: Requirement) -> Verdict:
        """Whether a requirement is met, with the confidence that it asks for."""
        met = requirement.met(self.metric(requirement.metric))
        hits, runs = int(met.sum()), len(met)
        low = statistics.one_sided_low(hits, runs, requirement.confidence)
        high = statistics.one_sided_high(hits, runs, requirement.confidence)
        passed = True if low >= requirement.probability else False if high < requirement.probability else None
        return Verdict(requirement, hits, runs, statistics.probability(hits, runs), passed)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """On all requirements."""
        return tuple(self.verdict(one) for one in self.requirements)

    def success(self, confidence: float = CONFIDENCE) -> Estimate:
        """Probability that a run meets all requirements at once, or completes where there are none."""
        met = self.successes
        return statistics.probability(int(met.sum()), len(met), confidence)

    @property
    def successes(self) -> np.ndarray:
        """Whether each run that was run meets all requirements and did not diverge."""
        met = self.status[self.ran] != DIVERGED if self.requirements else self.status[self.ran] == COMPLETED
        for one in self.requirements:
            met = met & one.met(self.metric(one.metric))
        return met

    def worst(self, metric: str, count: int = 10, *, smallest: bool = False) -> list[tuple[int, float]]:
        """Numbers of the runs with the largest (or smallest) values; what is no number comes first."""
        values, runs = self.metric(metric), self.runs[self.ran]
        order = np.argsort(np.where(np.isnan(values), np.inf, -values if smallest else values), kind="stable")[::-1]
        return [(int(runs[k]), float(values[k])) for k in order[:count]]

    def rank_correlations(self, metric: str) -> dict[str, Estimate]:
        """Of a metric with every draw, the strongest first."""
        values = self.metric(metric)
        found = {name: statistics.rank_correlation(self.draw(name), values) for name in self.draw_names}
        return dict(sorted(found.items(), key=lambda pair: -abs(np.nan_to_num(pair[1].value))))

    def sobol_indices(self, metric: str) -> dict[str, SobolIndex]:
        """Of a metric and every draw, where the design is `saltelli`."""
        if self.described["design"] != "saltelli":
            raise CampaignError("Sobol indices need design = 'saltelli'; rank_correlations works with every design.")
        values = self._arrays("metrics")[:, self._place(metric, self.metric_names, "metric")]
        values = np.where(self.status == COMPLETED, values, np.nan)
        found = statistics.sobol_indices(values, len(self.draw_names))
        return dict(zip(self.draw_names, found, strict=True))

    def convergence(self) -> list[tuple[int, Estimate]]:
        """How the probability of success settled."""
        return statistics.convergence(self.successes)
