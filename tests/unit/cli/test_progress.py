"""What commands show on standard error while they work: the sign of code that is made, and the bar."""

import io
import os
import sys

import pytest

from freefloat.cli import bars, campaign, main, progress
from freefloat.engine import Making, is_making_heard
from freefloat.engine.runtime import making
from freefloat.sim import compiling_line


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def seconds(monkeypatch):
    """The clock of the signs, which stands still."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    now = [0.0]
    monkeypatch.setattr(compiling_line, "clock", lambda: now[0])
    return now


def tell(state, so_far=0.0):
    for listening in tuple(making._listening):
        listening.callback(Making("the simulation of 'ets7-gjm'", "f", "tracing", state, so_far, 5.3))


def test_bar_gives_way_to_the_line(monkeypatch, seconds):
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    made = []
    start = bars.Bar.start
    monkeypatch.setattr(bars.Bar, "start", lambda bar: (made.append(bar), start(bar)))
    with progress.progress_bar("ets7-gjm nominal", quiet=False) as report:
        bar = made[-1]
        tell("begun")
        seconds[0] += 2.0
        bar.refresh()
        assert "making the code of the simulation of 'ets7-gjm': tracing, 2.0 s (last time 5.3 s)" in stream.getvalue()
        tell("ended", 2.0)
        before = len(stream.getvalue())
        assert report is not None
        report(1.0, 2.0)
        bar.refresh()
        after = stream.getvalue()[before:]
        assert "50 %" in after
        assert "making" not in after
    assert not is_making_heard()


def test_lines_in_a_pipe(monkeypatch, seconds):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    signs, showing = [], compiling_line.show_compilation
    monkeypatch.setattr(compiling_line, "show_compilation", lambda sign: (signs.append(sign), showing(sign))[1])
    with progress.progress_bar("ets7-gjm nominal", quiet=False) as report:
        assert report is None
        sign = signs[-1]
        tell("begun")
        sign.refresh()
        seconds[0] += 2.5
        sign.refresh()
        tell("ended", 2.5)
    assert stream.getvalue() == "making the code of the simulation of 'ets7-gjm': tracing, 2.5 s (last time 5.3 s)\n"


def test_a_dumb_terminal_shows_lines_as_a_log_does(monkeypatch, seconds):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stderr", Terminal())
    signs, showing = [], compiling_line.show_compilation
    monkeypatch.setattr(compiling_line, "show_compilation", lambda sign: (signs.append(sign), showing(sign))[1])
    with progress.progress_bar("ets7-gjm nominal", quiet=False) as report:
        assert report is None
    with campaign._progress(quiet=False) as report:
        assert report is None
    assert [type(sign) for sign in signs] == [compiling_line.LogDisplay] * 2


@pytest.mark.parametrize("columns", [60, 80])
def test_the_seconds_stay_in_a_narrow_terminal(monkeypatch, seconds, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    with bars.bar_of() as bar:
        tell("begun")
        seconds[0] += 12.0
        bar.refresh()
    assert "tracing, 12.0 s (last time 5.3 s)" in stream.getvalue()


def test_closed_standard_error(monkeypatch, own_cache, tmp_path):
    """`2>&-`: Python has no stream then."""
    monkeypatch.setattr(sys, "stderr", None)
    with progress.progress_bar("ets7-gjm nominal", quiet=False) as report:
        assert report is None
        tell("begun")
        tell("ended", 9.0)
    words = ["freefloat", "run", "goddard-symmetric", "--out", str(tmp_path / "out"), "--set", "duration=1"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert sys.stderr.name == os.devnull
    sys.stderr.close()


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_quiet_is_quiet(monkeypatch, seconds, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.progress_bar("ets7-gjm nominal", quiet=True) as report:
        assert report is None
        assert is_making_heard()  # so that nobody else shows it
        tell("begun")
        seconds[0] += 9.0
        tell("ended", 9.0)
    assert not stream.getvalue()
    assert not is_making_heard()


@pytest.mark.parametrize("word", ["", "--quiet", "--json"])
def test_run_in_a_pipe(own_cache, tmp_path, monkeypatch, capsys, word):
    monkeypatch.setattr(compiling_line, "_SHORT_IN_LOGS", 1e-9)
    monkeypatch.setattr(compiling_line, "_INTERVAL", 1e-3)
    words = ["freefloat", "run", "goddard-symmetric", "--out", str(tmp_path / "out"), "--set", "duration=1"]
    monkeypatch.setattr(sys, "argv", [*words, *filter(None, [word])])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    printed = capsys.readouterr()
    assert "making the code" not in printed.out
    shown = "making the code of the simulation of 'goddard-symmetric': tracing, " in printed.err
    assert shown == (not word)
