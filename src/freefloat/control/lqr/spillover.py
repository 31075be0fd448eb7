"""Spillover: effect of a controller designed on few modes on the modes that were left out, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.control.lqr.loops import closed_poles, loop_gain
from freefloat.control.lqr.regulator import Regulator
from freefloat.control.lqr.second_order import SecondOrderModel
from freefloat.control.lqr.state_space import StateSpace

_LESS = 0.01  # of its decay: a mode that loses less has not changed
_ROUNDING = 1e-10  # of its frequency: growth below this is rounding


@dataclass(frozen=True)
class ModeChange:
    """Pole of the closed loop that belongs to a mode of the structure."""

    name: str
    pole: complex
    decay_before: float  # of that mode without control [1/s]

    @property
    def damping(self) -> float:
        """Share of critical damping; negative where the mode grows."""
        return -self.pole.real / max(abs(self.pole), 1e-300)

    @property
    def unstable(self) -> bool:
        """Whether the mode grows, beyond rounding."""
        return self.pole.real > _ROUNDING * abs(self.pole)

    @property
    def worse(self) -> bool:
        """Whether the mode is stable but damped less than without control."""
        return not self.unstable and -self.pole.real < (1.0 - _LESS) * self.decay_before


@dataclass(frozen=True)
class Spillover:
    """Poles of the full structure with a controller designed on a part of it."""

    poles: np.ndarray  # all, with those of the controller [1/s]
    changes: tuple[ModeChange, ...]  # those of the structure, the least damped first

    @property
    def unstable(self) -> tuple[ModeChange, ...]:
        """Modes that grow, the fastest first."""
        return tuple(change for change in self.changes if change.unstable)

    @property
    def worse(self) -> tuple[ModeChange, ...]:
        """Modes that are damped less than without control, but stable."""
        return tuple(change for change in self.changes if change.worse)

    def __str__(self) -> str:
        lines = [f"unstable: {c.name}, grows at {c.pole.real:.3g} 1/s" for c in self.unstable]
        lines += [
            f"less damped: {c.name}, decays at {-c.pole.real:.3g}, before {c.decay_before:.3g} 1/s" for c in self.worse
        ]
        return "\n".join(lines) or "No mode is unstable or damped less than without control."


def spillover(
    structure: SecondOrderModel, controller: StateSpace | Regulator, plant: StateSpace | None = None
) -> Spillover:
    """Poles of the full structure with a controller; `plant` is its sampled form where the controller is sampled."""
    plant = structure.state_space if plant is None else plant
    loop = loop_gain(plant, controller)
    rates, vectors = closed_poles(loop)
    before = _open_loop_decays(structure)
    n = len(structure.M)
    changes = []
    for rate, vector in zip(rates, vectors.T, strict=True):
        size = np.abs(vector) ** 2
        of_controller = np.sum(size[2 * n :]) > np.sum(size[: 2 * n]) and rate.real <= 0.0
        if rate.imag < 0.0 or of_controller:
            continue
        mode = int(np.argmax(size[:n] + size[n : 2 * n]))
        changes.append(ModeChange(structure.modes.names[mode], complex(rate), float(before[mode])))
    return Spillover(rates, tuple(sorted(changes, key=lambda change: -change.pole.real)))


def _open_loop_decays(structure: SecondOrderModel) -> np.ndarray:
    """Decay of each mode without control [1/s]: half of its modal damping."""
    Phi = structure.modes.shapes
    return 0.5 * np.einsum("ik,ij,jk->k", Phi, structure.C, Phi)
