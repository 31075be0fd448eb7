"""Result of an identification: estimates with covariance, parameters that are not identifiable, quality of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from freefloat.analysis.identification.identifiability import UnidentifiableChange
from freefloat.analysis.identification.levenberg_marquardt import is_identifiable
from freefloat.sim.experiment import Experiment
from freefloat.values.short_text import TextDisplay

CovarianceSource = Literal["noise", "residuals"]


class NotIdentifiable(ValueError):
    """A parameter that the data do not determine."""


class IdentificationError(ValueError):
    """A search that ended elsewhere than at a minimum, or at a body that cannot exist; `best` is the best point."""

    def __init__(self, message: str, best: Identification) -> None:
        super().__init__(message)
        self.best = best


@dataclass(frozen=True)
class Fit:
    """Statistics of the residuals, in units of the given noise."""

    residuals: dict[str, np.ndarray]  # of each channel, (instants, numbers)
    chi_square: float  # sum of their squares
    degrees: int  # of freedom: measured numbers minus identifiable combinations
    probability: float  # of a chi-square at least as large, if model and noise are right
    whiteness: float  # probability of correlations in time at least as large (Ljung and Box), if they are white

    @property
    def reduced_chi_square(self) -> float:
        """Chi-square per degree of freedom: one where model and noise are right."""
        return self.chi_square / max(self.degrees, 1)


@dataclass(frozen=True, repr=False)
class Identification(TextDisplay):
    """Estimates. `result["base.mass"]` is a number; an error is raised if the data do not determine it."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: np.ndarray  # NaN where the data do not determine the parameter
    deviations: np.ndarray  # one sigma; infinite where the data do not determine the parameter
    covariance: np.ndarray  # of all parameters; very large along combinations without effect
    covariance_from: CovarianceSource  # the noise given, or the size of the residuals
    nominal: np.ndarray  # where the search began
    scale: np.ndarray  # sizes by which changes are measured
    singular_values: np.ndarray  # of the scaled slopes: one over the deviation of each combination, in its own size
    untold: tuple[UnidentifiableChange, ...]
    shares: dict[str, np.ndarray]  # by channel: its share of the information about each parameter
    fit: Fit
    experiment: Experiment  # with the estimates; parameters that are not identifiable keep their values
    iterations: int
    converged: bool
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float:
        k = self._place(name)
        if not np.isfinite(self.values[k]):
            reason = (
                " ".join(str(change) for change in self.untold if name in change.names)
                or "Its deviation exceeds its size."
            )
            raise NotIdentifiable(
                f"The data do not tell '{name}'. {reason} Measure more, move differently, or give a prior."
            )
        return float(self.values[k])

    def deviation(self, name: str) -> float:
        """Standard deviation of an estimate; infinite if the data do not determine it."""
        return float(self.deviations[self._place(name)])

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise KeyError(f"'{name}' was not estimated. Parameters: {', '.join(self.names)}.")
        return self.names.index(name)

    @property
    def rank(self) -> int:
        """Number of combinations that the data determine."""
        return int(np.count_nonzero(is_identifiable(self.singular_values)))

    @property
    def condition(self) -> float:
        """Largest over smallest singular value of the identifiable combinations."""
        return float(self.singular_values[0] / self.singular_values[self.rank - 1]) if self.rank else np.inf

    @property
    def correlation(self) -> np.ndarray:
        """Correlation matrix of the estimates."""
        size = np.sqrt(np.diag(self.covariance))
        return self.covariance / np.outer(size, size)

    def main_channel(self, name: str) -> str:
        """Name of the channel with most information about a parameter."""
        k = self._place(name)
        return max(self.shares, key=lambda channel: self.shares[channel][k])

    def normalised_error(self, truth: np.ndarray) -> float:
        """(estimate - truth)^T covariance^-1 (estimate - truth): chi-square with `rank` degrees of freedom."""
        if self.untold:
            raise NotIdentifiable(f"Not every parameter is told. {' '.join(map(str, self.untold))}")
        error = (self.values - truth) / self.scale
        return float(error @ np.linalg.solve(self.covariance / np.outer(self.scale, self.scale), error))

    def __repr__(self) -> str:
        return f"<Identification of {len(self.names)} parameters, {self.rank} told>"

    def __str__(self) -> str:
        return "\n".join((*self._table(), *self._quality(), *map(str, self.untold), *self.notes))

    def _table(self) -> list[str]:
        width = max(map(len, self.names))
        lines = [f"{'parameter':{width}}  {'estimate':>12}  {'deviation':>10}  {'relative':>8}  unit   told by"]
        for k, name in enumerate(self.names):
            if not np.isfinite(self.values[k]):
                lines.append(f"{name:{width}}  {'-':>12}  {'-':>10}  {'-':>8}  {self.units[k]:5}  not told by the data")
                continue
            relative = self.deviations[k] / self.scale[k]
            number = f"{self.values[k]:12.6g}  {self.deviations[k]:10.3g}  {relative:8.1e}"
            lines.append(f"{name:{width}}  {number}  {self.units[k]:5}  {self.main_channel(name)}")
        return lines

    def _quality(self) -> list[str]:
        origin = {"noise": "the noise given", "residuals": "the residuals"}[self.covariance_from]
        fit = self.fit
        ended = (
            f"{self.iterations} iterations" if self.converged else f"NOT CONVERGED after {self.iterations} iterations"
        )
        return [
            f"{ended}; covariance from {origin}; rank {self.rank} of {len(self.names)}, condition {self.condition:.2g}",
            f"chi-square per degree {fit.reduced_chi_square:.3f} of {fit.degrees} (probability {fit.probability:.2g}); "
            f"white with probability {fit.whiteness:.2g}",
        ]
