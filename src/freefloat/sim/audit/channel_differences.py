"""Differences of two runs, channel by channel: vectors by their length, rotations by their angle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArray

_WINDOW = 4  # records: a peak narrower than this may be a switch that came a little earlier in one of the runs
_RARE = 0.05  # share of the records at which a channel may have switched in one run only
_MOSTLY_FLAT = 0.05  # typical change of a channel that switches, as a share of its largest


def is_number(array: LabelledArray) -> bool:
    """Whether a channel is a continuous quantity, not a flag or a counter."""
    return array.dtype.kind == "f" and "flags" not in array.attrs


def difference(first: LabelledArray, second: np.ndarray) -> np.ndarray:
    """Difference of two histories of a channel, (records, parts): lengths, angles [rad], or single components."""
    a, b, axis = first.values, second, first.dims[-1]
    with np.errstate(invalid="ignore", over="ignore"):
        if axis == "wxyz":
            found = angle_between(a, b)
        elif axis == "rpy":
            found = angle_between(_quaternion(a), _quaternion(b))
        elif axis == "xyz":
            found = np.linalg.norm(a - b, axis=-1)
        else:
            found = np.abs(a - b)
    return found.reshape(len(a), -1)


def angle_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angle of the rotation from one attitude to the other [rad]; a quaternion and its negative are one attitude."""
    # |a - b| and |a + b| are 2 sin and 2 cos of a quarter of the angle; exact for small ones, unlike arccos.
    apart, along = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    return 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))


def _quaternion(rpy: np.ndarray) -> np.ndarray:
    """Quaternion of Z-Y-X angles (roll, pitch, yaw) [rad]."""
    (cr, cp, cy), (sr, sp, sy) = (f(0.5 * np.moveaxis(rpy, -1, 0)) for f in (np.cos, np.sin))
    return np.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=-1,
    )


def unit_of(array: LabelledArray) -> str:
    """The unit of a channel's difference."""
    return "rad" if array.dims[-1] in ("wxyz", "rpy") else str(array.attrs.get("units", ""))


def size_of(array: LabelledArray) -> tuple[float, float]:
    """Largest value of a channel, and its range in the run; 1 and half a turn for a rotation."""
    if array.dims[-1] in ("wxyz", "rpy"):
        return 1.0, np.pi
    values = array.values.reshape(len(array.values), -1)
    return float(np.max(np.abs(values), initial=0.0)), float(np.max(np.ptp(values, axis=0), initial=0.0))


def switch_flags(array: LabelledArray, apart: np.ndarray) -> np.ndarray:
    """Flags where a channel that is constant except for jumps has jumped in one run only, (records, parts).

    A relay that switches one tick earlier is not off by its whole stroke: the instant is, and what follows from it is
    in the other channels. Channels that move all the time have no such records, however far they are off.
    """
    values = array.values.reshape(len(apart), -1)
    none = np.zeros(apart.shape, bool)
    if values.shape != apart.shape or len(apart) < 3 * _WINDOW:
        return none
    change = np.abs(np.diff(values, axis=0))
    largest, typical = np.max(change, axis=0), np.median(change, axis=0)
    lasting = _dilate(_erode(apart, _WINDOW), _WINDOW)
    jump = _dilate(np.concatenate([change[:1] * 0.0, change]), 2 * _WINDOW - 1)
    found = (apart > 10.0 * lasting) & (apart > 0.3 * jump) & (jump > 0.3 * largest)
    found &= (typical < _MOSTLY_FLAT * largest)[None]
    return found if np.mean(np.any(found, axis=1)) <= _RARE else none


def _erode(x: np.ndarray, width: int) -> np.ndarray:
    """Smallest of each entry and the `width - 1` entries after it."""
    return np.min(_windows(x, width), axis=-1)


def _dilate(x: np.ndarray, width: int) -> np.ndarray:
    """Largest of each entry and the `width - 1` entries before it."""
    return np.max(_windows(x[::-1], width), axis=-1)[::-1]


def _windows(x: np.ndarray, width: int) -> np.ndarray:
    padded = np.concatenate([x, np.repeat(x[-1:], width - 1, axis=0)])
    return np.lib.stride_tricks.sliding_window_view(padded, width, axis=0)
