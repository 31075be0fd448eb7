"""Decimation: fewer samples that draw the same curve, with every peak of every component."""

from __future__ import annotations

import numpy as np


def decimated_indices(values: np.ndarray, points: int) -> np.ndarray:
    """Ascending indices of at most about `points` samples that draw the same curve.

    Time is cut into buckets; the first sample of each stays, and every component's smallest and largest, so that peaks
    and the envelope of fast motion are exact. A bucket with a gap (not finite) keeps one sample of it.
    """
    values = values.reshape(len(values), -1)
    samples, components = values.shape
    if samples <= points:
        return np.arange(samples)
    buckets = max(1, points // (2 * components + 1))
    size = -(-samples // buckets)
    whole = samples // size * size
    indices = [np.arange(0, samples, size), np.array([samples - 1])]
    for column in values.T:
        indices += [_extremes(column[:whole].reshape(-1, size), 0), _extremes(column[whole:][None], whole)]
    return np.unique(np.concatenate(indices))


def _extremes(rows: np.ndarray, offset: int) -> np.ndarray:
    """Indices of the smallest, the largest and, if there is one, a non-finite sample of each row."""
    if not rows.size:
        return np.zeros(0, dtype=int)
    starts = offset + np.arange(len(rows)) * rows.shape[1]
    finite = np.isfinite(rows)
    low = starts + np.argmin(np.where(finite, rows, np.inf), axis=1)
    high = starts + np.argmax(np.where(finite, rows, -np.inf), axis=1)
    gaps = (starts + np.argmin(finite, axis=1))[~finite.all(axis=1)]
    return np.concatenate([low, high, gaps])
