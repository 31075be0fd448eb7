"""The line that says which code is being made: on a terminal one that is kept up to date, in a log now and then one."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from freefloat.engine import Making, is_making_heard, on_making

_SHORT = 0.5  # [s] of making that a terminal says nothing of
_SHORT_IN_LOGS = 2.0  # [s] the same of a log or a pipe
_INTERVAL = 0.2  # [s] between two refreshments
_CUT = "..."  # in place of the end of a name
_BACK, _ERASE = "\r", "\x1b[K"
clock: Callable[[], float] = time.monotonic


@runtime_checkable
class Stream(Protocol):
    """What lines are written to: standard error, or what somebody has put in its place."""

    def write(self, text: str, /) -> Any:
        """Take some text."""
        ...

    def flush(self) -> Any:
        """Show it now."""
        ...


class LineOfMaking:
    """Takes reports of the engine, and has the present words whenever they are asked for, in any thread."""

    def __init__(self) -> None:
        self._last: tuple[Making, float] | None = None

    def take_report(self, event: Making) -> None:
        """Take a report of the engine."""
        self._last = event, clock()

    @property
    def seconds(self) -> float:
        """How long the code that is being made at present has taken so far; nothing if none is."""
        if self._last is None or self._last[0].state != "begun":
            return 0.0
        event, heard = self._last
        return event.seconds + clock() - heard

    def text(self, short: float | None = None, width: int | None = None) -> str:
        """The line, in so many columns; empty if no code is being made, or not for long."""
        seconds, last = self.seconds, self._last
        if last is None or seconds <= (_SHORT if short is None else short):
            return ""
        return last[0].sentence(seconds) if width is None else _in_columns(last[0], seconds, width)


def _in_columns(event: Making, seconds: float, width: int) -> str:
    """The sentence with a shorter name, so that the seconds stay; without the name where there is no room for it."""
    sentence = event.sentence(seconds)
    excess = len(sentence) - width
    if excess <= 0:
        return sentence
    kept = len(event.what) - excess - len(_CUT)
    if kept > 0:
        return replace(event, what=event.what[:kept] + _CUT).sentence(seconds)
    return f"{event.phase}, {seconds:.1f} s"[: max(0, width)]


@runtime_checkable
class Sign(Protocol):
    """Shows what the engine reports."""

    def take_report(self, event: Making) -> None:
        """Take a report of the engine."""
        ...

    def refresh(self) -> None:
        """Bring what is shown up to date."""
        ...


class TerminalSign:
    """One line of a terminal: kept up to date while code is made, and gone when it is made."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._line = stream, LineOfMaking()
        self._shown = False

    def take_report(self, event: Making) -> None:
        """Take a report of the engine."""
        self._line.take_report(event)

    def refresh(self) -> None:
        """Write the line again, or take it away."""
        width = shutil.get_terminal_size().columns - 1  # one that wraps could not be taken away
        text = self._line.text(width=width)
        if text or self._shown:
            _write(self._stream, f"{_BACK}{text}{_ERASE}")
        self._shown = bool(text)


class LogSign:
    """Lines of a log or a pipe: one when making has taken two seconds, and again after twice as long each."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._line = stream, LineOfMaking()
        self._due = _SHORT_IN_LOGS

    def take_report(self, event: Making) -> None:
        """Take a report of the engine; code of something else is waited for anew."""
        if event.state == "begun" and event.seconds == 0.0:
            self._due = _SHORT_IN_LOGS
        self._line.take_report(event)

    def refresh(self) -> None:
        """Write a line if one is due."""
        if text := self._line.text(self._due):
            self._due *= 2.0
            _write(self._stream, f"{text}\n")


def _write(stream: Stream, text: str) -> None:
    """Show some text, if the stream is there still: nobody's work ends because it cannot be shown."""
    with suppress(OSError, ValueError):  # a pipe without a reader, a closed file
        stream.write(text)
        stream.flush()


class Ticker:
    """Refreshes a sign again and again, by a thread that lives while code is made and no longer."""

    def __init__(self, sign: Sign) -> None:
        self._sign = sign
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def take_report(self, event: Making) -> None:
        """Take a report of the engine."""
        self._sign.take_report(event)
        self.stop()
        if event.state == "begun":
            self._ended.clear()
            self._thread = threading.Thread(target=self._tick, name="sign of life", daemon=True)
            self._thread.start()
        else:
            self._sign.refresh()

    def _tick(self) -> None:
        while not self._ended.wait(_INTERVAL):
            self._sign.refresh()

    def stop(self) -> None:
        """Refresh it no more."""
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None


@contextmanager
def showing(sign: Sign) -> Iterator[None]:
    """In this block a sign shows which code is made."""
    ticker = Ticker(sign)
    try:
        with on_making(ticker.take_report):
            yield
    finally:
        ticker.stop()


@contextmanager
def making_shown(wanted: bool) -> Iterator[None]:
    """Show on the terminal which code is made, where nobody else does and somebody sees it."""
    ours = multiprocessing.parent_process() is None and threading.current_thread() is threading.main_thread()
    if not (wanted and ours and is_terminal(sys.stderr)) or is_making_heard():
        yield
        return
    with showing(TerminalSign(sys.stderr)):
        yield


def is_terminal(stream: Stream | None) -> bool:
    """Whether a line can be shown on a stream and taken away again."""
    asked = getattr(stream, "isatty", None)
    with suppress(ValueError):  # a closed file
        return asked is not None and asked() and os.environ.get("TERM") != "dumb"
    return False
