"""Full-strength code made by a process of its own while this one goes on with quick code.

Not by a thread: llvmlite holds one lock during each call of LLVM, so everything else that this process compiles or
loads would wait for it, and a process forked meanwhile would find that lock taken for ever.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

COMPILER = Path(__file__).parents[1] / "llvm" / "machine.py"

failures: list[str] = []  # why full-strength code could not be made in this process, for `doctor`
_running: list[Job] = []


class Job:
    """One module of IR on its way to object code; `done` is called with it."""

    def __init__(self, text: str, done: Callable[[bytes], None]) -> None:
        self._done, self._owner = done, os.getpid()
        self._out, self._errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 (closed by take)
        with tempfile.TemporaryFile() as source:
            source.write(text.encode())
            source.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, str(COMPILER)], stdin=source, stdout=self._out, stderr=self._errors
            )
        _running.append(self)

    @property
    def is_mine(self) -> bool:
        """Whether this process began it: a forked one cannot wait for it, and begins its own."""
        return self._owner == os.getpid()

    def take(self, *, wait: bool = False) -> bool:
        """Hand over the object code if it is there; whether the job has ended."""
        if wait:
            self._process.wait()
        status = self._process.poll()
        if status is None:
            return False
        _running.remove(self)
        code, errors = (_whole(file) for file in (self._out, self._errors))
        if status or not code:
            words = errors.decode(errors="replace").strip().splitlines() or ["no reason was given"]
            failures.append(f"The compiler process ended with {status}: {words[-1]}. Quick code is used.")
        else:
            self._done(code)
        return True

    def stop(self) -> None:
        """Keep what has been made by the end of this process; do not wait for the rest."""
        if self.is_mine and not self.take():
            self._process.kill()
            self._process.wait()
            _running.remove(self)
            self._out.close()
            self._errors.close()


def _whole(file: IO[bytes]) -> bytes:
    file.seek(0)
    with file:
        return file.read()


@atexit.register
def stop_all() -> None:
    """End the compilers that still run."""
    for job in list(_running):
        job.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)
