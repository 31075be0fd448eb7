"""Ctrl-C is heard even if the exception is dropped on its way."""

import contextlib
import os
import signal
import threading

import pytest

from freefloat.sim.interruption import heard_interrupts


def test_a_dropped_interrupt_is_raised_again_when_asked():
    with heard_interrupts() as signals:
        signals.obey()
        with contextlib.suppress(KeyboardInterrupt):  # as a library's callback would
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signals.obey()


def test_the_handler_of_before_is_back_afterwards_and_other_threads_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    with heard_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
    found = []

    def elsewhere() -> None:
        with heard_interrupts() as signals:
            signals.obey()
            found.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [True]
