"""Ctrl-C and requests to end (SIGTERM) during a run: what was computed is kept.

While nothing is computed yet, a signal is obeyed at once. From then on it is noted, and obeyed where the work can stop
without losing anything: between two blocks of steps, after a run is on disk. SIGTERM is treated like Ctrl-C where
somebody handles it, as the command line does; in a program of one's own:
`signal.signal(signal.SIGTERM, signal.default_int_handler)`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 3  # signals, at which also held ones are obeyed at once


class Interruptions:
    """What was asked of a piece of work from outside while it went on."""

    def __init__(self) -> None:
        self._asked = 0
        self._held = False

    def hear(self, number: int, frame: Any, before: Callable[[int, Any], Any]) -> None:
        """Note a signal, and obey it unless it is held; whoever asks again and again is obeyed too."""
        self._asked += 1
        if not self._held or self._asked >= _PATIENCE:
            before(number, frame)

    @property
    def asked(self) -> bool:
        """Whether a signal came that nobody has obeyed yet."""
        return self._asked > 0

    def obey(self) -> None:
        """Raise KeyboardInterrupt if a signal came and nobody noticed: held, or dropped in a library's callback."""
        if self._asked:
            self._asked = 0
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Something is there that must not be lost: from now on signals are noted only."""
        self._held = True

    def release(self) -> None:
        """Obey signals at once again, those first that were held."""
        self._held = False
        self.obey()


_present: list[Interruptions] = []  # of the main thread, to which signals belong


@contextmanager
def heard_interrupts() -> Iterator[Interruptions]:
    """Within it signals are heard; a piece of work inside another one shares its ear, and leaves it as it is."""
    if threading.current_thread() is not threading.main_thread():
        yield Interruptions()
        return
    if _present:
        yield _present[-1]
        return
    # Who ignores a signal, or dies of it, goes on doing so.
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    handlers = {number: before for number, before in handlers.items() if callable(before)}
    heard = Interruptions()
    _present.append(heard)
    try:
        for number, before in handlers.items():
            signal.signal(number, lambda n, frame, before=before: heard.hear(n, frame, before))
        yield heard
    finally:
        _present.remove(heard)
        for number, before in handlers.items():
            signal.signal(number, before)
