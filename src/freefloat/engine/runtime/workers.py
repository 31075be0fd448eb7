"""Runs the instances of a batch in threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

PARTS_PER_THREAD = 4  # smaller parts even out threads that are interrupted by other work


def available_threads() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="freefloat")


if hasattr(os, "register_at_fork"):
    # A forked process has the pools but not their threads, and would wait for them for ever: it begins new ones.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def run_parts(part: Callable[[int, int], None], total: int, width: int, threads: int) -> None:
    """Call ``part(first, end)`` over [0, total), cut at multiples of the register width."""
    groups = -(-total // width)
    if threads <= 1 or groups <= 1:
        part(0, total)
        return
    step = -(-groups // (threads * PARTS_PER_THREAD)) * width
    parts = [(first, min(first + step, total)) for first in range(0, total, step)]
    for future in [_pool(threads).submit(part, *ends) for ends in parts]:
        future.result()
