"""Growth of small differences along a run: like a power of time where motion is regular, exponentially where not."""

from __future__ import annotations

import numpy as np

_FOLDS = 5.0  # times over e, at least, that differences must have grown: a factor of 150
_POWER = 4.0  # a power of time that regular motion does not exceed: the drift of a drift is the second
_BEGUN = 0.15  # of the time: before, differences are still being made
_FEWEST = 20  # records


def growth_rate(t: np.ndarray, apart: np.ndarray, floor: float) -> float:
    """Rate [1/s] at which a difference grows exponentially; zero where a power of time describes it as well.

    `apart`: size of the difference at each time; below `floor` it is rounding, near one it can grow no more.
    """
    largest = np.maximum.accumulate(np.where(np.isfinite(apart), apart, 1.0))
    use = (largest > floor) & (largest < 0.3) & (t > t[0])
    if np.count_nonzero(use) < _FEWEST:
        return 0.0
    use &= t - t[0] > _BEGUN * (t[use][-1] - t[0])
    if np.count_nonzero(use) < _FEWEST:
        return 0.0
    since, size = t[use] - t[0], np.log(largest[use])
    rate, misfit = _line(since, size)
    power, other = _line(np.log(since), size)
    grown = rate * (since[-1] - since[0])
    return rate if grown > _FOLDS and power > _POWER and misfit < other else 0.0


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of a straight line through points, and the root mean square of what it leaves."""
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(np.sqrt(np.mean((y - slope * x - offset) ** 2)))
