"""Pole of a vibration from its force, and transfer of a robot at that pole, each with its uncertainty.

The force is an offset and one damped wave, exp(s t); what a linear robot makes of a command is at that pole one complex
number, H(s): the ratio of both waves. No model of the robot's lag is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares


@dataclass(frozen=True)
class SeenVibration:
    """Pole s of a vibration [rad/s], and the standard deviations of its parts."""

    pole: complex
    rate_deviation: float  # of Re s [rad/s]
    frequency_deviation: float  # of Im s [rad/s]

    @property
    def damping(self) -> float:
        """Damping ratio; negative if the vibration grows."""
        return -self.pole.real / abs(self.pole)

    @property
    def damping_deviation(self) -> float:
        """Standard deviation of the damping ratio."""
        return self.rate_deviation / abs(self.pole)


def fit_vibration(t: np.ndarray, y: np.ndarray) -> SeenVibration:
    """Pole of one damped wave with an offset, by least squares of samples y at times t [s]."""
    scale = float(np.std(y))
    if len(t) < 16 or not scale > 0.0:
        raise ValueError("the force of the vibration does not change: there is no vibration to judge")
    spectrum = np.abs(np.fft.rfft(y - y.mean(), n=8 * len(y)))
    guess = 2.0 * np.pi * np.fft.rfftfreq(8 * len(y), t[1] - t[0])[int(np.argmax(spectrum))]

    def misfit(x: np.ndarray) -> np.ndarray:
        """Residuals over the signal's size; for each pole the best amplitudes follow linearly."""
        basis = _wave_basis(t, complex(x[0], x[1]), 0)
        return (basis @ np.linalg.lstsq(basis, y, rcond=None)[0] - y) / scale

    found = least_squares(misfit, (-0.01 * guess, guess), xtol=1e-12, ftol=1e-14)
    variance = float(np.mean(found.fun**2)) * _correlated_samples(found.fun)
    deviation = np.sqrt(variance * np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    return SeenVibration(complex(found.x[0], found.x[1]), float(deviation[0]), float(deviation[1]))


def wave_amplitude(t: np.ndarray, y: np.ndarray, pole: complex, degree: int = 1) -> tuple[complex, float]:
    """Complex amplitude of exp(s t) in y, besides a polynomial drift of a degree, and its standard deviation."""
    basis = _wave_basis(t, pole, degree)
    numbers = np.linalg.lstsq(basis, y, rcond=None)[0]
    rest = basis @ numbers - y
    variance = float(np.mean(rest**2)) * _correlated_samples(rest)
    spread = variance * np.diag(np.linalg.inv(basis.T @ basis))[-2:]
    return complex(numbers[-2], -numbers[-1]), float(np.sqrt(0.5 * np.sum(spread)))


def _wave_basis(t: np.ndarray, pole: complex, degree: int) -> np.ndarray:
    since = t - t[0]
    wave, drift = np.exp(pole * since), since / since[-1]
    return np.stack([*(drift**k for k in range(degree + 1)), wave.real, wave.imag], axis=1)


def _correlated_samples(rest: np.ndarray) -> float:
    """Number of samples that one independent sample stands for, from the correlation of neighbouring residuals."""
    size = float(rest @ rest)
    neighbours = float(rest[1:] @ rest[:-1]) / size if size > 0.0 else 0.0
    return (1.0 + max(neighbours, 0.0)) / max(1.0 - neighbours, 1e-3)
