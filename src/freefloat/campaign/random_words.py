"""Random numbers of a campaign: those of run i do not depend on what else is drawn; there is no state between runs.

Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), for many runs at
once. The key is the seed, the counter (run, column, attempt).
"""

from __future__ import annotations

import numpy as np

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_ROUNDS = 10


def philox(counter: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Four random 32-bit words, in 64-bit integers, for every counter (..., 4) of such words."""
    a, b, c, d = (np.asarray(word, np.uint64) for word in np.moveaxis(counter, -1, 0))
    first, second = key
    for _ in range(_ROUNDS):
        left, right = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, c = (right >> _HALF) ^ b ^ np.uint64(first), (left >> _HALF) ^ d ^ np.uint64(second)
        b, d = right & _LOW, left & _LOW
        first, second = (first + _WEYL[0]) & 0xFFFFFFFF, (second + _WEYL[1]) & 0xFFFFFFFF
    return np.stack([a, b, c, d], axis=-1)


def uniforms(seed: int, runs: np.ndarray, columns: int, attempt: int = 0) -> np.ndarray:
    """Numbers between 0 and 1, neither included: one row for each run, which does not depend on the other runs."""
    runs, pairs = np.asarray(runs, np.uint64), (columns + 1) // 2
    counter = np.empty((len(runs), pairs, 4), np.uint64)
    counter[..., 0], counter[..., 1] = (runs & _LOW)[:, None], (runs >> _HALF)[:, None]
    counter[..., 2], counter[..., 3] = np.arange(pairs, dtype=np.uint64), attempt
    words = philox(counter, (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF))
    high = words[..., 0::2] << np.uint64(20)  # 32 bits of one word and 20 of the next: 52, and a half at the end
    mixed = high | (words[..., 1::2] >> np.uint64(12))
    return ((mixed.astype(float) + 0.5) * 2.0**-52).reshape(len(runs), 2 * pairs)[:, :columns]


def noise_numbers(seed: int, runs: np.ndarray) -> np.ndarray:
    """Numbers (int32) that select the sensor noise of each run: other seeds give other noise."""
    words = (np.asarray(runs, np.uint64) + np.uint64((seed * _WEYL[0]) & 0xFFFFFFFF)) & _LOW
    return words.astype(np.uint32).view(np.int32)
