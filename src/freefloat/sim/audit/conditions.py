"""Conditions of a run as text: what left its normal value, when and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArray, LabelledArrays

_NAMED = 3  # intervals that are listed one by one
_POLE_DEG = 5.0  # so near a pole, roll and yaw of Z-Y-X angles say little by themselves: 1 deg becomes 11


@dataclass(frozen=True)
class Condition:
    """One condition of a run that was not normal."""

    label: str  # channel, with its component: `wheels.condition (wheel.y)`
    meaning: str  # `torque limit`
    intervals: str  # `0.35 s to 31.8 s`
    share: float  # of the records

    def __str__(self) -> str:
        return f"{self.label}: {self.meaning}, {self.intervals} ({100.0 * self.share:.3g} % of the run)"


def find_conditions(data: LabelledArrays) -> tuple[Condition, ...]:
    """Conditions of a run: every abnormal value of each flag channel, in their order, and angles near a pole."""
    found: list[Condition] = []
    for name, channel in data.data_vars.items():
        meanings = channel.attrs.get("flags")
        if meanings is not None:
            named = dict(enumerate(np.atleast_1d(meanings)))
            abnormal = {k: meaning for k, meaning in named.items() if k >= channel.attrs.get("normal_flags", 1)}
            for label, values in _columns(str(name), channel):
                found += _flag_conditions(label, values, abnormal, data["time"].values)
        elif "rpy" in channel.dims:
            found += _pole_conditions(str(name), channel, data["time"].values)
    return tuple(found)


def _columns(name: str, channel: LabelledArray) -> Iterator[tuple[str, np.ndarray]]:
    if channel.ndim == 1:
        yield name, channel.values
        return
    axis = channel.dims[1]
    for k, component in enumerate(channel.along(axis)):
        yield f"{name} ({component})", channel.values[:, k]


def _flag_conditions(label: str, values: np.ndarray, abnormal: dict[int, str], t: np.ndarray) -> Iterator[Condition]:
    for value, meaning in abnormal.items():
        there = np.flatnonzero(np.rint(values) == value)
        if there.size:
            yield Condition(label, meaning, _intervals(there, t), there.size / len(t))


def _pole_conditions(name: str, channel: LabelledArray, t: np.ndarray) -> Iterator[Condition]:
    pitch = np.rad2deg(channel.values[:, list(channel.along("rpy")).index("pitch")])
    there = np.flatnonzero(np.abs(pitch) > 90.0 - _POLE_DEG)
    if there.size:
        yield Condition(name, "near a pole of the angles", _intervals(there, t), there.size / len(t))


def _intervals(there: np.ndarray, t: np.ndarray) -> str:
    """Text with the time intervals of neighbouring records; if there are many, only the first ones."""
    runs = np.split(there, np.flatnonzero(np.diff(there) > 1) + 1)
    words = [f"{t[run[0]]:g} s to {t[run[-1]]:g} s" for run in runs[:_NAMED]]
    return ", ".join(words) + (f" and {len(runs) - _NAMED} times more" if len(runs) > _NAMED else "")
