"""Figures of a run: which channels are plotted first, and the values and units of a plotted channel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.units import display_unit
from freefloat.report.validity import valid_samples
from freefloat.sim.record.description import Figure

if TYPE_CHECKING:
    from freefloat.sim import Run

# Channels that are plotted first if a scenario names no figures; `*` stands for any name.
_DEFAULT_FIGURES = (
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
class PlotCurve:
    """One channel of a plot, in displayed units."""

    name: str
    label: str
    unit: str
    frame: str
    components: tuple[str, ...]
    time: np.ndarray  # [s]
    values: np.ndarray  # (samples, components); gaps are not a number
    faults: int  # samples that were not finite
    invalid: int  # samples that are left out because the channel has no valid value there

    @property
    def left_out(self) -> str:
        """`12 samples are not valid: left out`, for the title of a plot; empty where every sample is valid."""
        return f"{self.invalid} {'sample is' if self.invalid == 1 else 'samples are'} not valid: left out" * bool(
            self.invalid
        )


def opening_figures(run: Run) -> list[Figure]:
    """Figures to open first: those of the run's description, or the usual ones."""
    own = [figure for figure in run.description.figures if is_curve(run, figure.channel)]
    return own or _default_figures(run)


def _default_figures(run: Run) -> list[Figure]:
    figures: dict[str, Figure] = {}
    for pattern, unit in _DEFAULT_FIGURES:
        for name in run.channels:
            fits = name.endswith(pattern[1:]) if pattern.startswith("*") else f".{name}".endswith(f".{pattern}")
            if fits and is_curve(run, name):
                figures.setdefault(name, Figure(name, unit))
    if not figures:
        figures = {name: Figure(name) for name in plottable(run)}
    return list(figures.values())[:_MOST]


def plottable(run: Run) -> list[str]:
    """Names of all channels that are curves over time, without raw state vectors."""
    return [name for name in run.channels if is_curve(run, name) and not _RAW.search(name)]


def is_curve(run: Run, name: str) -> bool:
    """Whether a channel has numbers over time, with at most one axis of components."""
    if name not in run.recorded:
        return False
    array = run.recorded[name]
    return array.ndim in (1, 2) and array.dims[0] == "time" and array.dtype.kind in "fiu" and array.shape[0] > 0


def curve(run: Run, figure: Figure) -> PlotCurve:
    """A channel of a run in displayed units; samples that are not valid or not finite are gaps."""
    array = run.recorded[figure.channel]
    values = np.asarray(array.values, dtype=float).reshape(array.shape[0], -1)
    valid, finite = valid_samples(run, figure.channel), np.isfinite(values)
    good = finite & valid[:, None]
    values = np.where(good, values, np.nan)
    largest = float(np.max(np.abs(values), where=good, initial=0.0))
    unit, factor = display_unit(str(array.attrs.get("units", "")), largest, figure.unit)
    axis = array.dims[1] if array.ndim == 2 else None
    if axis is not None and axis in array.coords:
        names = tuple(str(name) for name in array.coords[axis].values)
    else:
        names = tuple(str(i + 1) for i in range(values.shape[1])) if axis is not None else ("",)
    return PlotCurve(
        name=figure.channel,
        label=figure.title or str(array.attrs.get("long_name", figure.channel)),
        unit=unit,
        frame=str(array.attrs.get("frame", "")),
        components=names,
        time=times(run, array.shape[0]),
        values=factor * values,
        faults=int(np.sum(valid & ~finite.all(axis=1))),
        invalid=int(np.sum(~valid)),
    )


def times(run: Run, samples: int) -> np.ndarray:
    """Time of each sample [s]; the index of the sample if the file has no usable time."""
    if "time" in run.recorded.coords:
        t = np.asarray(run.recorded["time"].values, dtype=float)
        if t.shape == (samples,) and np.isfinite(t).all() and np.all(np.diff(t) >= 0.0):
            return t
    return np.arange(samples, dtype=float)
