"""The draws of a campaign, run by run: points of the unit cube, the numbers computed from them, repeated draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.campaign.designs import require_design, shares
from freefloat.campaign.dispersions import AnyDispersion, bind_all
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.numbers import Numbers
from freefloat.campaign.physical_draws import PhysicalDraws
from freefloat.campaign.places import NumberCatalogue
from freefloat.campaign.random_words import uniforms
from freefloat.sim import Experiment

IMPOSSIBLE = ("refuse", "redraw")
_ATTEMPTS = 200  # at one run


@dataclass(frozen=True)
class DrawnRuns:
    """Draws of some runs, and the numbers that follow from them."""

    draws: np.ndarray  # (runs, draws)
    numbers: np.ndarray  # (runs, numbers)
    attempts: np.ndarray  # int32 (runs,): how often a run was drawn again
    refused: np.ndarray  # bool (runs,): impossible, and not to be run


class Draws:
    """Draws the numbers of a campaign's runs; run i has the same numbers whether it is drawn alone or with others."""

    def __init__(
        self,
        experiment: Experiment,
        dispersions: Sequence[AnyDispersion],
        *,
        seed: int,
        runs: int,
        design: str = "random",
        impossible: str = "refuse",
    ) -> None:
        self.seed, self.runs, self.design = seed, runs, design
        places = NumberCatalogue(experiment)
        self._bound = bind_all(dispersions, places)
        self.names = tuple(name for spread in self._bound for name in spread.names)
        if impossible not in IMPOSSIBLE:
            raise CampaignError(f"impossible must be one of {', '.join(IMPOSSIBLE)}, got {impossible!r}.")
        if impossible == "redraw" and design == "saltelli":
            raise CampaignError("A saltelli design cannot redraw: its points belong together. Truncate instead.")
        self._again = impossible == "redraw"
        require_design(design, runs, len(self.names))
        self.numbers = Numbers(experiment, self._bound, places)
        self._judge = PhysicalDraws(experiment, self.numbers)

    def of(self, runs: np.ndarray) -> DrawnRuns:
        """Draw the numbers of these runs."""
        runs = np.asarray(runs, np.int64)
        first = shares(self.design, self.seed, self.runs, runs, len(self.names))
        draws = self._values(first, runs)
        numbers = self.numbers.of_draws(draws)
        attempts, bad = np.zeros(len(runs), np.int32), self._judge.impossible(numbers)
        attempt = 0
        while self._again and bad.any():
            attempt += 1
            if attempt > _ATTEMPTS:
                raise CampaignError(
                    f"Run {runs[bad][0]} was drawn {_ATTEMPTS} times and is still impossible: "
                    f"{self._words(draws[bad][0])}. Narrow the distributions, or truncate them."
                )
            draws[bad] = self._values(uniforms(self.seed, runs[bad], len(self.names), attempt), runs[bad])
            numbers[bad] = self.numbers.of_draws(draws[bad])
            attempts[bad] = attempt
            bad[bad] = self._judge.impossible(numbers[bad])
        return DrawnRuns(draws, numbers, attempts, bad)

    def _values(self, points: np.ndarray, runs: np.ndarray) -> np.ndarray:
        parts, first = [np.zeros((len(points), 0))], 0
        for spread in self._bound:
            parts.append(spread.draw(points[:, first : first + spread.count], runs))
            first += spread.count
        return np.concatenate(parts, axis=1)

    def _words(self, row: np.ndarray) -> str:
        return ", ".join(f"{name} = {value:.4g}" for name, value in zip(self.names, row, strict=True))
