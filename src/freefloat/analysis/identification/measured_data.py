"""Measured channels with their noise; an error names each channel that does not fit the experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.sim.record.run import Run
from freefloat.values.errors import ModelError

Data = Run | Mapping[str, Any]  # a run, or arrays over time by channel, with their `time` if it is not the experiment's
_SAME_INSTANT = 1e-6  # of a recording interval


@dataclass(frozen=True)
class MeasuredChannel:
    """One channel at the instants of an experiment; an attitude has three residuals, those of a small rotation."""

    name: str
    values: np.ndarray  # (instants, numbers)
    noise: np.ndarray  # one sigma of each number; of an attitude about the body's axes [rad]
    turns: bool  # whether it is a quaternion

    def residuals(self, predicted: np.ndarray) -> np.ndarray:
        """Measured minus predicted, in units of the noise."""
        if not self.turns:
            return (self.values - _columns(predicted)) / self.noise
        between = _multiply_quaternions(predicted * [1.0, -1.0, -1.0, -1.0], self.values)
        between = np.where(between[:, :1] < 0.0, -between, between)
        sine = np.linalg.norm(between[:, 1:], axis=1, keepdims=True)
        angle = 2.0 * np.arctan2(sine, between[:, :1])
        return between[:, 1:] * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 2.0) / self.noise

    def slopes(self, predicted: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Derivative of the prediction (instants, numbers), in units of the noise."""
        if not self.turns:
            return _columns(change) / self.noise
        return 2.0 * _multiply_quaternions(predicted * [1.0, -1.0, -1.0, -1.0], change)[:, 1:] / self.noise


def require_measured(
    data: Data, noise: Mapping[str, Any], time: np.ndarray, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[MeasuredChannel, ...]:
    """Measured channels that have a noise, at the instants of the experiment; an error if one does not fit."""
    rows = _rows(data, time)
    return tuple(_channel(data, name, noise[name], rows, time, shapes[name]) for name in shapes)


def require_noise(data: Data, noise: Any) -> tuple[str, ...]:
    """Names of the channels that have a noise; an error if the data lack one of them."""
    if not isinstance(data, (Run, Mapping)):
        raise ModelError(f"data must be a Run, or arrays by channel such as {{'base.rate': ...}}, got {data!r}.")
    known = tuple(name for name in (data.channels if isinstance(data, Run) else data) if name != "time")
    if not isinstance(noise, Mapping) or not noise:
        raise ModelError(
            "Say how good the data are: noise={'base.rate': 1e-5, ...}, one sigma of each channel that is to be used. "
            f"Channels in the data: {', '.join(known[:12])}."
        )
    if missing := [name for name in noise if name not in known]:
        raise ModelError(f"Channel '{missing[0]}' is not in the data. Channels: {', '.join(known)}.")
    return tuple(noise)


def _rows(data: Data, time: np.ndarray) -> np.ndarray | None:
    """Rows of the data at the instants of the experiment; None if the data have no times."""
    given = data.recorded["time"].values if isinstance(data, Run) else data.get("time")
    if given is None:
        return None
    given, tolerance = np.asarray(given, dtype=float), _SAME_INSTANT * time[0]
    rows = np.clip(np.searchsorted(given, time - tolerance), 0, max(len(given) - 1, 0))
    wrong = np.abs(given[rows] - time) > tolerance if given.size else np.ones(len(time), bool)
    if np.any(wrong):
        raise ModelError(
            f"The data have no instant {time[np.argmax(wrong)]:g} s, at which the experiment records. Give it the "
            f"record_dt and the duration of the data: {given[:1].tolist()} to {given[-1:].tolist()} s."
        )
    return rows


def _channel(
    data: Data, name: str, noise: Any, rows: np.ndarray | None, time: np.ndarray, shape: tuple[int, ...]
) -> MeasuredChannel:
    values = np.asarray(data.values(name) if isinstance(data, Run) else data[name], dtype=float)
    if rows is not None and values.shape[:1] and len(values) > rows[-1]:
        values = values[rows]
    elif rows is None and len(values) == len(time) + 1:
        values = values[1:]  # the start contains no information about parameters
    if values.shape != (len(time), *shape):
        raise ModelError(
            f"Channel '{name}' must have shape {(len(time), *shape)}, one row for each instant that the experiment "
            f"records after its start, got {values.shape}."
        )
    if not np.all(np.isfinite(values)):
        at = int(np.argmax(~np.isfinite(values).reshape(len(time), -1).all(axis=1)))
        raise ModelError(f"Channel '{name}' has a number that is not finite at {time[at]:g} s. Leave out that channel.")
    turns, sigma = name.endswith("attitude") and shape == (4,), np.asarray(noise, dtype=float)
    count = 3 if turns else int(np.prod(shape))
    if sigma.shape not in ((), (count,)) or not np.all(np.isfinite(sigma) & (sigma > 0.0)):
        raise ModelError(f"The noise of '{name}' must be one positive number, or {count}, got {noise!r}.")
    return MeasuredChannel(name, _columns(values), np.broadcast_to(sigma, (count,)), turns)


def _columns(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1)


def _multiply_quaternions(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion products, row by row."""
    aw, av, bw, bv = a[:, :1], a[:, 1:], b[:, :1], b[:, 1:]
    return np.hstack([aw * bw - np.sum(av * bv, axis=1, keepdims=True), aw * bv + bw * av + np.cross(av, bv)])
