"""Poles of a loop by the modes of the structure: frequency and damping of each, before and after."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.optimize import linear_sum_assignment

from freefloat.control.lqr.loops import closed_poles, controller_period, loop_gain
from freefloat.control.lqr.regulator import Regulator
from freefloat.control.lqr.sampling import sample
from freefloat.control.lqr.second_order import SecondOrderModel
from freefloat.control.lqr.state_space import StateSpace


def mode_poles(structure: SecondOrderModel, controller: StateSpace | Regulator | None = None) -> np.ndarray:
    """Pole [1/s] of each mode, of the structure alone or with a controller; imaginary parts are not negative.

    Poles are assigned so that each mode gets the pole in which it moves most, all modes together. A mode without
    oscillation has two real poles: the slower is returned. With a sampled controller the structure is sampled, too.
    """
    rates, vectors = loop_poles(structure, controller)
    n = len(structure.M)
    upper = np.flatnonzero(np.imag(rates) >= 0.0)
    size = np.abs(vectors[:, upper]) ** 2
    share = (size[:n] + size[n : 2 * n]) / np.maximum(np.sum(size, axis=0), 1e-300)
    # A mode may have two real poles, and a controller has poles of its own: there are more poles than modes.
    modes, chosen = linear_sum_assignment(-share)
    found = np.full(n, np.nan + 0j)
    found[modes] = rates[upper[chosen]]
    return found


def loop_poles(
    structure: SecondOrderModel, controller: StateSpace | Regulator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """All poles [1/s] and their vectors: modal coordinates, times their frequency, and rates, then the controller."""
    plant = structure.state_space
    if controller is None:
        rates, vectors = linalg.eig(plant.scaled_model().A)  # pyright: ignore[reportAssignmentType]
        return rates, vectors
    period = controller_period(controller)
    return closed_poles(loop_gain(plant if period is None else sample(plant, period), controller))
