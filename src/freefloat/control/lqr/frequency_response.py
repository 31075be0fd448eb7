"""Frequency response of a linear model, on a grid that resolves every resonance."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from freefloat.control.lqr.state_space import StateSpace

_SPREAD = np.tan(np.deg2rad(np.linspace(-87.0, 87.0, 17)))  # half widths around each pole
_INDEPENDENT = 1e9  # conditioning of eigenvectors below which poles and residues may be exact enough
_AGREES = 1e-9  # relative difference from the Schur form up to which they are exact enough
_LEAST = 1e-9  # half width of a pole on the axis, relative to its frequency


class FrequencyResponse:
    """Frequency response C (s - A)^-1 B + D at s = iw or, sampled, z = e^(iwT).

    Computed from poles and residues or, where poles and eigenvectors coincide, from a Schur form.
    """

    def __init__(self, model: StateSpace) -> None:
        z = model.scaled_model()
        self.period, self._D = model.period, z.D
        self._poles, V = linalg.eig(z.A)  # pyright: ignore[reportAssignmentType]
        self._T, U = linalg.schur(z.A, output="complex")  # pyright: ignore[reportAssignmentType]
        self._C, self._B, self._single = z.C @ U, U.conj().T @ z.B, False
        if len(V) == 0 or np.linalg.cond(V) < _INDEPENDENT:
            self._try_residues(z.C @ V, np.linalg.solve(V, z.B))

    def _try_residues(self, C: np.ndarray, B: np.ndarray) -> None:
        """Use poles and residues if they agree with the Schur form: residues of equal poles cancel."""
        probes = np.quantile(np.abs(self._poles), [0.25, 0.5, 0.75]) if len(self._poles) else np.ones(0)
        exact, schur = self.on(probes), (self._C, self._B)
        self._C, self._B, self._single = C, B, True
        if np.any(np.abs(self.on(probes) - exact) > _AGREES * np.max(np.abs(exact), initial=0.0)):
            (self._C, self._B), self._single = schur, False

    def _complex_frequencies(self, frequencies: np.ndarray) -> np.ndarray:
        return 1j * frequencies if self.period is None else np.exp(1j * frequencies * self.period)

    def __call__(self, frequency: float) -> np.ndarray:
        """Response (outputs, inputs) at a frequency [rad/s]."""
        return self.on(np.array([frequency]))[0]

    def on(self, frequencies: np.ndarray) -> np.ndarray:
        """Responses (frequencies, outputs, inputs) at frequencies [rad/s]."""
        s = self._complex_frequencies(np.asarray(frequencies))
        if self._single:
            return (self._C / _avoid_zero(s[:, None] - self._poles)[:, None, :]) @ self._B + self._D
        return np.array([self._by_schur(at) for at in s])

    def diagonal_entry(self, k: int, frequency: float) -> complex:
        """Element (k, k) of the response at a frequency [rad/s]."""
        if not self._single:
            return complex(self(frequency)[k, k])
        apart = _avoid_zero(self._complex_frequencies(np.array([frequency])) - self._poles)
        return complex(np.sum(self._C[k] * self._B[:, k] / apart) + self._D[k, k])

    def _by_schur(self, s: complex) -> np.ndarray:
        upper = s * np.eye(len(self._T)) - self._T
        np.fill_diagonal(upper, _avoid_zero(np.diag(upper)))
        return self._C @ linalg.solve_triangular(upper, self._B, check_finite=False) + self._D


def _avoid_zero(difference: np.ndarray) -> np.ndarray:
    """Differences from the poles, none of them exactly zero."""
    return np.where(difference == 0.0, 1e-300, difference)


def frequency_grid(*models: StateSpace, points: int = 400) -> np.ndarray:
    """Frequencies [rad/s] that follow every pole of the models within its width, and a logarithmic grid between."""
    period = models[0].period
    poles = np.concatenate([model.poles for model in models])
    if period is not None:
        poles = np.log(poles[np.abs(poles) > 1e-12] + 0j) / period
    sizes = np.abs(poles)
    least = max(float(np.min(sizes[sizes > 1e-9 * np.max(sizes)], initial=1.0)), 1e-12)
    low, high = 1e-2 * least, 1e2 * max(float(np.max(sizes)), least)
    if period is not None:
        high = min(high, np.pi / period)
    decay, turn = np.abs(np.real(poles)), np.abs(np.imag(poles))
    width = np.maximum(decay, _LEAST * sizes)
    near = turn[:, None] + width[:, None] * _SPREAD
    grid = np.concatenate([np.geomspace(low, high, points), near.ravel()])
    grid = grid[(grid >= low) & (grid <= high)]
    return np.setdiff1d(grid, turn[decay <= _LEAST * sizes])
