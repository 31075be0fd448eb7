"""Weighted nonlinear least squares: Gauss and Newton, held back as Levenberg and Marquardt do where it overshoots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freefloat.values.errors import ModelError

# A combination whose standard deviation is more than its own size is not told by the data and stays where it is.
LARGEST = 1.0
ROUNDING = 1e-10  # of the largest singular value: what is left of combinations that have no effect at all
_CLOSE = 1e-4  # standard deviations from the minimum at which the search ends
_MOST = 30  # iterations
_STIFFEST = 1e12  # damping relative to the steepest direction, beyond which no step is better

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
        missing = max(0, slopes.shape[1] - len(slopes))  # fewer data than parameters: some combination is not told
        left, values, right = np.linalg.svd(np.pad(slopes, ((0, missing), (0, 0))), full_matrices=False)
        left = left[: len(slopes)]
        return Decomposition(left, values, right.T)

    @property
    def told(self) -> np.ndarray:
        """Which combinations the data tell."""
        return is_told(self.values)

    def covariance(self) -> np.ndarray:
        """Of the scaled parameters; very large, not infinite, along what has no effect."""
        least = max(ROUNDING * float(self.values[0]), 1e-30)
        spread = self.combinations / np.maximum(self.values, least)
        return spread @ spread.T


def is_told(singular_values: np.ndarray) -> np.ndarray:
    """Which combinations are known better than to their own size."""
    return singular_values > np.maximum(1.0 / LARGEST, ROUNDING * singular_values[0])


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
    if not np.all(np.isfinite(residuals)) or not np.all(np.isfinite(slopes)):
        raise ModelError("The experiment diverges with the numbers that it has. Run it by itself, and repair it first.")
    damping, iteration = 0.0, 0
    while True:
        parts = Decomposition.of(slopes)
        told = parts.told
        along, size = (parts.left.T @ residuals)[told], parts.values[told]
        found = Minimum(z, residuals, slopes, iteration, float(np.linalg.norm(along)))
        if found.converged or iteration == _MOST or damping > _STIFFEST * float(size[0]) ** 2:
            return found
        step = parts.combinations[:, told] @ (along * size / (size**2 + damping))
        new = evaluate(z + step)
        if np.all(np.isfinite(new[1])) and _is_better(new[0], residuals):
            z, (residuals, slopes), damping = z + step, new, 0.1 * damping
            iteration += 1
        else:
            damping = max(10.0 * damping, 1e-4 * float(size[0]) ** 2)


def _is_better(new: np.ndarray, old: np.ndarray) -> bool:
    """Smaller, or equal to rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.all(np.isfinite(new))) and float(new @ new) <= float(old @ old) * (1.0 + 1e-12) + 1e-12
