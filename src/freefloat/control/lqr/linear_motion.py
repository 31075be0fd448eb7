"""Motion of a linear model, exact at every sample, with settling time, overshoot and period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.control.lqr.sampling import sample
from freefloat.control.lqr.state_space import StateSpace, name_indices
from freefloat.values.errors import ModelError
from freefloat.values.short_text import record_text


@dataclass(frozen=True)
class LinearMotion:
    """Outputs of a linear model at its samples."""

    times: np.ndarray  # [s]
    values: np.ndarray  # (samples, outputs)
    outputs: tuple[str, ...]

    __repr__ = record_text  # one line, without arrays

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[:, name_indices("output", self.outputs, (name,))[0]]


def simulate_linear(
    model: StateSpace, x0: np.ndarray, step: float, duration: float, *, u: np.ndarray | None = None
) -> LinearMotion:
    """Motion from x0 with inputs u (samples, inputs) held over each step, or zero; sampled models keep their period."""
    if model.period is not None and abs(step - model.period) > 1e-9 * step:
        raise ModelError(f"The model is sampled every {model.period:g} s; it cannot move in steps of {step:g} s.")
    x0 = np.asarray(x0, dtype=float)
    if x0.shape != (len(model.A),) or not np.all(np.isfinite(x0)):
        raise ModelError(f"The start must be {len(model.A)} finite numbers, one for each state, got {x0.shape}.")
    count = round(duration / step)
    if u is not None and (np.shape(u) != (count, len(model.inputs)) or not np.all(np.isfinite(u))):
        raise ModelError(f"Inputs must be {count} x {len(model.inputs)} finite numbers, got shape {np.shape(u)}.")
    z = (model if model.period is not None else sample(model, step)).scaled_model()
    at, values = model.scaling.T_inverse @ x0, np.empty((count + 1, len(model.outputs)))
    for k in range(count + 1):
        pushed = np.zeros(len(model.inputs)) if u is None else u[min(k, count - 1)]
        values[k] = z.C @ at + z.D @ pushed
        at = z.A @ at + (0.0 if u is None else z.B @ pushed)
    return LinearMotion(step * np.arange(count + 1), values, model.outputs)


def settling_time(times: np.ndarray, values: np.ndarray, band: float) -> float:
    """Time after which a signal stays within +-band of zero [s]; infinite if it does not."""
    outside = np.flatnonzero(np.abs(values) > band)
    if len(outside) == 0:
        return float(times[0])
    last = int(outside[-1])
    return float(times[last + 1]) if last + 1 < len(times) else float("inf")


def overshoot(values: np.ndarray) -> float:
    """Overshoot of a signal beyond zero, as a share of its first value."""
    return float(max(np.max(-np.sign(values[0]) * values), 0.0) / abs(values[0]))


def mean_period(times: np.ndarray, values: np.ndarray) -> float:
    """Mean time between downward zero crossings [s]; straight lines between samples."""
    down = np.flatnonzero((values[:-1] > 0.0) & (values[1:] <= 0.0))
    if len(down) < 2:
        raise ModelError("A period needs two downward zero crossings. Look for longer.")
    share = values[down] / (values[down] - values[down + 1])
    return float(np.mean(np.diff(times[down] + share * (times[down + 1] - times[down]))))


def named_start(model: StateSpace, **values: float | Sequence[float]) -> np.ndarray:
    """State vector from values by name (spaces as underscores), the rest zero."""
    x = np.zeros(len(model.A))
    for name, value in values.items():
        x[name_indices("state", model.states, (name.replace("_", " "),))[0]] = float(value)  # pyright: ignore[reportArgumentType]
    return x
