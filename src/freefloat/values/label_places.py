"""Places of names and times along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np


class AskXarray(Exception):
    """Raised for a selection that only xarray supports: `sel` and `isel` catch this and pass the selection on."""


def places_along(axis: str, along: Any, place: Any) -> slice | np.ndarray:
    """Places along an axis (slice, number, numbers or truth values); `along` is its coordinate, or None."""
    if isinstance(place, slice):
        if any(end is not None and not hasattr(end, "__index__") for end in (place.start, place.stop, place.step)):
            raise AskXarray
        return place
    if hasattr(place, "dims"):
        _require_own_axis(axis, along, place)
    elif isinstance(place, tuple):  # an axis and its values
        raise AskXarray
    array = np.asarray(place)
    if array.ndim > 1 or (array.dtype.kind not in "iu" and (array.dtype.kind, array.ndim) != ("b", 1)):
        raise AskXarray
    return array


def find_places(axis: str, along: np.ndarray, label: Any, method: str | None) -> slice | np.ndarray:
    """Places of labels among the names or times of an axis."""
    if along.ndim != 1 or method not in (None, "nearest") or isinstance(label, tuple):
        raise AskXarray
    if isinstance(label, slice):
        return _find_slice(along, label, method)
    if hasattr(label, "dims"):
        _require_own_axis(axis, None, label)
    labels = np.asarray(label)
    words, numbers = along.dtype.kind == "U", along.dtype.kind in "iuf"
    if labels.ndim > 1 or not labels.size or labels.dtype.kind not in "iufU" or not (words or numbers):
        raise AskXarray
    if words != (labels.dtype.kind == "U"):
        raise _missing_label_error(axis, along, label)
    return _find_nearest(along, labels) if method else _find_equal(axis, along, labels)


def same_values(first: np.ndarray, second: np.ndarray) -> bool:
    """True where two coordinates are equal; a NaN is equal to a NaN."""
    return first is second or np.array_equal(first, second, equal_nan=first.dtype.kind == second.dtype.kind == "f")


def _require_own_axis(axis: str, along: Any, place: Any) -> None:
    """Accept a single value, or truth values along the same names or times: they select as plain arrays do.

    xarray decides about other arrays: they pick point by point, bring coordinates along, or do not fit.
    """
    coords = getattr(place, "coords", {})
    mask = place.dims == (axis,) and np.asarray(place).dtype.kind == "b"
    if set(coords) - {axis} or (place.dims and not mask):
        raise AskXarray
    if mask and axis in coords and (along is None or not same_values(along.values, coords[axis].values)):
        raise AskXarray


def _find_equal(axis: str, along: np.ndarray, labels: np.ndarray) -> np.ndarray:
    order = np.arange(along.size) if _is_ascending(along) else np.argsort(along, kind="stable")
    ordered = along[order]
    if np.any(ordered[1:] == ordered[:-1]):
        raise AskXarray
    at = np.minimum(np.searchsorted(ordered, labels), max(along.size - 1, 0))
    absent = ordered[at] != labels if along.size else np.ones(labels.shape, dtype=bool)
    if np.any(absent):
        raise _missing_label_error(axis, along, labels[absent][0])
    return order[at] if along.size else at


def _find_nearest(along: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Place of the value nearest to each label; the later one of two equally near ones, as in pandas."""
    signed = along.dtype.kind in "if" and labels.dtype.kind in "if"
    if not signed or not along.size or not _is_ascending(along) or np.any(np.isnan(labels)):
        raise AskXarray
    after = np.clip(np.searchsorted(along, labels), 0, along.size - 1)
    before = np.maximum(np.searchsorted(along, labels, side="right") - 1, 0)
    return np.where(np.abs(labels - along[before]) < np.abs(along[after] - labels), before, after)


def _find_slice(along: np.ndarray, wanted: slice, method: str | None) -> slice:
    """Slice of the values between two labels, both ends included."""
    ends = [np.asarray(end) for end in (wanted.start, wanted.stop) if end is not None]
    plain = all(end.ndim == 0 and end.dtype.kind in "iuf" and not np.isnan(end) for end in ends)
    if method or wanted.step is not None or along.dtype.kind not in "iuf" or not plain or not _is_ascending(along):
        raise AskXarray
    first = 0 if wanted.start is None else int(np.searchsorted(along, wanted.start, side="left"))
    last = along.size if wanted.stop is None else int(np.searchsorted(along, wanted.stop, side="right"))
    return slice(first, last)


def _is_ascending(along: np.ndarray) -> bool:
    return bool(np.all(along[1:] > along[:-1]))


def _missing_label_error(axis: str, along: np.ndarray, label: Any) -> KeyError:
    if along.dtype.kind == "U":
        return KeyError(f"Axis '{axis}' has no '{label}'. It has: {', '.join(map(str, along)) or 'nothing'}.")
    ends = f" It has {along.size} values from {along[0]:g} to {along[-1]:g}." if along.size else " It is empty."
    return KeyError(f"Axis '{axis}' has no {label}.{ends} Pass method='nearest' for the nearest one.")
