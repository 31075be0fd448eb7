"""Tests whether residuals look like the given noise: their size, and whether they are white."""

from __future__ import annotations

import numpy as np

from freefloat.analysis.identification.result import Fit

_LAGS = 10


def judge_fit(residuals: dict[str, np.ndarray], fitted: int) -> Fit:
    """Chi-square test of the residuals with `fitted` parameter combinations, and a portmanteau test of whiteness."""
    from scipy.stats import chi2

    chi_square = float(sum(np.sum(channel**2) for channel in residuals.values()))
    degrees = sum(channel.size for channel in residuals.values()) - fitted
    probability = float(chi2.sf(chi_square, degrees)) if degrees > 0 else 1.0
    return Fit(residuals, chi_square, degrees, probability, _whiteness_probability(residuals))


def _whiteness_probability(residuals: dict[str, np.ndarray]) -> float:
    """Probability of such correlations in time if residuals are white (Ljung and Box, Biometrika 65, 1978)."""
    from scipy.stats import chi2

    total, lags = 0.0, 0
    for channel in residuals.values():
        for series in channel.T:
            n, centred = len(series), series - np.mean(series)
            power, most = float(centred @ centred), min(_LAGS, len(series) // 4)
            if most == 0 or power == 0.0:
                continue
            correlations = np.array([centred[k:] @ centred[:-k] for k in range(1, most + 1)]) / power
            total += n * (n + 2.0) * float(np.sum(correlations**2 / (n - np.arange(1, most + 1))))
            lags += most
    return float(chi2.sf(total, lags)) if lags else 1.0
