"""Where names and times stand along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_plain_place(place: Any) -> bool:
    """True for a number, a slice, or numbers or truth values along one axis; anything else is xarray's to decide."""
    if isinstance(place, slice):
        return place == slice(None) or all(
            part is None or hasattr(part, "__index__") for part in (place.start, place.stop, place.step)
        )
    array = np.asarray(place) if not hasattr(place, "dims") else None
    if array is None:  # an array with axes of its own picks point by point unless it is a single number
        return not place.dims or np.asarray(place).dtype.kind == "b"
    return array.ndim <= 1 and (array.dtype.kind in "iu" or (array.dtype.kind == "b" and array.ndim == 1))


def find_places(axis: str, along: np.ndarray, wanted: Any, method: str | None) -> Any:
    """A number, numbers or a slice of places at which labels stand; None where only an index of pandas can answer."""
    if along.ndim != 1 or method not in (None, "nearest") or getattr(wanted, "dims", ()):
        return None
    if isinstance(wanted, slice):
        return _span(along, wanted) if method is None else None
    labels = np.asarray(wanted)
    words, numbers = along.dtype.kind == "U", along.dtype.kind in "iuf"
    if labels.ndim > 1 or labels.dtype.kind == "b" or not (words or numbers):
        return None
    if words != (labels.dtype.kind == "U"):
        raise _missing(axis, along, wanted)
    if method == "nearest":
        return _nearest(along, labels) if numbers and along.size and _rises(along) else None
    return _same(axis, along, labels)


def _same(axis: str, along: np.ndarray, labels: np.ndarray) -> np.ndarray | None:
    equal = np.atleast_1d(labels)[:, None] == along
    if np.any(equal.sum(axis=1) > 1):
        return None
    if not np.all(equal.any(axis=1)):
        raise _missing(axis, along, np.atleast_1d(labels)[~equal.any(axis=1)][0])
    return equal.argmax(axis=1).reshape(labels.shape) if along.size else np.zeros(labels.shape, dtype=int)


def _nearest(along: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of two that are equally near the later one, as pandas does."""
    after = np.clip(np.searchsorted(along, labels), 0, along.size - 1)
    before = np.maximum(np.searchsorted(along, labels, side="right") - 1, 0)
    return np.where(np.abs(labels - along[before]) < np.abs(along[after] - labels), before, after)


def _span(along: np.ndarray, wanted: slice) -> slice | None:
    """Both ends included."""
    ends = [end for end in (wanted.start, wanted.stop) if end is not None]
    plain = all(np.ndim(end) == 0 and np.asarray(end).dtype.kind in "iuf" for end in ends)
    if wanted.step is not None or along.dtype.kind not in "iuf" or not plain or not _rises(along):
        return None
    first = 0 if wanted.start is None else int(np.searchsorted(along, wanted.start, side="left"))
    last = along.size if wanted.stop is None else int(np.searchsorted(along, wanted.stop, side="right"))
    return slice(first, last)


def _rises(along: np.ndarray) -> bool:
    return bool(np.all(along[1:] > along[:-1]))


def _missing(axis: str, along: np.ndarray, label: Any) -> KeyError:
    if along.dtype.kind == "U":
        return KeyError(f"Axis '{axis}' has no '{label}'. It has: {', '.join(map(str, along)) or 'nothing'}.")
    ends = f" It has {along.size} values from {along[0]:g} to {along[-1]:g}." if along.size else " It is empty."
    return KeyError(f"Axis '{axis}' has no {label}.{ends} Pass method='nearest' for the nearest one.")
