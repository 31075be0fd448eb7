"""Compiles fully optimised code in separate processes while this process continues with quick code.

Threads would not do: llvmlite holds one lock during each call of LLVM, so everything else that this process compiles or
loads would wait for it, and a process forked meanwhile would find that lock taken for ever.
"""

from __future__ import annotations

import atexit
import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

COMPILER = Path(__file__).parents[1] / "llvm" / "machine.py"
DIGEST = hashlib.sha256().digest_size

failures: list[str] = []  # why fully optimised code could not be made in this process, for `doctor`
_jobs: dict[Hashable, Job[Any]] = {}  # of this process, by what they make, until they are collected
_changing = threading.Lock()  # of `_jobs`
_is_forked = False  # whether this process was forked after the engine was imported
T = TypeVar("T")


@cache
def most_jobs() -> int:
    """Most compiler processes at a time: half of the cores; the others stay free for other work."""
    return max(1, (os.cpu_count() or 1) // 2)


class Job(Generic[T]):
    """A compiler process for one module of IR; the result is what `finish` makes of the object code."""

    def __init__(self, text: str, finish: Callable[[bytes], T]) -> None:
        if not sys.executable:  # where Python is a part of another program
            raise OSError("sys.executable does not say where Python is")
        self._finish, self._owner = finish, os.getpid()
        self._result: T | None = None
        self._is_read = False
        self._reading = threading.Lock()
        with ExitStack() as files:
            # The process overwrites the source by its answer: any imported module may print to standard output.
            self._text, self._errors = (files.enter_context(_temporary_file()) for _ in range(2))
            self._text.write(text.encode())
            self._text.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, str(COMPILER), str(self._owner)],
                stdin=self._text,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C at a terminal goes to all processes of one
            )
            self._files = files.pop_all()

    @property
    def is_mine(self) -> bool:
        """Whether this process started the job; a forked process cannot wait for it."""
        return self._owner == os.getpid()

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended, so that `result` need not wait."""
        return self._is_read or self._process.poll() is not None

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended the job, so that a new attempt may succeed."""
        return (self._process.returncode or 0) < 0

    def result(self) -> T | None:
        """Wait for the job and return its result; None if it failed. An interrupted call can be repeated."""
        self._process.wait()
        with self._reading:
            if not self._is_read:
                self._result = self._read_result()
                self._is_read = True
                self._files.close()
        return self._result

    def stop(self) -> None:
        """Read the result of a job that has ended; end a job that still runs."""
        if self.has_ended:
            self.result()
        else:
            self._process.kill()
            self._process.wait()
            self._is_read = True
            self.release()

    def release(self) -> None:
        """Close the files of the job."""
        self._files.close()

    def _read_result(self) -> T | None:
        """Result of the ended process; None, with a note in `failures`, if it failed."""
        status, answer = self._process.returncode, _whole_content(self._text)
        code = answer[DIGEST:]
        if status or hashlib.sha256(code).digest() != answer[:DIGEST]:
            no_reason = "no reason was given" if status else "its answer is no code"
            words = _whole_content(self._errors).decode(errors="replace").strip().splitlines() or [no_reason]
            failures.append(f"The compiler process ended with {status}: {words[-1]}. Quick code is used.")
            return None
        try:
            return self._finish(code)
        except Exception as error:
            failures.append(f"The code of the compiler process cannot be used: {error}. Quick code is used.")
            return None


def begin_job(key: Hashable, text: Callable[[], str], finish: Callable[[bytes], T]) -> Job[T] | None:
    """Job for a key: the one that runs already, or a new one; None while too many other jobs run."""
    with _changing:
        _collect_results()
        if key not in _jobs and len(_jobs) < most_jobs():
            _jobs[key] = Job(text(), finish)
        return _jobs.get(key)


def has_room(key: Hashable) -> bool:
    """Whether a job for a key runs or can start; checked at every step of a `Stepping`."""
    return key in _jobs or len(_jobs) < most_jobs() or any(job.has_ended for job in tuple(_jobs.values()))


def may_begin() -> bool:
    """Whether this process may start jobs; not if multiprocessing forked it: all of a pool would make the same code."""
    return not (_is_forked and multiprocessing.parent_process() is not None)


def _collect_results() -> None:
    """Read the results of jobs that have ended, also of those that no program waits for."""
    for key, job in list(_jobs.items()):
        if job.has_ended:
            job.result()
            del _jobs[key]


def _temporary_file() -> IO[bytes]:
    """New temporary file without a buffer, because another process writes to it too."""
    return tempfile.TemporaryFile(buffering=0)


def _whole_content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


@atexit.register
def stop_all() -> None:
    """End the compilers that still run."""
    while _jobs:
        _jobs.popitem()[1].stop()


def _begin_fork() -> None:
    """Release all jobs in a forked process: they belong to its parent."""
    global _is_forked, _changing
    _is_forked, _changing = True, threading.Lock()
    while _jobs:
        _jobs.popitem()[1].release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_fork)
