"""Which channels are plotted first, and how a channel is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.units import displayed
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    from freefloat.sim import Run

# Where a scenario names no figures: the first of these patterns that a run has. `*` stands for any name.
_USUAL = (
    ("base.roll_pitch_yaw", ""),
    ("*.position_error", "mm"),
    ("joints.rate", ""),
    ("*.modes", ""),
    ("clearance", ""),
    ("*.force", ""),
    ("momentum.angular_com", ""),
    ("energy.kinetic", ""),
)
_RAW = re.compile(r"(^|\.)state\.[qv]$")
_MOST = 6  # plots that are open at first


@dataclass(frozen=True)
class Curve:
    """One channel ready to be drawn, in the unit it is shown in."""

    name: str
    label: str
    unit: str
    frame: str
    components: tuple[str, ...]
    time: np.ndarray  # [s]
    values: np.ndarray  # (samples, components)
    faults: int  # samples that were not finite


def chosen(run: Run) -> list[Figure]:
    """The figures to open first: the run's own, as far as it has them, or the usual ones."""
    own = [figure for figure in run.description.figures if is_curve(run, figure.channel)]
    return own or _usual(run)


def _usual(run: Run) -> list[Figure]:
    found: dict[str, Figure] = {}
    for pattern, unit in _USUAL:
        for name in run.channels:
            fits = name.endswith(pattern[1:]) if pattern.startswith("*") else f".{name}".endswith(f".{pattern}")
            if fits and is_curve(run, name):
                found.setdefault(name, Figure(name, unit))
    if not found:
        found = {name: Figure(name) for name in plottable(run)}
    return list(found.values())[:_MOST]


def plottable(run: Run) -> list[str]:
    """Every channel that is a curve over time, raw state vectors left out."""
    return [name for name in run.channels if is_curve(run, name) and not _RAW.search(name)]


def is_curve(run: Run, name: str) -> bool:
    """True for numbers over time, with at most one axis of components."""
    if name not in run.recorded:
        return False
    array = run.recorded[name]
    return array.ndim in (1, 2) and array.dims[0] == "time" and array.dtype.kind in "fiu" and array.shape[0] > 0


def curve(run: Run, figure: Figure) -> Curve:
    """A channel of a run in the unit in which it is shown; what is not finite is a gap."""
    array = run.recorded[figure.channel]
    values = np.asarray(array.values, dtype=float).reshape(array.shape[0], -1)
    good = np.isfinite(values)
    values = np.where(good, values, np.nan)
    largest = float(np.max(np.abs(values), where=good, initial=0.0))
    unit, factor = displayed(str(array.attrs.get("units", "")), largest, figure.unit)
    axis = array.dims[1] if array.ndim == 2 else None
    if axis is not None and axis in array.coords:
        names = tuple(str(name) for name in array.coords[axis].values)
    else:
        names = tuple(str(i + 1) for i in range(values.shape[1])) if axis is not None else ("",)
    return Curve(
        name=figure.channel,
        label=figure.title or str(array.attrs.get("long_name", figure.channel)),
        unit=unit,
        frame=str(array.attrs.get("frame", "")),
        components=names,
        time=times(run, array.shape[0]),
        values=factor * values,
        faults=int(np.sum(~good.all(axis=1))),
    )


def times(run: Run, samples: int) -> np.ndarray:
    """Time of each sample [s]; the sample's number where the file has no usable time."""
    if "time" in run.recorded.coords:
        t = np.asarray(run.recorded["time"].values, dtype=float)
        if t.shape == (samples,) and np.isfinite(t).all() and np.all(np.diff(t) >= 0.0):
            return t
    return np.arange(samples, dtype=float)
