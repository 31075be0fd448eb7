"""Weighted nonlinear least squares: Levenberg and Marquardt with a trust region.

A step is the one of Gauss and Newton where that is short enough, else the best one of the longest length that is
trusted (More, The Levenberg-Marquardt algorithm, 1978). The length is measured by the parameters' own sizes and by a
metric that grows towards bodies that cannot exist, so that steps along that edge stay long and steps across it become
short. The ratio of actual to predicted decrease sets the trusted length of the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freefloat.values.errors import ModelError

# A combination whose standard deviation exceeds its own size is not identifiable and keeps its value.
LARGEST = 1.0
ROUNDING = 1e-10  # of the largest singular value: what is left of combinations that have no effect at all
_CLOSE = 1e-4  # distance from the minimum at which the search ends [standard deviations]
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
        """Decomposition of the slopes (residuals by scaled parameters)."""
        missing = max(0, slopes.shape[1] - len(slopes))  # fewer data than parameters: some are not identifiable
        left, values, right = np.linalg.svd(np.pad(slopes, ((0, missing), (0, 0))), full_matrices=False)
        left = left[: len(slopes)]
        return Decomposition(left, values, right.T)

    @property
    def identifiable(self) -> np.ndarray:
        """Mask of the combinations that the data determine."""
        return is_identifiable(self.values)

    def covariance(self) -> np.ndarray:
        """Covariance of the scaled parameters; very large, not infinite, along combinations without effect."""
        least = max(ROUNDING * float(self.values[0]), 1e-30)
        spread = self.combinations / np.maximum(self.values, least)
        return spread @ spread.T


def is_identifiable(singular_values: np.ndarray) -> np.ndarray:
    """Mask of the combinations whose standard deviation is smaller than their own size."""
    return singular_values > np.maximum(1.0 / LARGEST, ROUNDING * singular_values[0])


@dataclass(frozen=True)
class Minimum:
    """Point at which the search ended."""

    z: np.ndarray  # scaled parameters
    residuals: np.ndarray
    slopes: np.ndarray
    iterations: int
    distance: float  # from the minimum, estimated by the last slopes [standard deviations]

    @property
    def converged(self) -> bool:
        """Whether the point is a minimum to within rounding."""
        return self.distance < max(_CLOSE, float(np.sqrt(_SUM * (self.residuals @ self.residuals))))


def minimise(evaluate: Evaluate, z: np.ndarray, metric: Metric) -> Minimum:
    """Minimise the sum of squared residuals (measured minus predicted), starting from z."""
    (residuals, slopes), lengths = evaluate(z), metric(z)
    if lengths is None or not np.all(np.isfinite(residuals)) or not np.all(np.isfinite(slopes)):
        raise ModelError("The experiment diverges with the numbers that it has. Run it by itself, and repair it first.")
    radius, iteration = _FIRST, 0
    for _ in range(_MOST):
        parts = Decomposition.of(slopes)
        found = Minimum(z, residuals, slopes, iteration, float(np.linalg.norm(_projected_residuals(parts, residuals))))
        if found.converged or radius < _SHORTEST:
            return found
        step, length, predicted = _trusted_step(parts, residuals, lengths, radius)
        near = metric(z + step)
        new = evaluate(z + step) if near is not None else None
        gain = -np.inf if new is None else _gain_ratio(new, residuals, predicted)
        if gain < _POOR:
            radius = _SHRINK * length
        elif gain > _GOOD:
            radius = max(radius, _GROW * length)
        if new is not None and near is not None and gain > _ACCEPT:
            z, (residuals, slopes), lengths = z + step, new, near
            iteration += 1
    parts = Decomposition.of(slopes)
    return Minimum(z, residuals, slopes, iteration, float(np.linalg.norm(_projected_residuals(parts, residuals))))


def _projected_residuals(parts: Decomposition, residuals: np.ndarray) -> np.ndarray:
    """Residuals along each identifiable combination: the Gauss-Newton step [standard deviations]."""
    return (parts.left.T @ residuals)[parts.identifiable]


def _trusted_step(
    parts: Decomposition, residuals: np.ndarray, lengths: np.ndarray, radius: float
) -> tuple[np.ndarray, float, float]:
    """Best step within the trust radius, its length, and the decrease of the sum of squares that the slopes predict."""
    along, kept = _projected_residuals(parts, residuals), parts.identifiable
    size, basis = parts.values[kept], parts.combinations[:, kept]
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


def _gain_ratio(new: tuple[np.ndarray, np.ndarray], old: np.ndarray, predicted: float) -> float:
    """Ratio of actual to predicted decrease of the sum of squares; 1 where both are below rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        after, before = float(new[0] @ new[0]), float(old @ old)
    if not np.isfinite(after) or not np.all(np.isfinite(new[1])):
        return -np.inf
    rounding = 1e-12 * before + 1e-12
    if predicted < rounding and abs(after - before) < rounding:
        return 1.0
    return (before - after) / max(predicted, 1e-300)
