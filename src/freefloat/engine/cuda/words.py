"""Converts between arrays of leaves and the rows of words that a kernel reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freefloat.engine.graph import Leaf
from freefloat.engine.runtime.structure import NUMPY

from .runner import Runner


def size_of(leaves: Sequence[Leaf]) -> int:
    """Number of scalars of several leaves."""
    return sum(leaf.size for leaf in leaves)


def to_words(runner: Runner, arrays: Sequence[np.ndarray], leaves: Sequence[Leaf]) -> Any:
    """8-byte words with axes (scalar, instance), from arrays with the instance axis first."""
    xp, count = runner.xp, len(arrays[0]) if arrays else 1
    words, first = xp.empty((size_of(leaves), count)), 0
    for array, leaf in zip(arrays, leaves, strict=True):
        columns = xp.asarray(array.reshape(count, leaf.size)).T
        if leaf.dtype == "f64":
            words[first : first + leaf.size] = columns
        else:
            words.view(np.int64)[first : first + leaf.size] = columns.astype(np.int64)
        first += leaf.size
    return words


def from_words(runner: Runner, words: Any, leaves: Sequence[Leaf]) -> list[np.ndarray]:
    """Arrays with the instance axis first, from words with axes (..., scalar, instance)."""
    arrays, first = [], 0
    for leaf in leaves:
        part = words[..., first : first + leaf.size, :]
        lying = runner.to_host(runner.xp.ascontiguousarray(runner.xp.moveaxis(part, -1, 0)))
        values = lying if leaf.dtype == "f64" else lying.view(np.int64).astype(NUMPY[leaf.dtype])
        arrays.append(values.reshape(*lying.shape[:-1], *leaf.shape))
        first += leaf.size
    return arrays
