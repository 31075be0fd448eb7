"""Handlers of signals such as Ctrl-C (SIGINT) and requests to end (SIGTERM) for the time of a block of code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Handler = Callable[[int, Any], Any]


@contextmanager
def signal_handlers(handlers: Mapping[int, Handler]) -> Iterator[None]:
    """Install handlers by signal number within the block, and the previous ones after it.

    Signals belong to the main thread: in any other thread nothing is installed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
