"""Ctrl-C during a run: heard even where Python drops the exception, as it does inside callbacks of other libraries."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def heard_interrupts() -> Iterator[Callable[[], None]]:
    """Within it, the function that it gives raises KeyboardInterrupt if Ctrl-C was pressed and nobody noticed."""
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None  # signals belong to the main thread, and to whoever ignores them
        return

    def hear(number: int, frame: Any) -> None:
        pressed.set()
        before(number, frame)

    def obey() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, hear)
    try:
        yield obey
    finally:
        signal.signal(signal.SIGINT, before)
