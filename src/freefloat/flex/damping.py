"""Damping of a modal body: modal ratios, structural loss factor, Rayleigh. Each returns a rule for (M, K) -> D."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from freefloat.flex.points import drop_rounding
from freefloat.flex.structure import Damping
from freefloat.values.errors import ModelError


def modal_damping(ratio: float | int | Sequence[float]) -> Damping:
    """Damping rule: a ratio of critical damping for every natural mode (frame held), or one per ascending mode."""
    ratios = np.atleast_1d(np.asarray(ratio, float))
    if np.min(ratios) < 0.0:
        raise ModelError(f"A damping ratio of {np.min(ratios):g} would create energy. Give zero or more.")

    def matrix(mass: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
        n = len(mass)
        if len(ratios) not in (1, n):
            raise ModelError(f"There are {len(ratios)} damping ratios for {n} modes. Give one, or one per mode.")
        if not np.any(ratios):
            return np.zeros((n, n))
        squared, shapes = eigh(stiffness, mass)
        momenta = mass @ shapes
        rates = 2.0 * ratios * np.sqrt(np.maximum(squared, 0.0))
        damping = (momenta * rates) @ momenta.T
        size = np.sqrt(np.diag(damping))
        return drop_rounding(0.5 * (damping + damping.T), np.multiply.outer(size, size))

    return matrix


def structural_damping(loss_factor: float | int) -> Damping:
    """Damping rule of a loss factor eta: viscous ratio eta / 2 of every mode, the same loss per cycle at resonance."""
    return modal_damping(0.5 * loss_factor)


def rayleigh_damping(mass_factor: float | int, stiffness_factor: float | int) -> Damping:
    """Damping rule D = mass_factor M + stiffness_factor K [1/s, s]."""
    if min(mass_factor, stiffness_factor) < 0.0:
        raise ModelError("A negative Rayleigh factor would create energy. Give zero or more.")
    return lambda mass, stiffness: mass_factor * mass + stiffness_factor * stiffness


def rayleigh_factors(frequencies: tuple[float, float], ratios: tuple[float, float]) -> tuple[float, float]:
    """The Rayleigh factors with given damping ratios at two frequencies [rad/s]."""
    rows = [[0.5 / w, 0.5 * w] for w in frequencies]
    mass_factor, stiffness_factor = np.linalg.solve(np.array(rows), np.array(ratios))
    return float(mass_factor), float(stiffness_factor)
