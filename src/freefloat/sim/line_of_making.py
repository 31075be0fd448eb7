"""The line that says which code is being made: on a terminal one that is kept up to date, in a log now and then one."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from freefloat.engine import Making, is_making_heard, on_making

_SHORT = 0.5  # [s] of making that a terminal says nothing of
_SHORT_IN_LOGS = 2.0  # [s] the same of a log or a pipe
_INTERVAL = 0.2  # [s] between two looks
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
    """Hears the engine, and has the present words whenever they are asked for, in any thread."""

    def __init__(self) -> None:
        self._last: tuple[Making, float] | None = None

    def hear(self, event: Making) -> None:
        """Take a report of the engine."""
        self._last = event, clock()

    @property
    def seconds(self) -> float:
        """How long the code that is being made at present has taken so far; nothing if none is."""
        if self._last is None or self._last[0].state != "begun":
            return 0.0
        event, heard = self._last
        return event.seconds + clock() - heard

    def text(self, short: float | None = None) -> str:
        """The line; empty if no code is being made, or not for long."""
        seconds, last = self.seconds, self._last
        is_long = seconds > (_SHORT if short is None else short)
        return last[0].sentence(seconds) if last is not None and is_long else ""


@runtime_checkable
class Sign(Protocol):
    """Shows what the engine reports."""

    def hear(self, event: Making) -> None:
        """Take a report of the engine."""
        ...

    def look(self) -> None:
        """Bring what is shown up to date."""
        ...


class TerminalSign:
    """One line of a terminal: kept up to date while code is made, and gone when it is made."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._line = stream, LineOfMaking()
        self._shown = False

    def hear(self, event: Making) -> None:
        """Take a report of the engine."""
        self._line.hear(event)

    def look(self) -> None:
        """Write the line again, or take it away."""
        text = self._line.text()
        if text or self._shown:
            width = shutil.get_terminal_size().columns - 1  # one that wraps could not be taken away
            self._stream.write(f"{_BACK}{text[:width]}{_ERASE}")
            self._stream.flush()
        self._shown = bool(text)


class LogSign:
    """Lines of a log or a pipe: one when making has taken two seconds, and again after twice as long each."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._line = stream, LineOfMaking()
        self._due = _SHORT_IN_LOGS

    def hear(self, event: Making) -> None:
        """Take a report of the engine; code of something else is waited for anew."""
        if event.state == "begun" and event.seconds == 0.0:
            self._due = _SHORT_IN_LOGS
        self._line.hear(event)

    def look(self) -> None:
        """Write a line if one is due."""
        if text := self._line.text(self._due):
            self._due *= 2.0
            self._stream.write(f"{text}\n")
            self._stream.flush()


class Ticker:
    """Lets a sign look again and again, by a thread that lives while code is made and no longer."""

    def __init__(self, sign: Sign) -> None:
        self._sign = sign
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def hear(self, event: Making) -> None:
        """Take a report of the engine."""
        self._sign.hear(event)
        self.stop()
        if event.state == "begun":
            self._ended.clear()
            self._thread = threading.Thread(target=self._tick, name="sign of life", daemon=True)
            self._thread.start()
        else:
            self._sign.look()

    def _tick(self) -> None:
        while not self._ended.wait(_INTERVAL):
            self._sign.look()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None


@contextmanager
def showing(sign: Sign) -> Iterator[None]:
    """In this block a sign shows which code is made."""
    ticker = Ticker(sign)
    try:
        with on_making(ticker.hear):
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
    return asked is not None and asked() and os.environ.get("TERM") != "dumb"
