"""Effective masses: how much of a body's mass and inertia each mode carries, seen from its root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from freefloat.model.modal import ModalBody

_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class EffectiveMass:
    """Fractions of the body's mass (x, y, z) and inertia about its origin (rx, ry, rz), by natural mode."""

    frequencies: np.ndarray  # (modes,) with the frame held [rad/s]
    masses: np.ndarray  # (modes, 6) [kg, kg m2]
    totals: np.ndarray  # (6,)

    @property
    def fractions(self) -> np.ndarray:
        """Effective masses as fractions of the total, (modes, 6); zero where the total is zero."""
        return np.divide(self.masses, self.totals, out=np.zeros_like(self.masses), where=self.totals > 0.0)

    @property
    def cumulative(self) -> np.ndarray:
        """Running sums of the fractions: a complete set of modes reaches 1 in the directions in which it can move."""
        return np.cumsum(self.fractions, axis=0)

    def enough(self, direction: str, fraction: float) -> int | None:
        """Number of modes that carry a fraction in a direction; None when all together do not."""
        reached = self.cumulative[:, _DIRECTIONS.index(direction)] >= fraction
        return int(np.argmax(reached)) + 1 if np.any(reached) else None

    def __str__(self) -> str:
        head = "mode    f [Hz]  " + "".join(f"{d:>8}" for d in _DIRECTIONS) + "   (cumulative fractions)"
        rows = [
            f"{k + 1:4d} {w / (2.0 * np.pi):9.4g}  " + "".join(f"{c:8.4f}" for c in row)
            for k, (w, row) in enumerate(zip(self.frequencies, self.cumulative, strict=True))
        ]
        return "\n".join([head, *rows])


def effective_mass(body: ModalBody) -> EffectiveMass:
    """The effective-mass table of a body's natural modes with its frame held."""
    squared, shapes = eigh(np.asarray(body.stiffness), np.asarray(body.modal_mass))
    participation = np.vstack([np.asarray(body.modal_moment), turning_moment(np.asarray(body.mixed_moment))]) @ shapes
    second = np.asarray(body.second_moment)
    inertia = np.trace(second) - np.diag(second)
    return EffectiveMass(
        frequencies=np.sqrt(np.maximum(squared, 0.0)),
        masses=participation.T**2,
        totals=np.concatenate([np.full(3, float(body.mass)), inertia]),
    )


def turning_moment(mixed: np.ndarray) -> np.ndarray:
    """Integral of x cross phi_j dm, (3, modes), from the integral of x phi_j^T dm."""
    return np.stack([mixed[:, 1, 2] - mixed[:, 2, 1], mixed[:, 2, 0] - mixed[:, 0, 2], mixed[:, 0, 1] - mixed[:, 1, 0]])
