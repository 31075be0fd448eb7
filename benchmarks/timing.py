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


def mean_in_turns(
    functions: list[Callable[[], object]], calls_worth: int, clock: Callable[[], float] = time.thread_time
) -> list[float]:
    """Seconds per unit of work of several functions, in turns, so that a busy machine is busy for all of them.

    Where the stack happens to lie changes the speed of SIMD code by a tenth (its addresses clash with those of the
    work space in the low twelve bits), so this is the mean over twelve places of the best time at each.
    """
    places, blocks = (range(1), 1) if quick else (range(12), 3)
    for function in functions:
        function()
    times = [
        [[_at_depth(k, lambda f=f: _block(f, 1, clock)) for f in functions] for k in places] for _ in range(blocks)
    ]
    best_at = [[min(t[k][j] for t in times) for k in places] for j in range(len(functions))]
    return [sum(at) / len(places) / calls_worth for at in best_at]


def _at_depth(depth: int, function: Callable[[], float]) -> float:
    """Call a function further down the stack of the processor."""
    if depth == 0:
        return function()
    found: list[float] = []
    sorted([depth - 1], key=lambda deeper: found.append(_at_depth(deeper, function)) or 0)  # called from C
    return found[0]


def _block(function: Callable[[], object], count: int, clock: Callable[[], float] = time.thread_time) -> float:
    start = clock()
    for _ in range(count):
        function()
    return clock() - start
