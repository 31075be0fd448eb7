"""Time of a call on a noisy machine: processor time of this thread, the best of many blocks."""

import time
from collections.abc import Callable

quick = False  # a smoke run: two short blocks instead of fifteen


def best(function: Callable[[], object], calls_worth: int = 1, blocks: int = 15, block_time: float = 0.03) -> float:
    """Seconds per unit of work; one call does `calls_worth` of it."""
    if quick:
        blocks, block_time = 2, 1e-3
    function()
    count = 1
    while True:
        spent = _block(function, count)
        if spent > block_time / 2:
            break
        count = max(2 * count, int(count * block_time / max(spent, 1e-7)))
    return min(_block(function, count) for _ in range(blocks)) / (count * calls_worth)


def _block(function: Callable[[], object], count: int) -> float:
    start = time.thread_time()
    for _ in range(count):
        function()
    return time.thread_time() - start
