"""Ctrl-C is heard even if the exception is dropped on its way."""

import contextlib
import importlib
import os
import signal
import threading

import pytest

import freefloat as ff
from freefloat.sim.interruption import catch_interrupts

simulation = importlib.import_module("freefloat.sim.run_driver")


def test_a_dropped_interrupt_is_raised_again_when_asked():
    with catch_interrupts() as signals:
        signals.obey()
        with contextlib.suppress(KeyboardInterrupt):  # as a library's callback would
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signals.obey()


def test_the_handler_of_before_is_back_afterwards_and_other_threads_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    with catch_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
    found = []

    def elsewhere() -> None:
        with catch_interrupts() as signals:
            signals.obey()
            found.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [True]


def test_held_signals_wait_until_they_may_be_obeyed():
    with catch_interrupts() as signals:
        signals.hold_signals()
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signals.release_signals()
        signals.release_signals()  # once


def test_who_asks_three_times_is_obeyed_at_once():
    with catch_interrupts() as signals:
        signals.hold_signals()
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_work_inside_other_work_shares_its_ear():
    with catch_interrupts() as outer:
        with catch_interrupts() as inner:
            inner.hold_signals()
        os.kill(os.getpid(), signal.SIGINT)  # still held
        assert inner is outer
        with pytest.raises(KeyboardInterrupt):
            outer.obey()


def test_sigterm_is_heard_only_where_somebody_handles_it():
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with catch_interrupts():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with catch_interrupts() as signals:
            signals.hold_signals()
            os.kill(os.getpid(), signal.SIGTERM)
            with pytest.raises(KeyboardInterrupt):
                signals.obey()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.mark.parametrize("when", ["first block", "audit"])
def test_an_interrupted_run_is_in_the_exception(when, monkeypatch):
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
    if when == "audit":
        original = simulation.audit
        monkeypatch.setattr(
            simulation, "audit", lambda *words: (os.kill(os.getpid(), signal.SIGINT), original(*words))[1]
        )
    progress = None if when == "audit" else lambda done, total: os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(ff.RunFailed) as failed:
        ff.simulate(hub, duration=20.0, progress=progress)
    assert failed.value.interrupted
    assert failed.value.run.interrupted == (when == "first block")
    assert failed.value.run.completed == (when == "audit")
