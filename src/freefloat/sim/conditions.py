"""Conditions of a run in words: which flag channels left their normal value, when and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray

_NAMED = 3  # intervals that are told one by one


def conditions(data: xarray.Dataset) -> tuple[str, ...]:
    """One sentence for each abnormal value of each flag channel, in the order of the channels."""
    found: list[str] = []
    for name, channel in data.data_vars.items():
        meanings = channel.attrs.get("flags")
        if meanings is None:
            continue
        for label, values in _columns(str(name), channel):
            found += _sentences(label, values, list(np.atleast_1d(meanings)), data["time"].values)
    return tuple(found)


def _columns(name: str, channel: xarray.DataArray) -> Iterator[tuple[str, np.ndarray]]:
    if channel.ndim == 1:
        yield name, channel.values
        return
    axis = channel.dims[1]
    for k, component in enumerate(channel[axis].values):
        yield f"{name} ({component})", channel.values[:, k]


def _sentences(label: str, values: np.ndarray, meanings: list[str], t: np.ndarray) -> Iterator[str]:
    for value, meaning in enumerate(meanings):
        there = np.flatnonzero(np.rint(values) == value)
        if value and there.size:
            share = 100.0 * there.size / len(t)
            yield f"{label}: {meaning}, {_intervals(there, t)} ({share:.3g} % of the run)"


def _intervals(there: np.ndarray, t: np.ndarray) -> str:
    """From when to when, for each run of neighbouring records; where there are many, the first ones."""
    runs = np.split(there, np.flatnonzero(np.diff(there) > 1) + 1)
    words = [f"{t[run[0]]:g} s to {t[run[-1]]:g} s" for run in runs[:_NAMED]]
    return ", ".join(words) + (f" and {len(runs) - _NAMED} times more" if len(runs) > _NAMED else "")
