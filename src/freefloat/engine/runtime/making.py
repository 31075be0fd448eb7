"""Reports that code is being made: of what, in which phase, for how long, and how long it took the last time.

Whoever wants to show it listens by `on_making`; the logger "freefloat" says the same at level INFO. Nothing is reported
where code is found, nor of what the compiler in the background does.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from . import cache

Phase = Literal["tracing", "compiling"]
State = Literal["begun", "ended", "failed"]

logger = logging.getLogger("freefloat")
clock: Callable[[], float] = time.perf_counter
_WORTH_KEEPING = 1.0  # [s] a time that is shorter is not kept: nobody asks how long it took


@dataclass(frozen=True)
class Making:
    """One report: a phase of making code has begun, has ended, or has failed."""

    what: str  # whose code it is: "the simulation of 'ets7'", else the function's name
    function: str
    phase: Phase
    state: State
    seconds: float  # that the code of `what` has taken so far
    last_time: float | None  # [s] that it took in all when it was made before; None if that is not known

    def sentence(self, seconds: float | None = None) -> str:
        """What is going on, for people; after so many seconds, if they are given."""
        so_far = "" if seconds is None else f", {seconds:.1f} s"
        before = "" if self.last_time is None else f" (last time {self.last_time:.1f} s)"
        return f"making the code of {self.what}: {self.phase}{so_far}{before}"


Callback = Callable[[Making], None]


class Listening:
    """A callback that is called until `stop`; as a context, until its end."""

    def __init__(self, callback: Callback) -> None:
        self.callback = callback
        _listening.append(self)

    def stop(self) -> None:
        """Call it no more; the same function registered once more is not affected."""
        if self in _listening:
            _listening.remove(self)

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


_listening: list[Listening] = []


def on_making(callback: Callback) -> Listening:
    """Call a function with a `Making` when code begins to be made and when it is made, in the thread that makes it.

    Code that the function itself makes is a part of what it hears of, and not reported.
    """
    if not callable(callback):
        raise ValueError(f"on_making needs a function of an engine.Making, got {callback!r}.")
    return Listening(callback)


def is_making_heard() -> bool:
    """Whether somebody listens already, by a callback or in the log."""
    return bool(_listening) or logger.isEnabledFor(logging.INFO)


class _Work:
    """A piece of work that code is made for, with the time that this has taken."""

    def __init__(self, what: str, key: str) -> None:
        self.what, self._key = what, key
        self.seconds, self.is_making = 0.0, False
        self._state: State = "begun"

    @cached_property
    def last_time(self) -> float | None:
        """How long it took before this time [s]."""
        return _time_kept(self._key)

    @contextmanager
    def phase(self, function: str, phase: Phase) -> Iterator[None]:
        """One phase, reported at its begin and at its end, however it ends."""
        self.is_making = True  # also during the reports: a callback may make code
        try:
            self._report(function, phase, "begun")
            with self._timed(function, phase):
                yield
        finally:
            self.is_making = False

    @contextmanager
    def _timed(self, function: str, phase: Phase) -> Iterator[None]:
        began = clock()
        state: State = "failed"
        try:
            yield
            state = "ended"
        finally:
            self.seconds += clock() - began
            self._report(function, phase, state)

    def _report(self, function: str, phase: Phase, state: State) -> None:
        self._state = state
        if not is_making_heard():
            return
        event = Making(self.what, function, phase, state, self.seconds, self.last_time)
        if state == "begun":
            logger.info("%s", event.sentence())
        else:
            logger.info("%s has %s after %.1f s", event.sentence(), state, self.seconds)
        for listening in tuple(_listening):
            listening.callback(event)

    def keep_time(self) -> None:
        """Leave for the next time how long it took, unless it was not finished."""
        if self._state == "ended" and self.seconds >= _WORTH_KEEPING and not cache.obstacle():
            cache.write(_time_key(self._key), f"{self.seconds:.3f}".encode())


_work: ContextVar[_Work | None] = ContextVar("work", default=None)


@contextmanager
def _working(work: _Work) -> Iterator[_Work]:
    token = _work.set(work)
    try:
        yield work
    finally:
        _work.reset(token)
        work.keep_time()


@contextmanager
def code_of(what: str) -> Iterator[None]:
    """Name the work that code is made for in this block, "the simulation of 'ets7'"; the outermost name counts."""
    if _work.get() is not None:
        yield
        return
    with _working(_Work(what, what)):
        yield


@contextmanager
def making(function: str, phase: Phase) -> Iterator[None]:
    """Report that code of a function is made in this block; what is made inside of it is a part of it."""
    with ExitStack() as stack:
        work = _work.get() or stack.enter_context(_working(_Work(function, f"{function}: {phase}")))
        if not work.is_making:
            stack.enter_context(work.phase(function, phase))
        yield


@contextmanager
def unreported() -> Iterator[None]:
    """For threads that make parts of something that is reported already."""
    work = _Work("", "")
    work.is_making = True
    with _working(work):
        yield


def _time_key(key: str) -> str:
    """The entry of a time: without the engine's version, which does not change what it is the time of."""
    return hashlib.sha256(f"time of making\0{key}".encode()).hexdigest()


def _time_kept(key: str) -> float | None:
    """The time that was kept; none where the entry is missing, damaged or no time."""
    content = None if cache.obstacle() else cache.read(_time_key(key))
    try:
        seconds = float(content or b"")
    except ValueError:
        return None
    return seconds if 0.0 <= seconds < float("inf") else None


if hasattr(os, "register_at_fork"):  # what a forked process does is shown by nobody
    os.register_at_fork(after_in_child=_listening.clear)
