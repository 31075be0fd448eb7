"""Weighted nonlinear least squares: Levenberg and Marquardt with a trust region.

A step is the one of Gauss and Newton where that is short enough, else the best one of the longest length that is
trusted (More, The Levenberg-Marquardt algorithm, 1978). The length is measured by the parameters' own sizes and by a
metric that grows towards bodies that cannot exist, so that steps along that edge stay long and steps across it become
short. The ratio of actual to predicted decrease says how far the next step is trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freefloat.values.errors import ModelError

# A combination whose standard deviation is more than its own size is not told by the data and stays where it is.
LARGEST = 1.0
ROUNDING = 1e-10  # of the largest singular value: what is left of combinations that have no effect at all
_CLOSE = 1e-4  # standard deviations from the minimum at which the search ends
_SUM = 1e-13  # of the sum of squares: what rounding hides of its decrease
_MOST = 100  # evaluations
_FIRST = 1.0  # length of the first step that is trusted: parameters change by about their own size
_SHORTEST = 1e-10  # length of a step below which none is better
_POOR, _GOOD, _SHRINK, _GROW = 0.25, 0.75, 0.25, 3.0  # of More's rule for the next length
_ACCEPT = 1e-3  # of the predicted decrease, at least

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # z -> (residuals, slopes), both in units of the noise
Metric = Callable[[np.ndarray], np.ndarray | None]  # z -> matrix of squared lengths of changes; None: cannot exist


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
        """Whether it is one, as far as rounding lets it be seen."""
        return self.distance < max(_CLOSE, float(np.sqrt(_SUM * (self.residuals @ self.residuals))))


def minimise(evaluate: Evaluate, z: np.ndarray, metric: Metric) -> Minimum:
    """From z to the least sum of squared residuals; residuals are measured minus predicted."""
    (residuals, slopes), lengths = evaluate(z), metric(z)
    if lengths is None or not np.all(np.isfinite(residuals)) or not np.all(np.isfinite(slopes)):
        raise ModelError("The experiment diverges with the numbers that it has. Run it by itself, and repair it first.")
    radius, iteration = _FIRST, 0
    for _ in range(_MOST):
        parts = Decomposition.of(slopes)
        found = Minimum(z, residuals, slopes, iteration, float(np.linalg.norm(_along(parts, residuals))))
        if found.converged or radius < _SHORTEST:
            return found
        step, length, predicted = _trusted_step(parts, residuals, lengths, radius)
        near = metric(z + step)
        new = evaluate(z + step) if near is not None else None
        gain = -np.inf if new is None else _gain(new, residuals, predicted)
        if gain < _POOR:
            radius = _SHRINK * length
        elif gain > _GOOD:
            radius = max(radius, _GROW * length)
        if new is not None and near is not None and gain > _ACCEPT:
            z, (residuals, slopes), lengths = z + step, new, near
            iteration += 1
    parts = Decomposition.of(slopes)
    return Minimum(z, residuals, slopes, iteration, float(np.linalg.norm(_along(parts, residuals))))


def _along(parts: Decomposition, residuals: np.ndarray) -> np.ndarray:
    """Residuals along each combination that the data tell: the step of Gauss and Newton in standard deviations."""
    return (parts.left.T @ residuals)[parts.told]


def _trusted_step(
    parts: Decomposition, residuals: np.ndarray, lengths: np.ndarray, radius: float
) -> tuple[np.ndarray, float, float]:
    """The best step that is no longer than the radius, its length, and the decrease of the sum that slopes predict."""
    along, size, basis = _along(parts, residuals), parts.values[parts.told], parts.combinations[:, parts.told]
    lower = np.linalg.cholesky(basis.T @ (np.eye(len(basis)) + lengths) @ basis)
    # In coordinates w = L^T y lengths are plain, and (Q diag(curvature) Q^T + damping) w = L^-1 S along.
    scaled = np.linalg.solve(lower, np.diag(size))
    curvature, axes = np.linalg.eigh(scaled @ scaled.T)
    slope = axes.T @ (scaled @ along)
    curvature = np.maximum(curvature, ROUNDING**2 * curvature[-1])

    def at(damping: float) -> np.ndarray:
        return slope / (curvature + damping)

    damping = 0.0
    if np.linalg.norm(at(0.0)) > radius:
        low, high = 0.0, float(np.linalg.norm(slope)) / radius  # beyond which every step is shorter
        for _ in range(60):
            damping = np.sqrt(low * high) if low else 1e-6 * high
            low, high = (damping, high) if np.linalg.norm(at(damping)) > radius else (low, damping)
            if high <= 1.01 * low or damping < 1e-14 * curvature[-1]:
                break
    step = np.linalg.solve(lower.T, axes @ at(damping))
    predicted = float(along @ along - np.sum((along - size * step) ** 2))
    return basis @ step, float(np.linalg.norm(at(damping))), predicted


def _gain(new: tuple[np.ndarray, np.ndarray], old: np.ndarray, predicted: float) -> float:
    """Actual over predicted decrease of the sum of squares; one where both are lost in rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        after, before = float(new[0] @ new[0]), float(old @ old)
    if not np.isfinite(after) or not np.all(np.isfinite(new[1])):
        return -np.inf
    rounding = 1e-12 * before + 1e-12
    if predicted < rounding and abs(after - before) < rounding:
        return 1.0
    return (before - after) / max(predicted, 1e-300)
