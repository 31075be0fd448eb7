"""Reports that code is being made: for what, in which phase, for how long, and how long it took the last time.

A program that shows this registers a callback by `on_making`; the logger "freefloat" writes the same at level INFO.
Nothing is reported where code is found, nor about the work of the compiler in the background.
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
_WORTH_KEEPING = 1.0  # [s] a shorter time is not kept


@dataclass(frozen=True)
class Making:
    """One report: a phase of making code has begun, has ended, or has failed."""

    what: str  # whose code it is: "the simulation of 'ets7'", else the function's name
    function: str
    phase: Phase
    state: State
    seconds: float  # [s] time that the code of `what` has taken so far
    last_time: float | None  # [s] total time when it was made before; None if not known

    def sentence(self, seconds: float | None = None) -> str:
        """Description of the phase for users, with the seconds it has taken if they are given."""
        so_far = "" if seconds is None else f", {seconds:.1f} s"
        before = "" if self.last_time is None else f" (last time {self.last_time:.1f} s)"
        return f"making the code of {self.what}: {self.phase}{so_far}{before}"


Callback = Callable[[Making], None]


class Listening:
    """A registered callback: it is called until `stop`, or until the end of its context."""

    def __init__(self, callback: Callback) -> None:
        self.callback = callback
        _listening.append(self)

    def stop(self) -> None:
        """Remove this callback; another registration of the same function is not affected."""
        if self in _listening:
            _listening.remove(self)

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


_listening: list[Listening] = []


def on_making(callback: Callback) -> Listening:
    """Call a function with a `Making` when the making of code begins and ends, in the thread that makes it.

    Code that the function itself makes counts as part of the reported phase and is not reported.
    """
    if not callable(callback):
        raise ValueError(f"on_making needs a function of an engine.Making, got {callback!r}.")
    return Listening(callback)


def is_making_heard() -> bool:
    """Whether reports are received, by a callback or by the log."""
    return bool(_listening) or logger.isEnabledFor(logging.INFO)


class _Work:
    """A piece of work that code is made for, with the time that making it has taken."""

    def __init__(self, what: str, key: str) -> None:
        self.what, self._key = what, key
        self.seconds, self.is_making = 0.0, False
        self._state: State = "begun"

    @cached_property
    def last_time(self) -> float | None:
        """Time that making the code took the last time [s]; None if not known."""
        return _time_kept(self._key)

    @contextmanager
    def phase(self, function: str, phase: Phase) -> Iterator[None]:
        """A context for one phase, reported at its begin and at its end, also after an error."""
        self.is_making = True  # also during the reports: a callback may make code
        try:
            self._report(function, phase, "begun")
            with self._time_phase(function, phase):
                yield
        finally:
            self.is_making = False

    @contextmanager
    def _time_phase(self, function: str, phase: Phase) -> Iterator[None]:
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
        """Write to disk how long it took, for the next time, if it was finished."""
        if self._state == "ended" and self.seconds >= _WORTH_KEEPING and not cache.unusable_reason():
            cache.write(_time_key(self._key), f"{self.seconds:.3f}".encode())


_work: ContextVar[_Work | None] = ContextVar("work", default=None)


@contextmanager
def _in_work(work: _Work) -> Iterator[_Work]:
    token = _work.set(work)
    try:
        yield work
    finally:
        _work.reset(token)
        work.keep_time()


@contextmanager
def code_of(what: str) -> Iterator[None]:
    """Context that names the work for which code is made, "the simulation of 'ets7'"; the outermost name is used."""
    if _work.get() is not None:
        yield
        return
    with _in_work(_Work(what, what)):
        yield


@contextmanager
def making(function: str, phase: Phase) -> Iterator[None]:
    """Context that reports a phase of making a function's code; code made inside it is part of that phase."""
    with ExitStack() as stack:
        work = _work.get() or stack.enter_context(_in_work(_Work(function, f"{function}: {phase}")))
        if not work.is_making:
            stack.enter_context(work.phase(function, phase))
        yield


@contextmanager
def without_reports() -> Iterator[None]:
    """Context without reports, for threads that make parts of code that is reported already."""
    work = _Work("", "")
    work.is_making = True
    with _in_work(work):
        yield


def _time_key(key: str) -> str:
    """Name of the cache entry of a time; without the engine's version, because the work stays the same."""
    return hashlib.sha256(f"time of making\0{key}".encode()).hexdigest()


def _time_kept(key: str) -> float | None:
    """Time that was kept [s]; None where the entry is missing, damaged or no time."""
    content = None if cache.unusable_reason() else cache.read(_time_key(key))
    try:
        seconds = float(content or b"")
    except ValueError:
        return None
    return seconds if 0.0 <= seconds < float("inf") else None


if hasattr(os, "register_at_fork"):  # the work of a forked process is not shown
    os.register_at_fork(after_in_child=_listening.clear)
