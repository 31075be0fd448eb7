"""Report of which code is being compiled: on a terminal one line that is kept up to date, in a log several lines."""

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

_SHORT = 0.5  # [s] of compilation that a terminal does not show
_SHORT_IN_LOGS = 2.0  # [s] the same of a log or a pipe
_INTERVAL = 0.2  # [s] between two refreshments
_CUT = "..."  # in place of the end of a name
_BACK, _ERASE = "\r", "\x1b[K"
clock: Callable[[], float] = time.monotonic


@runtime_checkable
class Stream(Protocol):
    """A text stream that lines are written to: standard error, or a replacement of it."""

    def write(self, text: str, /) -> Any:
        """Write the text."""
        ...

    def flush(self) -> Any:
        """Show everything that was written so far."""
        ...


class CompilationLine:
    """Keeps the latest report of the engine and formats it as a line of text on request, in any thread."""

    def __init__(self) -> None:
        self._last: tuple[Making, float] | None = None

    def take_report(self, event: Making) -> None:
        """Take a report of the engine."""
        self._last = event, clock()

    @property
    def seconds(self) -> float:
        """Time that the present compilation has taken so far [s]; zero if nothing is being compiled."""
        if self._last is None or self._last[0].state != "begun":
            return 0.0
        event, heard = self._last
        return event.seconds + clock() - heard

    def text(self, short: float | None = None, width: int | None = None) -> str:
        """The line, cut to `width` columns; empty if nothing is being compiled, or not yet for `short` seconds."""
        seconds, last = self.seconds, self._last
        if last is None or seconds <= (_SHORT if short is None else short):
            return ""
        return last[0].sentence(seconds) if width is None else _in_columns(last[0], seconds, width)


def _in_columns(event: Making, seconds: float, width: int) -> str:
    """The report cut to a width [columns]: its name is shortened or left out, so that the seconds stay."""
    sentence = event.sentence(seconds)
    excess = len(sentence) - width
    if excess <= 0:
        return sentence
    kept = len(event.what) - excess - len(_CUT)
    if kept > 0:
        return replace(event, what=event.what[:kept] + _CUT).sentence(seconds)
    return f"{event.phase}, {seconds:.1f} s"[: max(0, width)]


@runtime_checkable
class CompilationDisplay(Protocol):
    """A display of what the engine reports."""

    def take_report(self, event: Making) -> None:
        """Take a report of the engine."""
        ...

    def refresh(self) -> None:
        """Update what is shown."""
        ...


class TerminalDisplay:
    """One line of a terminal: kept up to date while code is compiled, and erased afterwards."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._line = stream, CompilationLine()
        self._shown = False

    def take_report(self, event: Making) -> None:
        """Take a report of the engine."""
        self._line.take_report(event)

    def refresh(self) -> None:
        """Write the line again, or erase it."""
        width = shutil.get_terminal_size().columns - 1  # one that wraps could not be taken away
        text = self._line.text(width=width)
        if text or self._shown:
            _write(self._stream, f"{_BACK}{text}{_ERASE}")
        self._shown = bool(text)


class LogDisplay:
    """Lines in a log or a pipe: the first after two seconds of compilation, each further one after twice the time."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._line = stream, CompilationLine()
        self._due = _SHORT_IN_LOGS

    def take_report(self, event: Making) -> None:
        """Take a report of the engine; for a new piece of code the two seconds begin again."""
        if event.state == "begun" and event.seconds == 0.0:
            self._due = _SHORT_IN_LOGS
        self._line.take_report(event)

    def refresh(self) -> None:
        """Write a line if one is due."""
        if text := self._line.text(self._due):
            self._due *= 2.0
            _write(self._stream, f"{text}\n")


def _write(stream: Stream, text: str) -> None:
    """Write text to a stream; a closed stream is ignored, because a run must not end for want of a display."""
    with suppress(OSError, ValueError):  # a pipe without a reader, a closed file
        stream.write(text)
        stream.flush()


class Ticker:
    """Refreshes a display at short intervals, by a thread that exists only while code is compiled."""

    def __init__(self, sign: CompilationDisplay) -> None:
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
        """Stop refreshing the display."""
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None


@contextmanager
def show_compilation(sign: CompilationDisplay) -> Iterator[None]:
    """Within this context a display shows which code is being compiled."""
    ticker = Ticker(sign)
    try:
        with on_making(ticker.take_report):
            yield
    finally:
        ticker.stop()


@contextmanager
def show_on_terminal(wanted: bool) -> Iterator[None]:
    """Show on the terminal which code is being compiled, if `wanted`, possible, and not shown elsewhere already."""
    ours = multiprocessing.parent_process() is None and threading.current_thread() is threading.main_thread()
    if not (wanted and ours and is_terminal(sys.stderr)) or is_making_heard():
        yield
        return
    with show_compilation(TerminalDisplay(sys.stderr)):
        yield


def is_terminal(stream: Stream | None) -> bool:
    """Whether a stream is a terminal on which a line can be shown and erased again."""
    isatty = getattr(stream, "isatty", None)
    with suppress(ValueError):  # a closed file
        return isatty is not None and isatty() and os.environ.get("TERM") != "dumb"
    return False
