"""Ctrl-C and requests to end (SIGTERM) during a run: the results so far are kept.

While nothing is computed yet, a signal is obeyed at once. From then on it is noted, and obeyed where the work can stop
without losing anything: between two blocks of steps, after a run is on disk. SIGTERM is treated like Ctrl-C where
the program handles it, as the command line does; in your own program:
`signal.signal(signal.SIGTERM, signal.default_int_handler)`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from freefloat.values.signal_handlers import signal_handlers

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 3  # signals, at which also held ones are obeyed at once


class Interruptions:
    """Signals that arrived during a piece of work, and whether they are obeyed at once."""

    def __init__(self) -> None:
        self._asked = 0
        self._held = False

    def note_signal(self, number: int, frame: Any, before: Callable[[int, Any], Any]) -> None:
        """Count a signal, and obey it unless signals are held; from the third on signals are obeyed in any case."""
        self._asked += 1
        if not self._held or self._asked >= _PATIENCE:
            before(number, frame)

    @property
    def pending(self) -> bool:
        """Whether a signal came that has not been obeyed yet."""
        return self._asked > 0

    def obey(self) -> None:
        """Raise KeyboardInterrupt if a signal came and was not obeyed: it was held, or lost in a library's callback."""
        if self._asked:
            self._asked = 0
            raise KeyboardInterrupt

    def hold_signals(self) -> None:
        """From now on only count signals, because there are results that must not be lost."""
        self._held = True

    def release_signals(self) -> None:
        """Obey signals at once again, beginning with one that was held."""
        self._held = False
        self.obey()


_present: list[Interruptions] = []  # of the main thread, to which signals belong


@contextmanager
def catch_interrupts() -> Iterator[Interruptions]:
    """Within this context signals are counted and obeyed; a context inside another one shares its `Interruptions`."""
    if threading.current_thread() is not threading.main_thread():
        yield Interruptions()
        return
    if _present:
        yield _present[-1]
        return
    # A program that ignores a signal, or ends at once by default, keeps doing so.
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    handlers = {number: before for number, before in handlers.items() if callable(before)}
    heard = Interruptions()
    with signal_handlers({code: partial(heard.note_signal, before=before) for code, before in handlers.items()}):
        _present.append(heard)
        try:
            yield heard
        finally:
            _present.remove(heard)
