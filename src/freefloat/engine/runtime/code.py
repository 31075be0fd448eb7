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
from functools import cached_property
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


class CodeByNeed:
    """A program's code for one register width. FREEFLOAT_QUICK_CODE=1: always quick, 0: always at full strength."""

    def __init__(self, program: Compiled, width: int, use_cache: bool, part_size: int) -> None:
        self.program, self.width = program, width
        self._use_cache, self._part_size = use_cache, part_size
        self._code: Code | None = None
        self._entry: _Entry | None = None
        self._job: background.Job | None = None
        self._looked = False
        self._operations = 0  # run, or about to be
        self._changing = threading.Lock()
        self.is_final = False  # whether no other code will take this one's place

    # ---- what is there
    def find(self) -> bool:
        """Whether code is loaded, or was found on disk: at full strength if it is there."""
        if self._code is None and self._use_cache and not self._looked:
            self._looked = True
            setting = code_setting()
            for quick in (False, True):
                forbidden = setting is (Setting.FULL if quick else Setting.QUICK)
                content = None if forbidden else cache.read(self._name(quick))
                if content is not None:
                    self._use(_Entry.of(content), quick)
                    break
        return self._code is not None

    @property
    def is_awaited(self) -> bool:
        """Whether code at full strength is on its way."""
        return not self.is_final and self._job is not None

    @property
    def lines(self) -> int:
        """Lines of IR, estimated where there is no code."""
        if self.find() and self._entry is not None:
            return self._entry.lines
        return LINES_PER_OPERATION * self.program.graph.block.size()

    # ---- what is used
    def get(self, operations: int, *, at_once: bool = False) -> Code:
        """Code that is going to run so many operations; `at_once`: at full strength now, if they pay for it."""
        self._operations += operations
        if self._code is None and not self.find():
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
        assert self._code is not None
        return self._code

    def full(self) -> Code:
        """Code that stays: at full strength, unless FREEFLOAT_QUICK_CODE=1."""
        if self._code is None and not self.find():
            self._make(quick=code_setting() is Setting.QUICK)
        with self._changing:
            if not self.is_final:
                with making(self.program.title, "compiling"):
                    self._wait_for_full()
        assert self._code is not None
        return self._code

    def _wait_for_full(self) -> None:
        if self._job is not None and self._job.is_mine:
            self._job.take(wait=True)
        if not self.is_final:
            self._strengthen(compile_object(self._text(), quick=False))

    def _improve(self) -> None:
        if self._job is not None and self._job.is_mine:
            if self._job.take():
                self.is_final = True  # also where it failed: it would again
        elif self._entry is not None and self._operations >= PAYS * self._entry.lines:
            try:
                self._job = background.Job(self._text(), self._strengthen)
            except OSError as error:
                background.failures.append(f"No compiler process could be started: {error}. Quick code is used.")
                self.is_final = True

    # ---- making
    def _name(self, quick: bool) -> str:
        facts = (self.program.summary.hash, self.width, self._part_size, host())
        return cache.key("native", *facts, *(["quick"] if quick else []))

    @without_collecting
    def _make(self, *, quick: bool) -> None:
        graph = self.program.graph  # traced by now, if it was not
        with making(self.program.title, "compiling"):
            self._make_of(graph, quick=quick)

    def _make_of(self, graph: Graph, *, quick: bool) -> None:
        source = emit_module(graph, self.width, fma=host().fma, part_size=self._part_size)
        text = zlib.compress(source.text.encode(), 1) if quick else b""
        lines = source.text.count("\n")
        self._keep(_Entry(source.work_slots, lines, compile_object(source.text, quick=quick), text), quick)

    def _text(self) -> str:
        assert self._entry is not None
        return zlib.decompress(self._entry.text).decode()

    def _strengthen(self, code: bytes) -> None:
        assert self._entry is not None
        self._keep(_Entry(self._entry.work_slots, self._entry.lines, code), quick=False)

    def _keep(self, entry: _Entry, quick: bool) -> None:
        if self._use_cache:
            cache.write(self._name(quick), entry.packed())
        self._use(entry, quick)

    def _use(self, entry: _Entry, quick: bool) -> None:
        code = Code(Library(entry.code), self.width, entry.work_slots)
        self._entry, self._code = entry, code
        self.is_final = not quick or code_setting() is Setting.QUICK
