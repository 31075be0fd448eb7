"""Estimate of mass and inertia from a motion: momentum against impulse, by least squares, with deviations.

Momentum about a fixed point is linear in the ten inertial numbers of a body (mass m, m times centre of mass h, inertia
I about its origin): P = R (m v + w x h), L = R (I w + h x v) + p x P. It must change by the impulse, and by nothing
else. A free tumble determines ratios only, not the common factor; a push determines the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.spatial import SpatialInertia

AXES = ("x", "y", "z")
_PAIRS = ((0, 1), (0, 2), (1, 2))
_PRIOR = 1.0  # relative; without data a number may be twice the declared one, or zero
_ROUNDING = 1e-10  # of the largest momentum; smaller residuals carry no information
_ROUNDS = 3  # iterations in which the noise is estimated
_MOST_ALIKE = 0.999  # correlation of neighbouring residuals


@dataclass(frozen=True)
class BodyMotion:
    """Motion of a body at n instants, and the change of momentum that the body must show."""

    rotation: np.ndarray  # R_NB (n, 3, 3)
    position: np.ndarray  # p_NB from the fixed point (n, 3) [m]
    velocity: np.ndarray  # B axes (n, 3) [m/s]
    rate: np.ndarray  # B axes (n, 3) [rad/s]
    linear: np.ndarray  # change of P that the body must show (n, 3) [N s], N axes
    angular: np.ndarray  # change of L about the fixed point (n, 3) [N m s]


@dataclass(frozen=True)
class InertiaEstimate:
    """Estimated inertial numbers as factors of the declared ones, and their standard deviations."""

    mass: float
    mass_deviation: float
    moments: np.ndarray  # (3,) about x, y, z of the body's origin
    covariance: np.ndarray  # (3, 3)

    def moment_deviation(self, axis: int) -> float:
        """Standard deviation of the factor of one moment of inertia."""
        return float(np.sqrt(self.covariance[axis, axis]))

    def ratio(self, a: int, b: int) -> tuple[float, float]:
        """Ratio of two moments over their declared ratio, and its standard deviation."""
        value = float(self.moments[a] / self.moments[b])
        slope = np.zeros(3)
        slope[a], slope[b] = value / self.moments[a], -value / self.moments[b]
        return value, float(np.sqrt(slope @ self.covariance @ slope))


def estimate_inertia(
    declared: SpatialInertia, motion: BodyMotion, noise: tuple[float, float] = (0.0, 0.0)
) -> InertiaEstimate:
    """Inertia by least squares around the declared numbers; `noise`: least known error of P [N s] and L [N m s].

    Residuals of neighbouring instants are correlated, so they count for fewer than they are.
    """
    numbers, scales = _numbers(declared)
    parts = [
        _MomentumRows.of(Y, change, numbers, scales, least)
        for Y, change, least in zip(_regressors(motion), (motion.linear, motion.angular), noise, strict=True)
    ]
    noises = [part.least for part in parts]  # at first; the residuals of the best numbers are noise, too
    x, covariance = np.zeros(10), np.eye(10)
    for _ in range(_ROUNDS):
        x, covariance = _solve(parts, noises)
        noises = [part.spread(x) for part in parts]
    return InertiaEstimate(1.0 + float(x[0]), float(np.sqrt(covariance[0, 0])), 1.0 + x[4:7], covariance[4:7, 4:7])


def _solve(parts: list[_MomentumRows], noises: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and covariance, by singular values: those that the motion does not determine are ten digits smaller."""
    rows = np.concatenate([part.rows / noise for part, noise in zip(parts, noises, strict=True)])
    left = np.concatenate([part.left / noise for part, noise in zip(parts, noises, strict=True)])
    U, sizes, Vt = np.linalg.svd(np.concatenate([rows, np.eye(10) / _PRIOR]), full_matrices=False)
    x = Vt.T @ ((U.T @ np.concatenate([left, np.zeros(10)])) / sizes)
    return x, (Vt.T / sizes**2) @ Vt


@dataclass(frozen=True)
class _MomentumRows:
    """Rows of the least squares, for linear or angular momentum: residuals of the declared numbers, and regressors."""

    rows: np.ndarray  # (3 n, 10), by relative changes of the numbers
    left: np.ndarray  # (3 n,)
    least: float  # lower bound of the noise

    @staticmethod
    def of(Y: np.ndarray, change: np.ndarray, numbers: np.ndarray, scales: np.ndarray, least: float) -> _MomentumRows:
        since = Y - Y[:1]
        size = float(np.abs(Y * scales).max()) or 1.0  # a body at rest determines nothing, at any noise
        left = change - since @ numbers
        return _MomentumRows((since * scales).reshape(-1, 10), left.reshape(-1), max(least, _ROUNDING * size))

    def spread(self, x: np.ndarray) -> float:
        """Standard deviation of the residuals, enlarged for the correlation of neighbours."""
        residuals = (self.left - self.rows @ x).reshape(-1, 3)
        before, after = residuals[:-1].ravel(), residuals[1:].ravel()
        size = float(np.sqrt(np.sum(before**2) * np.sum(after**2)))
        alike = float(np.clip(before @ after / size, 0.0, _MOST_ALIKE)) if size > 0.0 else 0.0
        return max(float(np.sqrt(np.mean(residuals**2) * (1.0 + alike) / (1.0 - alike))), self.least)


def _numbers(declared: SpatialInertia) -> tuple[np.ndarray, np.ndarray]:
    """The ten declared numbers, and the scale of each: its own value, or that of moments of this size."""
    m, h, inertia = float(declared.mass), np.asarray(declared.moment), np.asarray(declared.inertia)
    moments = np.diag(inertia)
    products = np.array([inertia[a, b] for a, b in _PAIRS])
    sizes = np.array([np.sqrt(moments[a] * moments[b]) for a, b in _PAIRS])
    arm = np.sqrt(0.5 * moments.sum() / m)  # [m]
    return np.concatenate([[m], h, moments, products]), np.concatenate([[m], np.full(3, m * arm), moments, sizes])


def _regressors(motion: BodyMotion) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of P and L about the fixed point, in N axes, by the ten numbers: each (n, 3, 10)."""
    n, v, w = len(motion.rate), motion.velocity, motion.rate
    P, L = np.zeros((n, 3, 10)), np.zeros((n, 3, 10))
    P[:, :, 0] = v
    for k, unit in enumerate(np.eye(3)):
        P[:, :, 1 + k], L[:, :, 1 + k] = np.cross(w, unit), np.cross(unit, v)
        L[:, k, 4 + k] = w[:, k]
    for k, (a, b) in enumerate(_PAIRS):
        L[:, a, 7 + k], L[:, b, 7 + k] = w[:, b], w[:, a]
    P, L = motion.rotation @ P, motion.rotation @ L
    return P, L + np.cross(motion.position[:, :, None], P, axis=1)
