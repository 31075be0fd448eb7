"""The line that says which code is being made, by a clock of the tests' own."""

import contextlib
import io
import os
import subprocess
import sys
import threading

import pytest

from freefloat.engine import Making, is_making_heard, on_making
from freefloat.engine.runtime import making
from freefloat.engine.runtime.making import Phase
from freefloat.sim import compiling_line
from freefloat.sim.compiling_line import CompilationLine, LogDisplay, TerminalDisplay, Ticker, show_on_terminal

WHAT = "the simulation of 'ets7-capture'"


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(compiling_line, "clock", made)
    return made


class Terminal(io.StringIO):
    def isatty(self):
        return True


CLOSED = io.StringIO()
CLOSED.close()


def report(state, seconds=0.0, phase: Phase = "tracing", last_time: float | None = 5.3, what=WHAT):
    return Making(what, "f", phase, state, seconds, last_time)


def looks(sign, clock, *steps):
    """Let a sign look after so many seconds each."""
    for seconds in steps:
        clock.now += seconds
        sign.refresh()


def test_line(clock):
    line = CompilationLine()
    assert not line.text()
    line.take_report(report("begun", seconds=1.0))
    clock.now += 1.1
    assert line.text() == "making the code of the simulation of 'ets7-capture': tracing, 2.1 s (last time 5.3 s)"
    line.take_report(report("begun", seconds=2.1, phase="compiling", last_time=None))
    assert line.text() == "making the code of the simulation of 'ets7-capture': compiling, 2.1 s"
    line.take_report(report("ended", seconds=2.4))
    assert not line.text()
    assert line.seconds == 0.0


def test_terminal_line_is_kept_up_to_date_and_taken_away(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    sign = TerminalDisplay(stream)
    sign.take_report(report("begun"))
    looks(sign, clock, 0.2, 1.0, 1.0)
    sign.take_report(report("ended", 2.3))
    looks(sign, clock, 0.0, 1.0)
    shown = f"making the code of {WHAT}: tracing, %s s (last time 5.3 s)"
    assert stream.getvalue() == f"\r{shown % 1.2}\x1b[K\r{shown % 2.2}\x1b[K\r\x1b[K"


def test_terminal_line_does_not_wrap(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    sign = TerminalDisplay(stream)
    sign.take_report(report("begun"))
    looks(sign, clock, 1.0)
    assert stream.getvalue() == "\rtracing, 1.0 s\x1b[K"


@pytest.mark.parametrize("columns", range(60, 80))
def test_a_long_name_is_cut_and_the_seconds_stay(clock, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    sign = TerminalDisplay(stream)
    sign.take_report(report("begun", what=f"the simulation of '{'x' * 100}'"))
    looks(sign, clock, 12.0)
    line = stream.getvalue().removeprefix("\r").removesuffix("\x1b[K")
    assert len(line) == columns - 1
    assert line.startswith("making the code of t")
    assert line.endswith("...: tracing, 12.0 s (last time 5.3 s)")


@pytest.mark.parametrize("fault", [ValueError("I/O operation on closed file"), BrokenPipeError("gone")])
@pytest.mark.parametrize("kind", [TerminalDisplay, LogDisplay])
def test_a_stream_that_is_closed_on_the_way_ends_nobodys_work(clock, kind, fault):
    class Gone(Terminal):
        def write(self, text):
            raise fault

    sign = kind(Gone())
    sign.take_report(report("begun"))
    looks(sign, clock, 3.0, 3.0)


def test_lines_of_a_log_come_after_two_seconds_and_then_seldom(clock):
    stream = io.StringIO()
    sign = LogDisplay(stream)
    sign.take_report(report("begun"))
    looks(sign, clock, *[0.25] * 40)  # 10 s
    sign.take_report(report("ended", 10.0))
    looks(sign, clock, 1.0)
    times = [line.split("tracing, ")[1] for line in stream.getvalue().splitlines()]
    assert times == [f"{seconds} s (last time 5.3 s)" for seconds in (2.2, 4.2, 8.2)]
    assert "\r" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_phases_of_one_work_are_waited_for_together(clock):
    stream = io.StringIO()
    sign = LogDisplay(stream)
    for number in range(3):
        sign.take_report(report("begun", 0.9 * number))
        looks(sign, clock, 0.5, 0.4)
        sign.take_report(report("ended", 0.9 * (number + 1)))
    assert len(stream.getvalue().splitlines()) == 1
    sign.take_report(report("begun", what="something else"))  # begins anew
    looks(sign, clock, 1.9)
    assert len(stream.getvalue().splitlines()) == 1
    looks(sign, clock, 0.2)
    assert "something else" in stream.getvalue().splitlines()[1]


@pytest.mark.parametrize(("kind", "seconds"), [(TerminalDisplay, 0.4), (LogDisplay, 1.9)])
def test_short_work_says_nothing(clock, kind, seconds):
    stream = Terminal()
    sign = kind(stream)
    for state in ("begun", "ended", "begun", "failed"):
        sign.take_report(report(state))
        looks(sign, clock, seconds)
    assert not stream.getvalue()


class _Looked:
    def __init__(self):
        self.looked = threading.Event()
        self.heard = []

    def take_report(self, event):
        self.heard.append(event.state)

    def refresh(self):
        self.looked.set()


@pytest.mark.parametrize("end", ["ended", "failed"])
def test_ticker_looks_while_code_is_made_and_no_longer(end, monkeypatch):
    monkeypatch.setattr(compiling_line, "_INTERVAL", 1e-3)
    sign, before = _Looked(), threading.active_count()
    ticker = Ticker(sign)
    ticker.take_report(report("begun"))
    assert sign.looked.wait(60.0)
    sign.looked.clear()
    ticker.take_report(report(end))
    assert sign.looked.is_set()  # once more, to take the line away
    assert threading.active_count() == before
    assert sign.heard == ["begun", end]


def test_shown_on_a_terminal_if_nobody_else_shows_it(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with show_on_terminal(True):
        assert is_making_heard()
        with show_on_terminal(True):  # a simulation inside of another work
            assert len(making._listening) == 1
    assert not is_making_heard()
    with on_making(lambda event: None), show_on_terminal(True):
        assert len(making._listening) == 1


@pytest.mark.parametrize(
    ("wanted", "stream", "term"),
    [
        (False, Terminal(), "xterm"),
        (True, io.StringIO(), "xterm"),
        (True, Terminal(), "dumb"),
        (True, None, "xterm"),
        (True, CLOSED, "xterm"),
    ],
)
def test_not_shown_where_nobody_sees_it(monkeypatch, wanted, stream, term):
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys, "stderr", stream)
    with show_on_terminal(wanted):
        assert not is_making_heard()


def test_not_shown_by_other_threads(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    heard = []

    def look():
        with show_on_terminal(True):
            heard.append(is_making_heard())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert heard == [False]


SIMULATION = """
import freefloat as ff
from freefloat.sim import compiling_line

compiling_line._SHORT, compiling_line._INTERVAL = 0.0, 1e-3
craft = ff.Spacecraft.from_base("probe", mass=10.0, inertia=(1.0, 2.0, 3.0))
run = ff.simulate(craft, duration=1.0, dt=0.1, accuracy=False)
print(run.completed)
"""


def _seen_on_a_terminal(program, folder):
    """What a process writes to standard error where that is a terminal, and to standard output."""
    import pty

    ours, theirs = pty.openpty()
    given = os.environ | {"FREEFLOAT_CACHE": str(folder), "TERM": "xterm"}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=theirs, env=given) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # so ends a terminal whose other side is closed
            while part := os.read(ours, 4096):
                seen += part
        os.close(ours)
        assert process.stdout is not None
        printed = process.stdout.read()
    return seen.decode(), printed.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo terminals")
def test_simulate_on_a_terminal_and_its_second_process(tmp_path):
    first, printed = _seen_on_a_terminal(SIMULATION, tmp_path)
    assert "\rmaking the code of the simulation of 'probe': tracing" in first
    assert first.endswith("\r\x1b[K")
    assert "\n" not in first
    assert printed == "True\n"
    assert _seen_on_a_terminal(SIMULATION, tmp_path) == ("", "True\n")  # found code says nothing
