"""Steady Kalman filter, and the compensator of filter and regulator (LQG), continuous and sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from freefloat.control.lqr.mode_reach import LIMIT, unreached_names, unseen_names
from freefloat.control.lqr.refusals import DesignError, require_weight, weight_rows
from freefloat.control.lqr.regulator import Regulator, solve_checked, split_model
from freefloat.control.lqr.state_space import StateSpace
from freefloat.values.checks import require_all
from freefloat.values.errors import ModelError
from freefloat.values.short_text import record_text


@dataclass(frozen=True)
class KalmanFilter:
    """d/dt x = A x + B u + gain (y - C x - D u); sampled, `gain` corrects with the measurement of the same sample."""

    model: StateSpace
    gain: np.ndarray  # (states, outputs)
    covariance: np.ndarray  # of the estimate; sampled: before the measurement
    residual: float
    poles: np.ndarray  # of the estimation error

    __repr__ = record_text  # one line, without arrays


def design_kalman(model: Any, process: Any, noise: Any, *, limit: float = LIMIT) -> KalmanFilter:
    """Steady Kalman filter of a model, from noise densities on states (or inputs) and on outputs.

    `process` over the states, or over the inputs if it has as many rows as there are inputs; for a sampled model they
    are covariances of each sample. An error names modes that no sensor sees, or that no noise drives.
    """
    structure, plain = split_model(model)
    n, m = plain.B.shape
    over_inputs = np.ndim(process) > 0 and len(np.atleast_1d(process)) == m != n
    W, V = require_all(
        lambda: require_weight("process", process, plain.inputs if over_inputs else plain.states, definite=False),
        lambda: require_weight("noise", noise, plain.outputs, definite=True),
    )
    W = plain.B @ W @ plain.B.T if over_inputs else W
    require_all(
        lambda: _require_detectable(plain, structure, limit),
        lambda: _require_driven(plain, structure, W, limit),
    )
    names = {"states": plain.states, "inputs": plain.outputs, "period": plain.period}
    dual = StateSpace(plain.A.T, plain.C.T, scaling=plain.scaling.dual, **names)
    found = solve_checked(dual, W, V, None, "schur", "Kalman filter")
    gain = found.F.T
    if plain.period is not None:  # the gain of the prediction is A times that of the correction
        gain = linalg.solve(plain.C @ found.P @ plain.C.T + V, plain.C @ found.P, assume_a="pos").T
    return KalmanFilter(plain, gain, found.P, found.residual, found.poles)


def _require_detectable(model: StateSpace, structure: Any, limit: float) -> None:
    if missed := unseen_names(model, structure, limit):
        raise DesignError(
            f"No sensor sees {'; '.join(missed)}. Outputs: {', '.join(model.outputs)}. Add a sensor, or leave the "
            "state out of the model.",
            missed,
        )


def _require_driven(model: StateSpace, structure: Any, W: np.ndarray, limit: float) -> None:
    columns = weight_rows(0.5 * (W + W.T)).T
    if columns.shape[1] == len(W):
        return
    if not columns.shape[1]:
        raise DesignError("The process noise is zero: the filter would end up listening to no sensor. Give some noise.")
    driven = StateSpace(model.A, columns, states=model.states, period=model.period, scaling=model.scaling)
    if missed := unreached_names(driven, structure, limit):
        raise DesignError(
            f"No process noise drives {'; '.join(missed)}: the filter would stop correcting it. Give it some noise.",
            missed,
        )


def design_lqg(regulator: Regulator, kalman: KalmanFilter) -> StateSpace:
    """Compensator from measurements to commands: the regulator on the filter's estimate.

    Sampled, its states are the prediction for the coming sample and the measurement acts on the command at once.
    """
    model, F, L = regulator.model, regulator.gain, kalman.gain
    if model.states != kalman.model.states or model.period != kalman.model.period:
        raise ModelError("Regulator and filter must be designed on the same model: states and period differ.")
    A, B, C, D = model.A, model.B, kalman.model.C, kalman.model.D
    states = tuple(f"estimated {name}" for name in model.states)
    names = {"states": states, "inputs": kalman.model.outputs, "outputs": model.inputs, "scaling": model.scaling}
    if model.period is None:
        return StateSpace(A - B @ F - L @ C + L @ D @ F, L, -F, **names)
    if np.any(D):
        raise ModelError("A sampled compensator needs sensors on which the inputs do not act at once (D = 0).")
    closed, rest = A - B @ F, np.eye(len(A)) - L @ C
    return StateSpace(closed @ rest, closed @ L, -F @ rest, -F @ L, period=model.period, **names)
