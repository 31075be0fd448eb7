"""A rehearsal in real time: the loop runs in a process of its own, and sends its rows through a ring buffer.

Cycles begin at absolute deadlines: the process sleeps until shortly before and spins for the rest. A cycle that is late
begins at once and the next one at its own deadline, or at the first that lies ahead: late cycles are not made up for.
The parent reads rows from the ring, writes the log and reports; it can request a stop, and notices when the child dies.
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

from freefloat.hil.loop.rehearsal_loop import Hooks, Pace, RehearsalLoop

_SPIN = 3e-4  # [s] before a deadline: from then on the loop does not sleep
_ROOM = 4096  # rows of the ring: seconds of a loop at a kilohertz
_WORDS = 2048  # bytes of a text
_PRIORITY = 80
_LOCK_ALL = 3  # MCL_CURRENT | MCL_FUTURE


class RealTimePace(Pace):
    """Cycles begin at absolute deadlines."""

    def __init__(self, cycle: float) -> None:
        self._cycle, self._start = cycle, 0.0

    def wait(self, cycle: int) -> float:
        """Sleep, then spin, until a cycle is due; returns by how much it is late [s]."""
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


def request_realtime() -> tuple[str, ...]:
    """Request priority and locked memory for this process, for a punctual loop; texts of what was granted or not."""
    results = []
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        results.append(f"real-time priority {_PRIORITY} granted")
    except (OSError, AttributeError) as error:
        results.append(f"real-time priority not granted ({getattr(error, 'strerror', None) or error})")
    try:
        locked = ctypes.CDLL(None, use_errno=True).mlockall(_LOCK_ALL) == 0
    except (OSError, AttributeError):
        locked = False
    results.append("memory locked" if locked else "memory not locked")
    gc.collect()
    gc.freeze()
    gc.disable()
    results.append("garbage collection off")
    return tuple(results)


class RowRing:
    """Ring buffer of rows in shared memory, from one process to another, with a text in each direction."""

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

    def append_row(self, row: np.ndarray) -> None:
        """Write one more row; raises an OSError when the ring is full because the reader has stopped."""
        written = int(self._counts[0])
        if written - int(self._counts[1]) >= _ROOM:
            raise OSError(f"nobody has read {_ROOM} cycles: the parent process hangs")
        self._rows[written % _ROOM] = row
        self._counts[0] = written + 1

    def new_rows(self) -> list[np.ndarray]:
        """All rows that were written since the last call."""
        first, end = int(self._counts[1]), int(self._counts[0])
        rows = [self._rows[k % _ROOM].copy() for k in range(first, end)]
        self._counts[1] = end
        return rows

    def write_text(self, what: int, text: str) -> None:
        """Write a text: number 0, the parent requests a stop; number 1, the result of the child."""
        content = text.encode()[: _WORDS - 1]
        self._words[what * _WORDS : what * _WORDS + len(content)] = content

    def read_text(self, what: int) -> str:
        """The text with this number; empty: none. Only the first byte is read while there is none."""
        at = what * _WORDS
        if not self._words[at]:
            return ""
        return bytes(self._words[at : at + _WORDS]).rstrip(b"\0").decode(errors="replace")

    def finish(self) -> None:
        """Mark the ring as finished: no more rows will be written."""
        self._counts[2] = 1

    @property
    def is_finished(self) -> bool:
        """Whether the writer has finished."""
        return bool(self._counts[2])

    def close(self) -> None:
        """Release the shared memory."""
        self._counts = self._rows = np.zeros(0)
        self._words.release()
        self._memory.close()
        self._memory.unlink()


@dataclass(frozen=True)
class LoopOutcome:
    """Result of a loop that ran in a process of its own."""

    reason: str  # why it stopped early; empty if it did not
    granted: str  # what the process was granted


def run_in_process(make: Callable[[Hooks, Pace], RehearsalLoop], cycle: float, hooks: Hooks, width: int) -> LoopOutcome:
    """Run the loop that `make` returns in a child process; its rows go to `hooks.keep`, requests to stop go to it."""
    ring = RowRing(width)
    with warnings.catch_warnings():
        # The child never calls JAX, whose threads do not survive a fork: its programs are machine code by now.
        warnings.simplefilter("ignore")
        child: Any = get_context("fork").Process(target=_run_child, args=(make, cycle, ring, os.getpid()), daemon=True)
        child.start()
    try:
        failure = _collect_rows(child, ring, hooks)
    finally:
        child.join(timeout=5.0)
        if child.is_alive():
            child.kill()
        words = ring.read_text(1)
        ring.close()
    granted, _, reason = words.partition("\n")
    if not words and not failure:
        failure = f"the process of the loop ended with {_ending(child.exitcode)}: the facility is on its own"
    return LoopOutcome(reason or failure, granted)


def _collect_rows(child: Any, ring: RowRing, hooks: Hooks) -> str:
    """Record rows until the child has finished; returns why recording failed, or an empty text."""
    failure = ""
    while True:
        over = ring.is_finished or not child.is_alive()
        for row in ring.new_rows():
            try:
                hooks.keep(row)
            except OSError as error:
                failure = failure or f"the log cannot be kept: {error}"
                ring.write_text(0, failure)
        if reason := hooks.stop_wanted():
            ring.write_text(0, reason)
        if over:
            return failure
        time.sleep(2e-3)


def _run_child(make: Callable[[Hooks, Pace], RehearsalLoop], cycle: float, ring: RowRing, parent: int) -> None:
    """Run the loop in the child process; Ctrl-C and SIGTERM are handled by the parent."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    granted = ", ".join(request_realtime())

    def stop_reason() -> str:
        return ring.read_text(0) or ("" if os.getppid() == parent else "the parent process has died")

    reason = make(Hooks(ring.append_row, stop_reason), RealTimePace(cycle)).run()
    ring.write_text(1, f"{granted}\n{reason}")
    ring.finish()


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"status {code}"
