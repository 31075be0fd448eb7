"""Weighted nonlinear least squares: Gauss and Newton, held back as Levenberg and Marquardt do where it overshoots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# A combination whose standard deviation is more than its own size is not told by the data and stays where it is.
LARGEST = 1.0
ROUNDING = 1e-10  # of the largest singular value: what is left of combinations that have no effect at all
_CLOSE = 1e-4  # standard deviations from the minimum at which the search ends
_MOST = 30

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # z -> (residuals, slopes), both in units of the noise


@dataclass(frozen=True)
class Decomposition:
    """Singular values of the slopes: each is one over the standard deviation of a combination of parameters."""

    left: np.ndarray
    values: np.ndarray
    combinations: np.ndarray  # one in each column

    @staticmethod
    def of(slopes: np.ndarray) -> Decomposition:
        """Of slopes by scaled parameters."""
        left, values, right = np.linalg.svd(slopes, full_matrices=False)
        return Decomposition(left, values, right.T)

    @property
    def told(self) -> np.ndarray:
        """Which combinations the data tell."""
        return self.values > np.maximum(1.0 / LARGEST, ROUNDING * self.values[0])

    def covariance(self) -> np.ndarray:
        """Of the scaled parameters; very large, not infinite, along what has no effect."""
        least = max(ROUNDING * float(self.values[0]), 1e-150)
        spread = self.combinations / np.maximum(self.values, least)
        return spread @ spread.T


@dataclass(frozen=True)
class Minimum:
    """Where the search ended."""

    z: np.ndarray  # scaled parameters
    residuals: np.ndarray
    slopes: np.ndarray
    iterations: int
    distance: float  # from the minimum, as far as the last slopes know [standard deviations]

    @property
    def converged(self) -> bool:
        """Whether it is one."""
        return self.distance < _CLOSE


def minimise(evaluate: Evaluate, z: np.ndarray) -> Minimum:
    """From z to the least sum of squared residuals; residuals are measured minus predicted."""
    residuals, slopes = evaluate(z)
    damping = 0.0
    for iteration in range(_MOST):
        parts = Decomposition.of(slopes)
        told = parts.told
        along = (parts.left.T @ residuals)[told]
        found = Minimum(z, residuals, slopes, iteration, float(np.linalg.norm(along)))
        if found.converged:
            break
        size = parts.values[told]
        while True:
            step = parts.combinations[:, told] @ (along * size / (size**2 + damping))
            new_residuals, new_slopes = evaluate(z + step)
            if _is_better(new_residuals, residuals):
                break
            damping = max(10.0 * damping, 1e-4 * float(size[0]) ** 2)
            if damping > 1e12 * float(size[0]) ** 2:
                return found
        z, residuals, slopes, damping = z + step, new_residuals, new_slopes, 0.1 * damping
    return found


def _is_better(new: np.ndarray, old: np.ndarray) -> bool:
    """Smaller, or equal to rounding."""
    return bool(np.all(np.isfinite(new))) and float(new @ new) <= float(old @ old) * (1.0 + 1e-12) + 1e-12
