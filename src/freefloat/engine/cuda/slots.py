"""Decides which values that do not fit into registers lie in shared memory, and which in local memory.

A *stay* is a value's time in memory, from where it is stored to its last reading. Shared memory has few slots for
each thread, so stays that are read often for their length come first; the others go to local memory, which a large
kernel reads at the speed of the second-level cache.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass
class Stay:
    """A value's time in memory, and how often it is moved (weighted by the loops around it)."""

    start: int
    end: int
    moves: float
    loads: int = 0
    slot: int = 0
    near: bool = False


@dataclass(frozen=True)
class Slots:
    """Number of slots that a kernel needs."""

    near: int = 0
    far: int = 0


def divide_slots(stays: Iterable[Stay], near: int) -> Slots:
    """Assign a slot to every stay that is read, with at most ``near`` in shared memory at any time."""
    read = [s for s in stays if s.loads]
    crowd = np.zeros(max((s.end for s in read), default=0) + 2, int)
    for stay in sorted(read, key=lambda s: -s.moves / (s.end - s.start + 1)):
        place = crowd[stay.start : stay.end + 1]
        if place.max(initial=0) < near:
            place += 1
            stay.near = True
    close, distant = [s for s in read if s.near], [s for s in read if not s.near]
    return Slots(_assign_slots(close), _assign_slots(distant))


def _assign_slots(stays: list[Stay]) -> int:
    """Assign the lowest free slot to every stay, in the order of time; returns the number of slots."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    count = 0
    for stay in sorted(stays, key=lambda s: s.start):
        while busy and busy[0][0] < stay.start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            heapq.heappush(free, count)
            count += 1
        stay.slot = heapq.heappop(free)
        heapq.heappush(busy, (stay.end, stay.slot))
    return count
