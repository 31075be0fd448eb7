"""A rehearsal in step with the clock: the loop in a process of its own, everything else behind a ring of memory.

Cycles begin at absolute deadlines: the process sleeps until shortly before and spins for the rest. A cycle that is late
begins at once and the next one at its own deadline, or at the first that lies ahead: nothing is caught up in bursts.
The parent reads rows from the ring, writes the log and reports; it can wish a stop, and hears when the child has died.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context, shared_memory
from typing import Any

import numpy as np

from freefloat.hil.loop.loop import Hooks, Loop, Pace

_SPIN = 3e-4  # [s] before a deadline from which on the clock is watched
_ROOM = 4096  # rows of the ring: seconds of a loop at a kilohertz
_WORDS = 2048  # bytes of a sentence
_PRIORITY = 80
_LOCK_ALL = 3  # MCL_CURRENT | MCL_FUTURE


class Clocked(Pace):
    """Cycles at absolute deadlines."""

    def __init__(self, cycle: float) -> None:
        self._cycle, self._start = cycle, 0.0

    def wait(self, cycle: int) -> float:
        """Sleep, then spin, until a cycle is due; by how much it is late [s]."""
        now = time.perf_counter()
        if not self._start:
            self._start = now - cycle * self._cycle
        due = self._start + cycle * self._cycle
        if now > due + self._cycle:  # whole cycles are lost: the deadlines move, so that none is made up in a burst
            self._start += (now - due) // self._cycle * self._cycle
            return now - due
        while (left := due - time.perf_counter()) > 0.0:
            if left > _SPIN:
                time.sleep(left - _SPIN)
        return time.perf_counter() - due


def grant() -> tuple[str, ...]:
    """Ask for what keeps a loop on time, of this process; what was granted and what was not, in words."""
    told = []
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        told.append(f"real-time priority {_PRIORITY} granted")
    except (OSError, AttributeError) as error:
        told.append(f"real-time priority not granted ({getattr(error, 'strerror', None) or error})")
    try:
        locked = ctypes.CDLL(None, use_errno=True).mlockall(_LOCK_ALL) == 0
    except (OSError, AttributeError):
        locked = False
    told.append("memory locked" if locked else "memory not locked")
    gc.collect()
    gc.freeze()
    gc.disable()
    told.append("garbage collection off")
    return tuple(told)


class Ring:
    """Rows that one process writes and another reads, in shared memory, with a few words beside them."""

    def __init__(self, width: int) -> None:
        size = 8 * (3 + _ROOM * width) + 2 * _WORDS
        self._memory = shared_memory.SharedMemory(create=True, size=size)
        content = self._memory.buf
        assert content is not None
        numbers = np.ndarray((3 + _ROOM * width,), float, content)
        self._counts, self._rows = numbers[:3].view(np.int64), numbers[3:].reshape(_ROOM, width)
        self._counts[:] = 0  # written, read, done
        self._words = content[8 * (3 + _ROOM * width) :]
        self._words[:] = bytes(2 * _WORDS)

    def put(self, row: np.ndarray) -> None:
        """One row more; an OSError where nobody has read for a whole ring."""
        written = int(self._counts[0])
        if written - int(self._counts[1]) >= _ROOM:
            raise OSError(f"nobody has read {_ROOM} cycles: the parent process hangs")
        self._rows[written % _ROOM] = row
        self._counts[0] = written + 1

    def take(self) -> list[np.ndarray]:
        """All rows that have come since the last time."""
        first, end = int(self._counts[1]), int(self._counts[0])
        rows = [self._rows[k % _ROOM].copy() for k in range(first, end)]
        self._counts[1] = end
        return rows

    def say(self, what: int, sentence: str) -> None:
        """Leave words: 0, a wish of the parent to stop; 1, what the child has come to."""
        content = sentence.encode()[: _WORDS - 1]
        self._words[what * _WORDS : what * _WORDS + len(content)] = content

    def heard(self, what: int) -> str:
        """The words that were left; empty: none. The first byte tells, so that it costs nothing to ask."""
        at = what * _WORDS
        if not self._words[at]:
            return ""
        return bytes(self._words[at : at + _WORDS]).rstrip(b"\0").decode(errors="replace")

    def finish(self) -> None:
        """Nothing more will come."""
        self._counts[2] = 1

    @property
    def finished(self) -> bool:
        """Whether the child has said that nothing more will come."""
        return bool(self._counts[2])

    def close(self) -> None:
        """Give the memory back."""
        self._counts = self._rows = np.zeros(0)
        self._words.release()
        self._memory.close()
        self._memory.unlink()


@dataclass(frozen=True)
class Outcome:
    """How a loop in a process of its own ended."""

    reason: str  # why it stopped early; empty: it did not
    granted: str  # what the process was granted


def run_in_process(make: Callable[[Hooks, Pace], Loop], cycle: float, hooks: Hooks, width: int) -> Outcome:
    """Run the loop that `make` makes in a child process; rows go to `hooks.keep` here, wishes to stop go there."""
    ring = Ring(width)
    with warnings.catch_warnings():
        # The child never calls JAX, whose threads do not survive a fork: its programs are machine code by now.
        warnings.simplefilter("ignore")
        child: Any = get_context("fork").Process(target=_child, args=(make, cycle, ring, os.getpid()), daemon=True)
        child.start()
    try:
        told = _attend(child, ring, hooks)
    finally:
        child.join(timeout=5.0)
        if child.is_alive():
            child.kill()
        words = ring.heard(1)
        ring.close()
    granted, _, reason = words.partition("\n")
    if not words and not told:
        told = f"the process of the loop ended with {_ending(child.exitcode)}: the facility is on its own"
    return Outcome(reason or told, granted)


def _attend(child: Any, ring: Ring, hooks: Hooks) -> str:
    """Keep what comes until the child is done; why keeping failed, if it did."""
    told = ""
    while True:
        over = ring.finished or not child.is_alive()
        for row in ring.take():
            try:
                hooks.keep(row)
            except OSError as error:
                told = told or f"the log cannot be kept: {error}"
                ring.say(0, told)
        if wish := hooks.stop_wanted():
            ring.say(0, wish)
        if over:
            return told
        time.sleep(2e-3)


def _child(make: Callable[[Hooks, Pace], Loop], cycle: float, ring: Ring, parent: int) -> None:
    """The loop itself; Ctrl-C and SIGTERM are the parent's to hear."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    granted = ", ".join(grant())

    def wanted() -> str:
        return ring.heard(0) or ("" if os.getppid() == parent else "the parent process has died")

    reason = make(Hooks(ring.put, wanted), Clocked(cycle)).run()
    ring.say(1, f"{granted}\n{reason}")
    ring.finish()


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"status {code}"
