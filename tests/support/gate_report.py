"""What is said after the tests: how busy each process was, which tests took longest, what was skipped and why.

In the gate (`FREEFLOAT_GATE` is set) everything optional is installed, so that a test that is skipped is a fault.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

SLOWEST = 20
# Reasons for which the gate may skip a test: Debian could not be asked for a browser.
PERMITTED = ("no Chromium on this machine",)

_busy: Counter[str] = Counter()  # by process [s]
_took: Counter[str] = Counter()  # by test [s]
_by_file: Counter[str] = Counter()  # [s]
_skipped: Counter[str] = Counter()  # by reason


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count one phase of a test; with several processes this is called in the one that hands out the tests."""
    process = getattr(getattr(report, "node", None), "gateway", None)
    _busy[getattr(process, "id", "one process")] += report.duration
    _took[report.nodeid] += report.duration
    _by_file[report.nodeid.partition("::")[0]] += report.duration
    if not hasattr(report, "wasxfail"):
        _count_skip(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Count a file that is skipped as a whole."""
    _count_skip(report)


def _count_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _skipped[reason.removeprefix("Skipped: ")] += 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Write the report."""
    if not _took or sum(_took.values()) < 60.0:
        return
    write, line = terminalreporter.section, terminalreporter.write_line
    write(f"slowest {SLOWEST} tests, with what they set up")
    for name, seconds in _took.most_common(SLOWEST):
        line(f"{seconds:7.1f} s  {name}")
    write("slowest files")
    for name, seconds in _by_file.most_common(5):
        line(f"{seconds:7.1f} s  {name}")
    longest = max(_busy.values())
    write("balance: how long each process ran tests")
    for name, seconds in sorted(_busy.items()):
        line(f"{seconds:7.1f} s  {name}  {100.0 * seconds / longest:.0f} % of the busiest")
    for reason, times in _skipped.items():
        line(f"skipped {times} times: {reason}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In the gate, a test that is skipped for another reason than the permitted ones fails the session."""
    unpermitted = [reason for reason in _skipped if not reason.startswith(PERMITTED)]
    if os.environ.get("FREEFLOAT_GATE") and unpermitted and session.exitstatus == pytest.ExitCode.OK:
        print(f"\nThe gate skips no test, but some were: {'; '.join(unpermitted)}")  # noqa: T201
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
