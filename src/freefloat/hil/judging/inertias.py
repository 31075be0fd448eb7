"""Which mass and inertia explain a motion: momentum against impulse, by least squares, with what the motion can tell.

Momentum about a fixed point is linear in the ten inertial numbers of a body (mass m, m times centre of mass h, inertia
I about its origin): P = R (m v + w x h), L = R (I w + h x v) + p x P. It must change by the impulse, and by nothing
else. A free tumble leaves a common factor open and tells ratios; a push tells the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.spatial import SpatialInertia

AXES = ("x", "y", "z")
_PAIRS = ((0, 1), (0, 2), (1, 2))
_PRIOR = 1.0  # relative; without data a number may be twice or nothing of what was declared
_ROUNDING = 1e-10  # of the largest momentum, that is never taken for a sign of anything
_ROUNDS = 3  # in which the noise is found
_MOST_ALIKE = 0.999  # correlation of neighbouring residuals


@dataclass(frozen=True)
class Motion:
    """A body over n instants, and the momentum that everything but it has got or given."""

    rotation: np.ndarray  # R_NB (n, 3, 3)
    position: np.ndarray  # p_NB from the fixed point (n, 3) [m]
    velocity: np.ndarray  # B axes (n, 3) [m/s]
    rate: np.ndarray  # B axes (n, 3) [rad/s]
    linear: np.ndarray  # change of P that the body must show (n, 3) [N s], N axes
    angular: np.ndarray  # change of L about the fixed point (n, 3) [N m s]


@dataclass(frozen=True)
class InertiaEstimate:
    """Inertial numbers over the declared ones: factors and what they may be off by (one sigma)."""

    mass: float
    mass_deviation: float
    moments: np.ndarray  # (3,) about x, y, z of the body's origin
    covariance: np.ndarray  # (3, 3)

    def moment_deviation(self, axis: int) -> float:
        """Of one moment."""
        return float(np.sqrt(self.covariance[axis, axis]))

    def ratio(self, a: int, b: int) -> tuple[float, float]:
        """Of two moments over their declared ratio, and its deviation."""
        value = float(self.moments[a] / self.moments[b])
        slope = np.zeros(3)
        slope[a], slope[b] = value / self.moments[a], -value / self.moments[b]
        return value, float(np.sqrt(slope @ self.covariance @ slope))


def estimate_inertia(
    declared: SpatialInertia, motion: Motion, noise: tuple[float, float] = (0.0, 0.0)
) -> InertiaEstimate:
    """Least squares around the declared numbers; `noise`: what P [N s] and L [N m s] are known to be off by at least.

    Residuals of neighbouring instants are alike, so they count for fewer than they are.
    """
    numbers, scales = _numbers(declared)
    parts = [
        _Part.of(Y, change, numbers, scales, least)
        for Y, change, least in zip(_regressors(motion), (motion.linear, motion.angular), noise, strict=True)
    ]
    noises = [part.least for part in parts]  # trusted at first; what the best numbers leave over is noise too
    x, covariance = np.zeros(10), np.eye(10)
    for _ in range(_ROUNDS):
        x, covariance = _solve(parts, noises)
        noises = [part.spread(x) for part in parts]
    return InertiaEstimate(1.0 + float(x[0]), float(np.sqrt(covariance[0, 0])), 1.0 + x[4:7], covariance[4:7, 4:7])


def _solve(parts: list[_Part], noises: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and their covariance; by singular values: what the motion does not tell is ten digits smaller."""
    rows = np.concatenate([part.rows / noise for part, noise in zip(parts, noises, strict=True)])
    left = np.concatenate([part.left / noise for part, noise in zip(parts, noises, strict=True)])
    U, sizes, Vt = np.linalg.svd(np.concatenate([rows, np.eye(10) / _PRIOR]), full_matrices=False)
    x = Vt.T @ ((U.T @ np.concatenate([left, np.zeros(10)])) / sizes)
    return x, (Vt.T / sizes**2) @ Vt


@dataclass(frozen=True)
class _Part:
    """Linear or angular momentum: what the declared numbers leave open, and how it follows from other numbers."""

    rows: np.ndarray  # (3 n, 10), by relative changes of the numbers
    left: np.ndarray  # (3 n,)
    least: float  # noise that is never gone below

    @staticmethod
    def of(Y: np.ndarray, change: np.ndarray, numbers: np.ndarray, scales: np.ndarray, least: float) -> _Part:
        since = Y - Y[:1]
        size = float(np.abs(Y * scales).max()) or 1.0  # a body at rest tells nothing, whatever the noise
        left = change - since @ numbers
        return _Part((since * scales).reshape(-1, 10), left.reshape(-1), max(least, _ROUNDING * size))

    def spread(self, x: np.ndarray) -> float:
        """Standard deviation of what is left, as large as if neighbours that are alike were one."""
        rest = (self.left - self.rows @ x).reshape(-1, 3)
        before, after = rest[:-1].ravel(), rest[1:].ravel()
        size = float(np.sqrt(np.sum(before**2) * np.sum(after**2)))
        alike = float(np.clip(before @ after / size, 0.0, _MOST_ALIKE)) if size > 0.0 else 0.0
        return max(float(np.sqrt(np.mean(rest**2) * (1.0 + alike) / (1.0 - alike))), self.least)


def _numbers(declared: SpatialInertia) -> tuple[np.ndarray, np.ndarray]:
    """The ten declared numbers, and by what each is measured: itself, or what moments of its size have."""
    m, h, inertia = float(declared.mass), np.asarray(declared.moment), np.asarray(declared.inertia)
    moments = np.diag(inertia)
    products = np.array([inertia[a, b] for a, b in _PAIRS])
    sizes = np.array([np.sqrt(moments[a] * moments[b]) for a, b in _PAIRS])
    arm = np.sqrt(0.5 * moments.sum() / m)  # [m]
    return np.concatenate([[m], h, moments, products]), np.concatenate([[m], np.full(3, m * arm), moments, sizes])


def _regressors(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """P and L about the fixed point, in N axes, by the ten numbers: each (n, 3, 10)."""
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
