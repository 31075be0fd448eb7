"""Machine code in two tiers: compiled quickly first, and again with full optimisation when enough runs on it.

Both are made from the same IR by different settings of LLVM and compute the same bits, so that one may replace the
other between two steps of a rollout.
"""

from __future__ import annotations

import ctypes
import struct
import threading
import zlib
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from freefloat.engine.garbage_collection import without_collecting
from freefloat.engine.graph import Graph
from freefloat.engine.llvm.machine import CodeSetting, Library, code_setting, compile_object, host
from freefloat.engine.llvm.module import emit_module

from . import background, cache
from .making import making
from .program import Compiled

# [operations run per line of IR] above which full optimisation saves time: it needs 25 us a line, and saves 0.5 ns an
# operation.
PAYS = 50_000
LINES_PER_OPERATION = 2  # estimate for code that is not written yet
MOST_ATTEMPTS = 3  # most background jobs of one program, where signals end them
POINTER, COUNT = ctypes.c_void_p, ctypes.c_int64
_HEAD = struct.Struct("qqq")


@dataclass(frozen=True)
class Code:
    """The loaded functions of one register width."""

    library: Library
    width: int
    work_slots: int

    @cached_property
    def call(self) -> Any:
        """Compiled function call(state, held, out, frame)."""
        return self.library.function("call", *[POINTER] * 4)

    @cached_property
    def again(self) -> Any:
        """Compiled function again(state, held, out, frame): a call with frame and held values of the call before."""
        return self.library.function("again", *[POINTER] * 4)

    @cached_property
    def batch(self) -> Any:
        """Compiled function batch(rows, results, first, end, total, work)."""
        return self.library.function("batch", POINTER, POINTER, COUNT, COUNT, COUNT, POINTER)

    @cached_property
    def rollout(self) -> Any:
        """Compiled function rollout(rows, results, first, end, total, work, steps, every, due, count, records)."""
        types = [POINTER, POINTER, COUNT, COUNT, COUNT, POINTER, *[COUNT] * 4, POINTER]
        return self.library.function("rollout", *types)

    def work(self) -> np.ndarray:
        """New work space for one thread, aligned to a cache line."""
        space = np.zeros(self.work_slots * self.width + 8)
        skip = (-space.ctypes.data // 8) % 8
        return space[skip:]


@dataclass(frozen=True)
class _CodeEntry:
    """Content of a cache entry: object code, and with quick code the IR for full optimisation."""

    work_slots: int
    lines: int
    code: bytes
    text: bytes = b""

    def to_bytes(self) -> bytes:
        """Entry as bytes for the disk."""
        return _HEAD.pack(self.work_slots, self.lines, len(self.code)) + self.code + self.text

    @classmethod
    def from_bytes(cls, content: bytes) -> _CodeEntry:
        """Entry from bytes of the disk."""
        slots, lines, size = _HEAD.unpack(content[: _HEAD.size])
        return cls(slots, lines, content[_HEAD.size : _HEAD.size + size], content[_HEAD.size + size :])


@dataclass(frozen=True)
class _LoadedCode:
    """A loaded cache entry: its code, number of lines and IR."""

    code: Code
    lines: int
    text: bytes  # compressed IR, with quick code

    @classmethod
    def from_entry(cls, entry: _CodeEntry, width: int) -> _LoadedCode:
        """Load the code of a cache entry."""
        code = Code(Library(entry.code), width, entry.work_slots)
        assert code.call  # the library has this function
        return cls(code, entry.lines, entry.text)

    def ir(self) -> str:
        """IR text from which fully optimised code is made."""
        return zlib.decompress(self.text).decode()


def _load_and_keep(entry: _CodeEntry, width: int, name: str | None) -> _LoadedCode:
    """Load an entry, then write it to disk if it has a name there, so that only code that loads is kept."""
    loaded = _LoadedCode.from_entry(entry, width)
    if name is not None:
        cache.write(name, entry.to_bytes())
    return loaded


class TieredCode:
    """Code of a program for one register width. FREEFLOAT_QUICK_CODE=1: always quick, 0: always fully optimised."""

    def __init__(self, program: Compiled, width: int, use_cache: bool, part_size: int) -> None:
        self.program, self.width = program, width
        self._use_cache, self._part_size = use_cache, part_size
        self._loaded: _LoadedCode | None = None
        self._job: background.Job[_LoadedCode] | None = None
        self._attempts = 0  # jobs begun
        self._looked = False
        self._operations = 0  # run, or about to be
        self._changing, self._settling = threading.RLock(), threading.Lock()
        self.is_final = False  # whether no other code will replace this code

    # ---- existing code
    def find(self) -> bool:
        """Whether code is loaded, now or from disk; fully optimised code is preferred."""
        if self._loaded is None and self._use_cache and not self._looked:
            self._looked = True
            setting = code_setting()
            if setting is not CodeSetting.QUICK and (found := self._read_entry(quick=False)):
                self._set_code(found, final=True)
            elif setting is not CodeSetting.FULL and (found := self._read_entry(quick=True)):
                self._set_code(found, final=setting is CodeSetting.QUICK)
        return self._loaded is not None

    @property
    def is_awaited(self) -> bool:
        """Whether a job of this process is making fully optimised code."""
        return not self.is_final and self._job is not None and self._job.is_mine

    @property
    def lines(self) -> int:
        """Number of lines of IR, estimated where there is no code."""
        if self.find() and self._loaded is not None:
            return self._loaded.lines
        return LINES_PER_OPERATION * self.program.graph.block.size()

    # ---- code to run
    def code_for(self, operations: int, *, at_once: bool = False) -> Code:
        """Code that will run this many operations; with `at_once` fully optimised now, if that saves time."""
        self._operations += operations
        if self._loaded is None and not self.find():
            setting = code_setting()
            pays = at_once and setting is CodeSetting.BY_NEED and self._operations >= PAYS * self.lines
            self._make_code(quick=not (pays or setting is CodeSetting.FULL))
        return self.improve()

    def improve(self) -> Code:
        """Best code at present; a job for better code is started if that saves time."""
        if not self.is_final and self._changing.acquire(blocking=False):
            try:
                self._improve()
            finally:
                self._changing.release()
        return self._current.code

    def final_code(self) -> Code:
        """Final code: fully optimised, unless FREEFLOAT_QUICK_CODE=1."""
        if self._loaded is None and not self.find():
            self._make_code(quick=code_setting() is CodeSetting.QUICK)
        with self._changing:
            quick = self._current
            if not self.is_final and quick.text:
                with making(self.program.title, "compiling"):
                    self._set_code(self._wait_for_full(quick), final=True)
        return self._current.code

    def _wait_for_full(self, quick: _LoadedCode) -> _LoadedCode:
        """Fully optimised code, from the running job or compiled here."""
        made = self._job.result() if self._job is not None and self._job.is_mine else None
        return made or self._finish_full(quick, compile_object(quick.ir(), quick=False))

    def _improve(self) -> None:
        """Use the result of a job that has ended, or start a job if that saves time."""
        quick = self._current
        if self._job is not None and self._job.is_mine:
            if self._job.has_ended:
                self._take_result(self._job)
        elif quick.text and self._operations >= PAYS * quick.lines and background.has_room(self._job_key):
            self._begin_full(quick)

    @cached_property
    def _job_key(self) -> tuple[str, bool]:
        return self._cache_name(quick=False), self._use_cache

    def _begin_full(self, quick: _LoadedCode) -> None:
        """Get fully optimised code from disk if it is there by now, else start a job for it."""
        if self._use_cache and (found := self._read_entry(quick=False)):
            self._set_code(found, final=True)
        elif not background.may_begin():
            self._set_code(quick, final=True)
        else:
            try:
                self._job = background.begin_job(self._job_key, quick.ir, partial(self._finish_full, quick))
            except OSError as error:
                background.failures.append(f"No compiler process could be started: {error}. Quick code is used.")
                self._set_code(quick, final=True)

    def _take_result(self, job: background.Job[_LoadedCode]) -> None:
        """Use the result of a job; if it failed, keep quick code, but retry where a signal ended the job."""
        made = job.result()
        self._attempts += 1
        if made is None and job.was_killed and self._attempts < MOST_ATTEMPTS:
            self._job = None
        else:
            self._set_code(made or self._current, final=True)

    # ---- making
    def _cache_name(self, quick: bool) -> str:
        facts = (self.program.summary.hash, self.width, self._part_size, host())
        return cache.key("native", *facts, *(["quick"] if quick else []))

    def _name_on_disk(self, quick: bool) -> str | None:
        return self._cache_name(quick) if self._use_cache else None

    def _read_entry(self, *, quick: bool) -> _LoadedCode | None:
        content = cache.read(self._cache_name(quick))
        return None if content is None else _LoadedCode.from_entry(_CodeEntry.from_bytes(content), self.width)

    @without_collecting
    def _make_code(self, *, quick: bool) -> None:
        """Compile the program and use the code."""
        graph = self.program.graph  # this traces the function if needed
        with making(self.program.title, "compiling"):
            made = self._compile_graph(graph, quick=quick)
        self._set_code(made, final=not quick or code_setting() is CodeSetting.QUICK)

    def _compile_graph(self, graph: Graph, *, quick: bool) -> _LoadedCode:
        source = emit_module(graph, self.width, fma=host().fma, part_size=self._part_size)
        text = zlib.compress(source.text.encode(), 1) if quick else b""
        code = compile_object(source.text, quick=quick)
        entry = _CodeEntry(source.work_slots, source.text.count("\n"), code, text)
        return _load_and_keep(entry, self.width, self._name_on_disk(quick))

    def _finish_full(self, quick: _LoadedCode, code: bytes) -> _LoadedCode:
        """Load and keep the object code that was compiled from the IR of quick code."""
        entry = _CodeEntry(quick.code.work_slots, quick.lines, code)
        return _load_and_keep(entry, self.width, self._name_on_disk(quick=False))

    # ---- changing the code in use
    @property
    def _current(self) -> _LoadedCode:
        assert self._loaded is not None
        return self._loaded

    def _set_code(self, loaded: _LoadedCode, *, final: bool) -> None:
        """Use this code, unless another thread has set better code. The code is set before `is_final`."""
        with self._settling:
            if self._loaded is None or (final and not self.is_final):
                self._loaded = loaded
                if final:
                    self.is_final, self._job = True, None
