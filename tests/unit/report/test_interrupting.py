"""Ctrl-C during a run: what was recorded is kept and can be read, with its page."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from freefloat.sim import Run


def drain(terminal: int) -> None:
    """Read on, or the process would wait for room in its terminal."""
    with contextlib.suppress(OSError):  # the other end is gone
        while os.read(terminal, 4096):
            pass
    os.close(terminal)


def test_an_interrupted_run_can_be_read(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()  # a terminal, so that the progress bar shows when stepping has begun
    command = [sys.executable, "-m", "freefloat", "run", "ets7-gjm", "--out", str(tmp_path), "--set", "duration=2e6"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + 120.0
    while b" %" not in shown:
        assert time.monotonic() < deadline, shown
        shown += os.read(ours, 4096)
    threading.Thread(target=drain, args=(ours,), daemon=True).start()
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert b"page.html" in printed
    run = Run.load(tmp_path / "run.nc")
    assert run.status.startswith("interrupted after")
    assert run.data.sizes["time"] > 1
    assert (tmp_path / "page.html").exists()
