"""Results of a campaign: draws, metrics and status of every run, and the statistics that a review needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.campaign import statistics
from freefloat.campaign.blocks import RunBlock
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.program import COMPLETED, DIVERGED, REFUSED, STATUS
from freefloat.campaign.requirements import Requirement
from freefloat.campaign.statistics import CONFIDENCE, Estimate, SobolIndex
from freefloat.campaign.store import Store
from freefloat.values.short_text import TextDisplay, names_line
from freefloat.values.suggestions import did_you_mean

if TYPE_CHECKING:
    import xarray

_MOST_METRICS = 24  # that `print` shows


@dataclass(frozen=True)
class RequirementVerdict:
    """Result for a requirement: shown to be met, shown not to be met, or not decided by this number of runs."""

    requirement: Requirement
    met: int
    runs: int
    share: Estimate
    passed: bool | None  # None: too few runs to decide

    @property
    def word(self) -> str:
        """The result as a word: pass, fail, or not decided."""
        return {True: "pass", False: "fail", None: "not decided"}[self.passed]


class Results(TextDisplay):
    """The runs of a campaign that have been computed."""

    def __init__(
        self, described: Mapping[str, Any], names: Mapping[str, Sequence[str]], arrays: Any, runs: np.ndarray
    ) -> None:
        self.described, self._arrays, self.runs = dict(described), cache(arrays), runs
        self.draw_names, self.metric_names = tuple(names["draws"]), tuple(names["metrics"])
        self.units = dict(zip(self.metric_names, names["units"], strict=True))

    @staticmethod
    def open(folder: str | Path) -> Results:
        """Results of the campaign in a folder."""
        return Results.of_store(Store(Path(folder)))

    @staticmethod
    def of_store(store: Store) -> Results:
        """Results of the runs that a store contains now."""
        names = {key: store.attributes[key] for key in ("draws", "metrics", "units")}
        blocks = store.finished_blocks()
        return Results(store.described, names, lambda name: store.read(name, blocks), store.runs())

    @staticmethod
    def of_blocks(campaign: Campaign, blocks: Sequence[RunBlock]) -> Results:
        """Results of a campaign that is not stored on disk."""
        prepared = campaign.preparation
        metrics = prepared.program.metrics
        names = {
            "draws": prepared.draws.names,
            "metrics": [metric.name for metric in metrics],
            "units": [metric.unit for metric in metrics],
        }
        whole = {name: np.concatenate([block.arrays[name] for block in blocks]) for name in blocks[0].arrays}
        return Results(campaign.as_dict(), names, whole.__getitem__, np.arange(len(whole["status"])))

    # ---- shown to people

    @property
    def _headline(self) -> str:
        title = self.described.get("title") or "Campaign"
        counts = ", ".join(f"{count} {word}" for word, count in self.counts.items() if count or word == "runs")
        return f"{title}: {counts}"

    def __repr__(self) -> str:
        return f"<Results of '{self._headline}'>"

    def __str__(self) -> str:
        """Counts, draws, quantiles of the metrics and verdicts, in at most 40 lines."""
        lines = [self._headline, names_line("draw", self.draw_names, 6)]
        if len(self.runs):
            wide = max((len(name) for name in self.metric_names[:_MOST_METRICS]), default=0)
            rows = self.metric_names[:_MOST_METRICS]
            lines += [f"{'metric':<{wide}}  {'5 %':>12}  {'50 %':>12}  {'95 %':>12}"] if rows else []
            lines += [self._metric_line(name, wide) for name in rows]
            lines += [f"and {more} metrics more"] if (more := len(self.metric_names) - len(rows)) else []
            lines += [f"{v.requirement.name}: {v.word}, {v.met} of {v.runs} runs" for v in self.verdicts[:10]]
        return "\n".join(lines)

    def _metric_line(self, name: str, wide: int) -> str:
        numbers = "  ".join(f"{self.quantile(name, p).value:12.5g}" for p in (0.05, 0.5, 0.95))
        return f"{name:<{wide}}  {numbers}  {self.units[name]}".rstrip()

    # ---- the runs

    @cached_property
    def status(self) -> np.ndarray:
        """Status of each run: 0 completed, 1 diverged, 2 stopped, 3 refused."""
        return self._arrays("status")

    @cached_property
    def attempts(self) -> np.ndarray:
        """Number of repeated draws of each run."""
        return self._arrays("attempts")

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of runs with each status, and of impossible draws that were repeated."""
        counts = np.bincount(self.status, minlength=len(STATUS))
        by_status = {word: int(count) for word, count in zip(STATUS, counts, strict=True)}
        return {"runs": len(self.runs), **by_status, "redrawn": int(self.attempts.sum())}

    @cached_property
    def ran(self) -> np.ndarray:
        """Whether each run was computed, not refused."""
        return self.status != REFUSED

    def array(self, name: str) -> np.ndarray:
        """A stored array: draws, metrics, status, ended, attempts, events or history/<channel>."""
        return self._arrays(name)

    def metric(self, name: str) -> np.ndarray:
        """Values of one metric in all computed runs; not a number if a run diverged."""
        values = self._arrays("metrics")[:, self._place(name, self.metric_names, "metric")]
        return np.where(self.status == DIVERGED, np.nan, values)[self.ran]

    def draw(self, name: str) -> np.ndarray:
        """Values drawn for a path in all computed runs."""
        return self._arrays("draws")[self.ran, self._place(name, self.draw_names, "draw")]

    def _place(self, name: str, names: tuple[str, ...], kind: str) -> int:
        if name not in names:
            known = ", ".join(names) or "none"
            raise CampaignError(f"This campaign has no {kind} '{name}'. There are: {known}.{did_you_mean(name, names)}")
        return names.index(name)

    def as_dataset(self) -> xarray.Dataset:
        """Everything but the histories as an xarray dataset, by run."""
        import xarray

        draws, metrics = self._arrays("draws"), self._arrays("metrics")
        columns: dict[str, Any] = {name: ("run", draws[:, k]) for k, name in enumerate(self.draw_names)}
        for k, name in enumerate(self.metric_names):
            columns[name] = ("run", metrics[:, k], {"units": self.units[name]})
        columns |= {name: ("run", self._arrays(name)) for name in ("status", "ended", "attempts", "events")}
        return xarray.Dataset(columns, coords={"run": self.runs})

    # ---- questions

    def quantile(self, metric: str, probability: float, confidence: float = CONFIDENCE) -> Estimate:
        """Quantile of a metric with its bounds; runs in which it is not a number are left out."""
        values = self.metric(metric)
        return statistics.quantile(values[~np.isnan(values)], probability, confidence)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """Requirements of the campaign."""
        entries = self.described["requirements"]
        return tuple(Requirement.from_dict(name, entry) for name, entry in entries.items())

    def verdict(self, requirement: Requirement) -> RequirementVerdict:
        """Whether a requirement is met, with the confidence that it demands."""
        met = requirement.is_met(self.metric(requirement.metric))
        hits, runs = int(met.sum()), len(met)
        low = statistics.one_sided_low(hits, runs, requirement.confidence)
        high = statistics.one_sided_high(hits, runs, requirement.confidence)
        passed = True if low >= requirement.probability else False if high < requirement.probability else None
        return RequirementVerdict(requirement, hits, runs, statistics.probability(hits, runs), passed)

    @property
    def verdicts(self) -> tuple[RequirementVerdict, ...]:
        """Verdicts on all requirements."""
        return tuple(self.verdict(requirement) for requirement in self.requirements)

    def success(self, confidence: float = CONFIDENCE) -> Estimate:
        """Probability that a run meets all requirements at once, or completes if there are none."""
        met = self.successes
        return statistics.probability(int(met.sum()), len(met), confidence)

    @property
    def successes(self) -> np.ndarray:
        """Whether each computed run meets all requirements and did not diverge."""
        met = self.status[self.ran] != DIVERGED if self.requirements else self.status[self.ran] == COMPLETED
        for requirement in self.requirements:
            met = met & requirement.is_met(self.metric(requirement.metric))
        return met

    def worst(self, metric: str, count: int = 10, *, smallest: bool = False) -> list[tuple[int, float]]:
        """Numbers and values of the runs with the largest (or smallest) values; not a number comes first."""
        values, runs = self.metric(metric), self.runs[self.ran]
        order = np.argsort(np.where(np.isnan(values), np.inf, -values if smallest else values), kind="stable")[::-1]
        return [(int(runs[k]), float(values[k])) for k in order[:count]]

    def rank_correlations(self, metric: str) -> dict[str, Estimate]:
        """Rank correlations of a metric with every draw, the strongest first."""
        values = self.metric(metric)
        correlations = {name: statistics.rank_correlation(self.draw(name), values) for name in self.draw_names}
        return dict(sorted(correlations.items(), key=lambda pair: -abs(np.nan_to_num(pair[1].value))))

    def sobol_indices(self, metric: str) -> dict[str, SobolIndex]:
        """Sobol indices of a metric for every draw; the design must be `saltelli`."""
        if self.described["design"] != "saltelli":
            raise CampaignError("Sobol indices need design = 'saltelli'; rank_correlations works with every design.")
        values = self._arrays("metrics")[:, self._place(metric, self.metric_names, "metric")]
        values = np.where(self.status == COMPLETED, values, np.nan)
        indices = statistics.sobol_indices(values, len(self.draw_names))
        return dict(zip(self.draw_names, indices, strict=True))

    def convergence(self) -> list[tuple[int, Estimate]]:
        """Probability of success after 16, 32, 64 ... runs, and after all."""
        return statistics.convergence(self.successes)
