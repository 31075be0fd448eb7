"""Frequency response of a linear model on a grid that no resonance slips through."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from freefloat.control.lqr.state_space import StateSpace

_SPREAD = np.tan(np.deg2rad(np.linspace(-87.0, 87.0, 17)))  # half widths around each pole
_LEAST = 1e-9  # half width of a pole on the axis, relative to its frequency


class FrequencyResponse:
    """C (s - A)^-1 B + D at s = iw or, sampled, z = e^(iwT), by one Schur form for all frequencies."""

    def __init__(self, model: StateSpace) -> None:
        z = model.scaled()
        self.period = model.period
        self._T, U = linalg.schur(z.A, output="complex")
        self._B, self._C, self._D = U.conj().T @ z.B, z.C @ U, z.D
        self._one = np.eye(len(z.A))

    def __call__(self, frequency: float) -> np.ndarray:
        """(outputs, inputs) at a frequency [rad/s]."""
        s = 1j * frequency if self.period is None else np.exp(1j * frequency * self.period)
        return self._C @ linalg.solve_triangular(s * self._one - self._T, self._B, check_finite=False) + self._D

    def on(self, frequencies: np.ndarray) -> np.ndarray:
        """(frequencies, outputs, inputs)."""
        return np.array([self(w) for w in frequencies])


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
    width = np.maximum(np.abs(poles.real), _LEAST * sizes)
    near = np.abs(poles.imag)[:, None] + width[:, None] * _SPREAD
    grid = np.concatenate([np.geomspace(low, high, points), near.ravel()])
    grid = grid[(grid >= low) & (grid <= high)]
    on_axis = np.abs(poles.imag[np.abs(poles.real) <= _LEAST * sizes])
    return np.setdiff1d(grid, on_axis)
