"""Full-strength code made by processes of their own while this one goes on with quick code.

Not by threads: llvmlite holds one lock during each call of LLVM, so everything else that this process compiles or
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

failures: list[str] = []  # why full-strength code could not be made in this process, for `doctor`
_jobs: dict[Hashable, Job[Any]] = {}  # of this process, by what they make, until they are collected
_changing = threading.Lock()  # of `_jobs`
_is_forked = False  # whether this process was forked after the engine was imported
T = TypeVar("T")


@cache
def most_jobs() -> int:
    """How many compilers may run at a time: the other cores are for those who wait for no code."""
    return max(1, (os.cpu_count() or 1) // 2)


class Job(Generic[T]):
    """One module of IR on its way to object code; its result is what `finish` makes of that."""

    def __init__(self, text: str, finish: Callable[[bytes], T]) -> None:
        if not sys.executable:  # where Python is a part of another program
            raise OSError("sys.executable does not say where Python is")
        self._finish, self._owner = finish, os.getpid()
        self._result: T | None = None
        self._is_read = False
        self._reading = threading.Lock()
        with ExitStack() as files:
            # The answer is written over the source: standard output is anybody's, who is imported there too.
            self._text, self._errors = (files.enter_context(_file()) for _ in range(2))
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
        """Whether this process began it: a forked one cannot wait for it."""
        return self._owner == os.getpid()

    @property
    def has_ended(self) -> bool:
        """Whether `result` need not wait."""
        return self._is_read or self._process.poll() is not None

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended it: another time it may succeed."""
        return (self._process.returncode or 0) < 0

    def result(self) -> T | None:
        """What has been made, waited for; None where it failed. An interrupted call can be repeated."""
        self._process.wait()
        with self._reading:
            if not self._is_read:
                self._result = self._read()
                self._is_read = True
                self._files.close()
        return self._result

    def stop(self) -> None:
        """Keep what has been made by the end of this process; do not wait for the rest."""
        if self.has_ended:
            self.result()
        else:
            self._process.kill()
            self._process.wait()
            self._is_read = True
            self.release()

    def release(self) -> None:
        """Let go of its files."""
        self._files.close()

    def _read(self) -> T | None:
        status, answer = self._process.returncode, _whole(self._text)
        code = answer[DIGEST:]
        if status or hashlib.sha256(code).digest() != answer[:DIGEST]:
            unsaid = "no reason was given" if status else "its answer is no code"
            words = _whole(self._errors).decode(errors="replace").strip().splitlines() or [unsaid]
            failures.append(f"The compiler process ended with {status}: {words[-1]}. Quick code is used.")
            return None
        try:
            return self._finish(code)
        except Exception as error:
            failures.append(f"The code of the compiler process cannot be used: {error}. Quick code is used.")
            return None


def begin(key: Hashable, text: Callable[[], str], finish: Callable[[bytes], T]) -> Job[T] | None:
    """The job that makes this: the one that runs already, or a new one; None while others take all the room."""
    with _changing:
        _collect()
        if key not in _jobs and len(_jobs) < most_jobs():
            _jobs[key] = Job(text(), finish)
        return _jobs.get(key)


def has_room(key: Hashable) -> bool:
    """Whether `begin` would give a job; asked at every step of a stepper."""
    return key in _jobs or len(_jobs) < most_jobs() or any(job.has_ended for job in tuple(_jobs.values()))


def may_begin() -> bool:
    """Whether this process has jobs. Not one that multiprocessing forked: each of a pool would make the same."""
    return not (_is_forked and multiprocessing.parent_process() is not None)


def _collect() -> None:
    """Take what ended jobs have made, also where those who began them look no more."""
    for key, job in list(_jobs.items()):
        if job.has_ended:
            job.result()
            del _jobs[key]


def _file() -> IO[bytes]:
    """Without a buffer: another process writes to it too."""
    return tempfile.TemporaryFile(buffering=0)


def _whole(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


@atexit.register
def stop_all() -> None:
    """End the compilers that still run."""
    while _jobs:
        _jobs.popitem()[1].stop()


def _begin_fork() -> None:
    """In a forked process: the jobs are the parent's."""
    global _is_forked, _changing
    _is_forked, _changing = True, threading.Lock()
    while _jobs:
        _jobs.popitem()[1].release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_fork)
