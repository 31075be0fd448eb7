"""What the engine reports while it makes code; by a clock of the tests' own."""

import logging
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.runtime import cache, lookup, making

WHAT = "the simulation of 'probe'"


class Clock:
    """Seconds that pass when the traced function says so."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(making, "clock", made)
    return made


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lookup, "in_memory", lambda name: None)  # as in a process that starts
    cache._warn.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def events(clock, folder):
    heard = []
    with engine.on_making(heard.append):
        yield heard


def make_in(clock, seconds, factor=3.0, what=WHAT):
    """Make code of a function that takes so long to trace."""

    def slow(x):
        clock.now += seconds
        return factor * x

    with engine.code_of(what), engine.traced_anew():
        engine.compile(slow, 1.0)(2.0)


def told(events):
    return [(event.phase, event.state) for event in events]


def test_phases_are_reported_with_their_time(events, clock):
    make_in(clock, 2.0)
    both = [("tracing", "begun"), ("tracing", "ended"), ("compiling", "begun"), ("compiling", "ended")]
    assert told(events) == both
    assert [event.seconds for event in events] == [0.0, 2.0, 2.0, 2.0]
    assert {event.what for event in events} == {WHAT}
    assert events[0].function.endswith("make_in.<locals>.slow")
    assert events[0].last_time is None


def test_found_code_is_not_reported(events):
    engine.compile(lambda x: x * 11, 1.0)(1.0)
    assert events
    events.clear()
    assert engine.compile(lambda x: x * 11, 1.0)(2.0) == 22.0
    assert not events


def test_without_a_name_it_is_the_functions(events):
    engine.compile(jnp.sin, 1.0)(1.0)
    assert {event.what for event in events} == {events[0].function}
    assert "sin" in events[0].what


def test_graphs_and_odd_callables_have_a_name_too(events):
    class Scaled:
        __slots__ = ("by",)

        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return self.by * x

    engine.compile(engine.trace(lambda x: x * 12, 1.0))(1.0)
    assert told(events) == [("compiling", "begun"), ("compiling", "ended")]
    assert events[0].what == "a graph"
    assert engine.compile(Scaled(2.0), 1.0, cache=False)(2.0) == 4.0
    assert events[-1].what.endswith("Scaled")


def test_the_end_is_reported_also_when_tracing_raises(events, clock):
    def faulty(x):
        clock.now += 5.0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), engine.code_of(WHAT):
        engine.compile(faulty, 1.0)
    assert told(events) == [("tracing", "begun"), ("tracing", "failed")]
    assert making._time_kept(WHAT) is None  # of half a piece of work
    make_in(clock, 1.0)
    assert events[-1].state == "ended"


def test_what_is_made_inside_is_a_part_of_it(events, clock):
    def outer(x):
        clock.now += 1.0
        return x * float(engine.compile(lambda y: y * 3, 1.0)(2.0))

    engine.compile(outer, 1.0)(1.0)
    assert told(events)[:2] == [("tracing", "begun"), ("tracing", "ended")]
    assert {event.function for event in events} == {events[0].function}


def test_the_outermost_name_counts(events, clock):
    with engine.code_of("the campaign"):
        make_in(clock, 1.0)
    assert {event.what for event in events} == {"the campaign"}


def test_nobody_is_called_after_stop(clock, folder):
    heard = []
    listening = engine.on_making(heard.append)
    assert engine.is_making_heard()
    listening.stop()
    listening.stop()
    assert not engine.is_making_heard()
    make_in(clock, 1.0)
    assert not heard


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore")
def test_a_forked_process_calls_nobody(events):
    child = os.fork()
    if child == 0:
        os._exit(1 if engine.is_making_heard() else 0)
    assert os.waitpid(child, 0)[1] == 0
    assert engine.is_making_heard()


def test_the_background_is_not_reported(events, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_QUICK_CODE", "")
    from freefloat.engine.runtime import code

    monkeypatch.setattr(code, "PAYS", 0)
    program = engine.compile(lambda x: x * 13 + 1, 1.0)
    assert program(1.0) == 14.0
    job = cast(Any, program)._scalar._job  # full-strength code is on its way
    events.clear()
    assert job.result() is not None
    assert program(2.0) == 27.0
    assert cast(Any, program)._scalar.is_final
    assert not events


def test_waiting_for_full_strength_is_reported(events, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_QUICK_CODE", "")
    program = engine.compile(lambda x: x * 14 + 1, 1.0)
    program(1.0)
    events.clear()
    cast(Any, program).bind()
    assert told(events) == [("compiling", "begun"), ("compiling", "ended")]


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_kernels_are_reported_once_though_threads_make_them(events):
    program: Any = engine.compile(lambda x: x * 15 + 1, 1.0, target="gpu", emulate=True)
    events.clear()
    assert program(1.0) == 16.0
    assert told(events) == [("compiling", "begun"), ("compiling", "ended")]
    assert {event.function for event in events} == {program.title}
    events.clear()
    shapes = [program.shapes[0], replace(program.shapes[0], block=2 * program.shapes[0].block)]
    program._builder.fastest("evaluate", shapes, lambda launch: 1.0)
    assert told(events) == [("compiling", "begun"), ("compiling", "ended")]


def test_log(clock, folder, caplog):
    with caplog.at_level(logging.INFO, logger="freefloat"):
        make_in(clock, 2.0)
        make_in(clock, 3.0, factor=4.0)
    lines = [record.getMessage() for record in caplog.records if record.name == "freefloat"]
    assert lines[:2] == [
        "making the code of the simulation of 'probe': tracing",
        "making the code of the simulation of 'probe': tracing has ended after 2.0 s",
    ]
    assert lines[-1] == (
        "making the code of the simulation of 'probe': compiling (last time 2.0 s) has ended after 3.0 s"
    )


# ---- who is called


@pytest.mark.parametrize("state", ["begun", "ended"])
def test_code_that_a_callback_makes_is_not_reported(clock, folder, state):
    heard = []

    def nested(event):
        heard.append(event.state)
        if event.state == state:
            engine.compile(lambda x: x * 16 + len(heard), 1.0)(1.0)

    with engine.on_making(nested):
        engine.compile(lambda x: x * 17, 1.0)(1.0)
    assert heard == ["begun", "ended", "begun", "ended"]


def test_the_same_function_registered_twice_is_called_until_both_have_stopped(clock, folder):
    heard = []
    one, other = engine.on_making(heard.append), engine.on_making(heard.append)
    one.stop()
    one.stop()
    engine.compile(lambda x: x * 18, 1.0)
    assert told(heard) == [("tracing", "begun"), ("tracing", "ended")]
    other.stop()
    assert not engine.is_making_heard()


def test_a_callback_must_be_a_function():
    with pytest.raises(ValueError, match="needs a function"):
        engine.on_making(cast(Any, None))
    assert not engine.is_making_heard()


# ---- how long it took last time


def test_last_time(events, clock):
    make_in(clock, 5.25)
    make_in(clock, 4.0, factor=4.0)
    assert {event.last_time for event in events[:4]} == {None}
    assert {event.last_time for event in events[4:]} == {5.25}
    make_in(clock, 0.1, factor=5.0)  # a small part of it: nobody would wait for that
    make_in(clock, 4.0, factor=6.0, what="something else")
    assert making._time_kept(WHAT) == 4.0
    assert events[-1].last_time is None


def test_last_time_is_told_in_another_process_and_by_another_version(clock, folder, monkeypatch):
    monkeypatch.setattr(cache, "engine_version", lambda: "another version")
    make_in(clock, 5.25)
    program = (
        "import jax; jax.config.update('jax_enable_x64', True)\n"
        "from freefloat import engine\n"
        "engine.on_making(lambda event: print(event.last_time))\n"
        f'with engine.code_of("{WHAT}"):\n    engine.compile(lambda x: x * 21, 1.0)(1.0)\n'
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5.25"] * 4


@pytest.mark.parametrize("damage", [lambda d: d[:-1], lambda d: b"", lambda d: b"junk"])
def test_damaged_time_is_no_known_time(events, clock, folder, damage):
    make_in(clock, 5.0)
    entry = folder / f"{making._time_key(WHAT)}{cache.SUFFIX}"
    entry.write_bytes(damage(entry.read_bytes()))
    with pytest.warns(cache.CacheWarning, match="damaged"):
        make_in(clock, 6.0, factor=4.0)
    assert events[-1].last_time is None
    assert making._time_kept(WHAT) == 6.0


@pytest.mark.parametrize("content", [b"", b"soon", b"nan", b"-1", b"inf", b"\xff"])
def test_signed_nonsense_is_no_known_time(folder, content):
    cache.write(making._time_key(WHAT), content)
    assert making._time_kept(WHAT) is None


@pytest.mark.filterwarnings("error")
def test_no_cache_no_time_and_no_word_of_it(clock, tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "open"))
    heard = []
    with engine.on_making(heard.append), engine.code_of(WHAT):
        engine.compile(lambda x: x * 3, np.ones(2), cache=False)(np.ones(2))
        clock.now += 5.0
    assert {event.last_time for event in heard} == {None}
    assert not list((tmp_path / "open").iterdir())
