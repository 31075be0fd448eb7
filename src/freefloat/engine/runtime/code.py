"""Machine code by need: made quickly first, made again at full strength when enough runs on it.

Both are made of the same IR by different settings of LLVM and compute the same bits, so that one may take the other's
place between two steps of a rollout.
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

from freefloat.engine.collecting import without_collecting
from freefloat.engine.graph import Graph
from freefloat.engine.llvm.machine import Library, Setting, code_setting, compile_object, host
from freefloat.engine.llvm.module import emit_module

from . import background, cache
from .making import making
from .program import Compiled

# [operations run per line of IR] where full strength begins to pay: a line takes it 25 us, an operation saves 0.5 ns.
PAYS = 50_000
LINES_PER_OPERATION = 2  # about, for code that is not written yet
MOST_ATTEMPTS = 3  # of one program in the background, where a signal ends them
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
        """call(state, held, out, frame)"""
        return self.library.function("call", *[POINTER] * 4)

    @cached_property
    def again(self) -> Any:
        """again(state, held, out, frame): of a step function, after a call with this frame and the same held values."""
        return self.library.function("again", *[POINTER] * 4)

    @cached_property
    def batch(self) -> Any:
        """batch(rows, results, first, end, total, work)"""
        return self.library.function("batch", POINTER, POINTER, COUNT, COUNT, COUNT, POINTER)

    @cached_property
    def rollout(self) -> Any:
        """rollout(rows, results, first, end, total, work, steps, every, due, count, records)"""
        types = [POINTER, POINTER, COUNT, COUNT, COUNT, POINTER, *[COUNT] * 4, POINTER]
        return self.library.function("rollout", *types)

    def work(self) -> np.ndarray:
        """Work space for one thread, aligned to a cache line."""
        space = np.zeros(self.work_slots * self.width + 8)
        skip = (-space.ctypes.data // 8) % 8
        return space[skip:]


@dataclass(frozen=True)
class _Entry:
    """What is kept on disk: object code, and with quick code the IR that full-strength code is made of."""

    work_slots: int
    lines: int
    code: bytes
    text: bytes = b""

    def packed(self) -> bytes:
        """As bytes."""
        return _HEAD.pack(self.work_slots, self.lines, len(self.code)) + self.code + self.text

    @classmethod
    def of(cls, content: bytes) -> _Entry:
        """From bytes."""
        slots, lines, size = _HEAD.unpack(content[: _HEAD.size])
        return cls(slots, lines, content[_HEAD.size : _HEAD.size + size], content[_HEAD.size + size :])


@dataclass(frozen=True)
class _Loaded:
    """An entry in use: its code, and what else is needed of it."""

    code: Code
    lines: int
    text: bytes  # compressed IR, with quick code

    @classmethod
    def of(cls, entry: _Entry, width: int) -> _Loaded:
        """Load the code of an entry."""
        code = Code(Library(entry.code), width, entry.work_slots)
        assert code.call  # it is there
        return cls(code, entry.lines, entry.text)

    def ir(self) -> str:
        """What full-strength code is made of."""
        return zlib.decompress(self.text).decode()


def _load_and_keep(entry: _Entry, width: int, name: str | None) -> _Loaded:
    """Load an entry, then write it to disk if it has a name there: what does not load is not kept."""
    loaded = _Loaded.of(entry, width)
    if name is not None:
        cache.write(name, entry.packed())
    return loaded


class CodeByNeed:
    """A program's code for one register width. FREEFLOAT_QUICK_CODE=1: always quick, 0: always at full strength."""

    def __init__(self, program: Compiled, width: int, use_cache: bool, part_size: int) -> None:
        self.program, self.width = program, width
        self._use_cache, self._part_size = use_cache, part_size
        self._loaded: _Loaded | None = None
        self._job: background.Job[_Loaded] | None = None
        self._attempts = 0  # jobs begun
        self._looked = False
        self._operations = 0  # run, or about to be
        self._changing, self._settling = threading.RLock(), threading.Lock()
        self.is_final = False  # whether no other code will take this one's place

    # ---- what is there
    def find(self) -> bool:
        """Whether code is loaded, or was found on disk: at full strength if it is there."""
        if self._loaded is None and self._use_cache and not self._looked:
            self._looked = True
            setting = code_setting()
            if setting is not Setting.QUICK and (found := self._read(quick=False)):
                self._settle(found, final=True)
            elif setting is not Setting.FULL and (found := self._read(quick=True)):
                self._settle(found, final=setting is Setting.QUICK)
        return self._loaded is not None

    @property
    def is_awaited(self) -> bool:
        """Whether code at full strength is on its way."""
        return not self.is_final and self._job is not None and self._job.is_mine

    @property
    def lines(self) -> int:
        """Lines of IR, estimated where there is no code."""
        if self.find() and self._loaded is not None:
            return self._loaded.lines
        return LINES_PER_OPERATION * self.program.graph.block.size()

    # ---- what is used
    def get(self, operations: int, *, at_once: bool = False) -> Code:
        """Code that is going to run so many operations; `at_once`: at full strength now, if they pay for it."""
        self._operations += operations
        if self._loaded is None and not self.find():
            setting = code_setting()
            pays = at_once and setting is Setting.BY_NEED and self._operations >= PAYS * self.lines
            self._make(quick=not (pays or setting is Setting.FULL))
        return self.improve()

    def improve(self) -> Code:
        """The best code there is at present; better one is begun if it pays."""
        if not self.is_final and self._changing.acquire(blocking=False):
            try:
                self._improve()
            finally:
                self._changing.release()
        return self._present.code

    def full(self) -> Code:
        """Code that stays: at full strength, unless FREEFLOAT_QUICK_CODE=1."""
        if self._loaded is None and not self.find():
            self._make(quick=code_setting() is Setting.QUICK)
        with self._changing:
            quick = self._present
            if not self.is_final and quick.text:
                with making(self.program.title, "compiling"):
                    self._settle(self._wait_for_full(quick), final=True)
        return self._present.code

    def _wait_for_full(self, quick: _Loaded) -> _Loaded:
        made = self._job.result() if self._job is not None and self._job.is_mine else None
        return made or self._finish_full(quick, compile_object(quick.ir(), quick=False))

    def _improve(self) -> None:
        quick = self._present
        if self._job is not None and self._job.is_mine:
            if self._job.has_ended:
                self._take(self._job)
        elif quick.text and self._operations >= PAYS * quick.lines and background.has_room(self._job_key):
            self._begin(quick)

    @cached_property
    def _job_key(self) -> tuple[str, bool]:
        return self._name(quick=False), self._use_cache

    def _begin(self, quick: _Loaded) -> None:
        """Full-strength code: from disk if somebody has made it since, else from a job."""
        if self._use_cache and (found := self._read(quick=False)):
            self._settle(found, final=True)
        elif not background.may_begin():
            self._settle(quick, final=True)
        else:
            try:
                self._job = background.begin(self._job_key, quick.ir, partial(self._finish_full, quick))
            except OSError as error:
                background.failures.append(f"No compiler process could be started: {error}. Quick code is used.")
                self._settle(quick, final=True)

    def _take(self, job: background.Job[_Loaded]) -> None:
        """What a job has made; quick code stays where it failed, unless a signal ended it: it may succeed again."""
        made = job.result()
        self._attempts += 1
        if made is None and job.was_killed and self._attempts < MOST_ATTEMPTS:
            self._job = None
        else:
            self._settle(made or self._present, final=True)

    # ---- making
    def _name(self, quick: bool) -> str:
        facts = (self.program.summary.hash, self.width, self._part_size, host())
        return cache.key("native", *facts, *(["quick"] if quick else []))

    def _name_to_keep(self, quick: bool) -> str | None:
        return self._name(quick) if self._use_cache else None

    def _read(self, *, quick: bool) -> _Loaded | None:
        content = cache.read(self._name(quick))
        return None if content is None else _Loaded.of(_Entry.of(content), self.width)

    @without_collecting
    def _make(self, *, quick: bool) -> None:
        graph = self.program.graph  # traced by now, if it was not
        with making(self.program.title, "compiling"):
            made = self._make_of(graph, quick=quick)
        self._settle(made, final=not quick or code_setting() is Setting.QUICK)

    def _make_of(self, graph: Graph, *, quick: bool) -> _Loaded:
        source = emit_module(graph, self.width, fma=host().fma, part_size=self._part_size)
        text = zlib.compress(source.text.encode(), 1) if quick else b""
        code = compile_object(source.text, quick=quick)
        entry = _Entry(source.work_slots, source.text.count("\n"), code, text)
        return _load_and_keep(entry, self.width, self._name_to_keep(quick))

    def _finish_full(self, quick: _Loaded, code: bytes) -> _Loaded:
        """What a compiler has made of the IR of quick code."""
        entry = _Entry(quick.code.work_slots, quick.lines, code)
        return _load_and_keep(entry, self.width, self._name_to_keep(quick=False))

    # ---- what is there from now on
    @property
    def _present(self) -> _Loaded:
        assert self._loaded is not None
        return self._loaded

    def _settle(self, loaded: _Loaded, *, final: bool) -> None:
        """Use this code, unless another thread has better by now. Code comes before the word that it is final."""
        with self._settling:
            if self._loaded is None or (final and not self.is_final):
                self._loaded = loaded
                if final:
                    self.is_final, self._job = True, None
