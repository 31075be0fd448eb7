"""Handlers of signals are installed within a block only, and in the main thread only."""

import os
import signal
import threading

import pytest

from freefloat.values.signal_handlers import signal_handlers


def test_a_handler_is_called_within_the_block_and_the_previous_one_is_back_afterwards():
    before, received = signal.getsignal(signal.SIGTERM), []
    with signal_handlers({signal.SIGTERM: lambda number, frame: received.append(number)}):
        os.kill(os.getpid(), signal.SIGTERM)
    assert received == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_previous_handler_is_back_after_an_error():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), signal_handlers({signal.SIGTERM: signal.default_int_handler}):
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_threads_change_no_handler():
    before, found = signal.getsignal(signal.SIGTERM), []

    def elsewhere() -> None:
        with signal_handlers({signal.SIGTERM: signal.default_int_handler}):
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [before]
