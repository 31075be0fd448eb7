"""Statistics of many runs: quantiles and probabilities with bounds that hold for every distribution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A number estimated from runs, and the bounds of its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """The number with its bounds: `1.2 (1.1 to 1.4)`."""
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"

    @property
    def percent(self) -> str:
        """A share with its bounds: `95 % (93 to 97 %)`."""
        return f"{100 * self.value:.4g} % ({100 * self.low:.4g} to {100 * self.high:.4g} %)"


def quantile(values: np.ndarray, probability: float, confidence: float = CONFIDENCE) -> Estimate:
    """Quantile of the values with bounds by order statistics, for every distribution.

    How many of n runs fall below the true quantile is binomial; the bounds are the values at its own quantiles. A bound
    is infinite if there are too few runs for it.
    """
    from scipy.stats import binom

    ordered, rest = np.sort(values), 0.5 * (1.0 - confidence)
    n = len(ordered)
    if n == 0:
        return Estimate(np.nan, -np.inf, np.inf)
    low, high = int(binom.ppf(rest, n, probability)), int(binom.ppf(1.0 - rest, n, probability)) + 1
    at = min(max(int(np.ceil(probability * n)), 1), n)
    return Estimate(
        float(ordered[at - 1]),
        float(ordered[low - 1]) if low >= 1 else -np.inf,
        float(ordered[high - 1]) if high <= n else np.inf,
    )


def probability(successes: int, runs: int, confidence: float = CONFIDENCE) -> Estimate:
    """Probability of success with the exact interval of Clopper and Pearson (1934)."""
    side = 0.5 * (1.0 + confidence)
    low, high = one_sided_low(successes, runs, side), one_sided_high(successes, runs, side)
    return Estimate(successes / runs if runs else np.nan, low, high)


def one_sided_low(successes: int, runs: int, confidence: float) -> float:
    """One-sided lower bound of a probability of success."""
    from scipy.stats import beta

    return float(beta.ppf(1.0 - confidence, successes, runs - successes + 1)) if successes else 0.0


def one_sided_high(successes: int, runs: int, confidence: float) -> float:
    """One-sided upper bound of a probability of success."""
    from scipy.stats import beta

    return float(beta.ppf(confidence, successes + 1, runs - successes)) if successes < runs else 1.0


def convergence(hits: np.ndarray, confidence: float = CONFIDENCE) -> list[tuple[int, Estimate]]:
    """Estimates of a probability after 16, 32, 64 ... runs, and after all, with the number of runs."""
    counts = [*(2**k for k in range(4, 63) if 2**k < len(hits)), len(hits)]
    sums = np.cumsum(hits)
    return [(n, probability(int(sums[n - 1]), n, confidence)) for n in counts if n]


def rank_correlation(x: np.ndarray, y: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """Spearman's rank correlation, with the bounds of Fisher's transformation (Fieller, Hartley and Pearson, 1957)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    good = ~(np.isnan(x) | np.isnan(y))
    n = int(good.sum())
    if n < 4 or np.ptp(x[good]) == 0.0 or not np.any(y[good] != y[good][0]):
        return Estimate(np.nan, -1.0, 1.0)
    value = float(np.corrcoef(rankdata(x[good]), rankdata(y[good]))[0, 1])
    centre = np.arctanh(np.clip(value, -1.0 + 1e-15, 1.0 - 1e-15))
    half = float(ndtri(0.5 * (1.0 + confidence))) * 1.03 / np.sqrt(n - 3.0)
    return Estimate(value, float(np.tanh(centre - half)), float(np.tanh(centre + half)))


class SobolIndex(NamedTuple):
    """Share of a metric's variance that one draw explains: by itself, and with all its interactions."""

    first: Estimate
    total: Estimate


def sobol_indices(values: np.ndarray, draws: int, confidence: float = CONFIDENCE) -> list[SobolIndex]:
    """Sobol indices of every draw, from the runs of a saltelli design in order; bounds by resampling its points.

    First order by Saltelli et al. (2010), total by Jansen (1999). Points with a value that is no number are left out.
    """
    rows = values[: len(values) // (draws + 2) * (draws + 2)].reshape(-1, draws + 2)
    rows = rows[np.all(np.isfinite(rows), axis=1)]
    if len(rows) < 2:
        none = Estimate(np.nan, -np.inf, np.inf)
        return [SobolIndex(none, none)] * draws
    rng = np.random.default_rng(len(rows))
    picks = rng.integers(len(rows), size=(200, len(rows)))
    centre = _indices(rows)
    again = np.stack([_indices(rows[pick]) for pick in picks])
    rest = 0.5 * (1.0 - confidence)
    low, high = np.nanquantile(again, [rest, 1.0 - rest], axis=0)
    return [
        SobolIndex(*(Estimate(float(centre[k, i]), float(low[k, i]), float(high[k, i])) for k in range(2)))
        for i in range(draws)
    ]


def _indices(rows: np.ndarray) -> np.ndarray:
    """First-order and total Sobol indices, (2, draws)."""
    a, b, mixed = rows[:, 0], rows[:, 1], rows[:, 2:]
    variance = np.var(rows[:, :2])
    if variance == 0.0:
        return np.full((2, mixed.shape[1]), np.nan)
    first = np.mean((b - np.mean(rows[:, :2]))[:, None] * (mixed - a[:, None]), axis=0)
    total = 0.5 * np.mean((a[:, None] - mixed) ** 2, axis=0)
    return np.stack([first, total]) / variance
