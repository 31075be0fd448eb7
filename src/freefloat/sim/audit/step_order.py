"""Order of the error in the step: short stretches at the step, its half and its quarter, where runs differ most."""

from __future__ import annotations

import numpy as np

from freefloat.sim.audit.channel_differences import angle_between
from freefloat.sim.rollout import FixedSteps, entries
from freefloat.sim.system.system import SystemState

ORDER = 4.0  # of RK4
_SHARE = 0.2  # of the run's steps, that may be spent on it
_PER_TICK = 2 + 4  # steps for each tick of a stretch: halves and quarters
_MOST_STRETCHES = 64
_MOST_TICKS = 2**28  # counted in quarters in 32 bits
_EPS = float(np.finfo(float).eps)


def measured_order(steps: FixedSteps, records: SystemState, finer: SystemState) -> float | None:
    """Order of the error from a run and the same run at half the step; None if it cannot be determined."""
    ticks = np.asarray(records.tick)
    count, length = int(ticks[-1] - ticks[0]), int(ticks[1] - ticks[0])
    room = min(int(_SHARE * count / (_PER_TICK * length)), _MOST_STRETCHES)
    if room < 1 or count > _MOST_TICKS:
        return None
    apart = _vectors(records, finer)
    scale = np.max(apart, axis=0)
    moved = scale > _EPS * (64.0 + 2 * count)
    if not np.any(moved):
        return None
    shares = np.sum(apart[:, moved] / scale[moved], axis=1)
    made = np.where(np.diff(ticks) == length, np.diff(shares), -np.inf)
    chosen = np.sort(np.argsort(-np.abs(np.where(np.isfinite(made), made, 0.0)))[:room])
    starts, whole = entries(records, chosen), entries(records, chosen + 1)
    halves, quarters = (steps.reach(starts, length, parts) for parts in (2, 4))
    coarse, fine = (
        np.sum(_vectors(a, b)[:, moved] / scale[moved], axis=1) for a, b in ((whole, halves), (halves, quarters))
    )
    least = _EPS * np.sum(1.0 / scale[moved])
    sure = coarse > 64.0 * least
    if not np.any(sure):
        return None
    orders = np.log2(coarse[sure] / np.maximum(fine[sure], least))
    return float(np.clip(_weighted_median(orders, coarse[sure]), 1.0, ORDER))


def _vectors(first: SystemState, second: SystemState) -> np.ndarray:
    """Differences of all states, (records, coordinates): position, attitude as an angle, coordinates, speeds."""
    columns = []
    for a, b in zip(first.states, second.states, strict=True):
        turned = angle_between(np.asarray(a.quat_NB), np.asarray(b.quat_NB))[:, None]
        columns += [np.abs(np.asarray(a.p_NB) - b.p_NB), turned, np.abs(np.asarray(a.q) - b.q), np.abs(a.v - b.v)]
    return np.nan_to_num(np.concatenate(columns, axis=1), nan=np.inf, posinf=1e300)


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """Weighted median of values."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, 0.5 * total[-1])])
