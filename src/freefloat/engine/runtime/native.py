"""The native target: machine code of this host, called without the interpreter lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from freefloat.engine.graph import Graph, GraphSignature, Leaf
from freefloat.engine.llvm.machine import host
from freefloat.engine.llvm.plan import PART_SIZE

from .code import POINTER, Code, TieredCode
from .program import Chunk, Compiled, Rollout, Summary, axes, batch_size
from .stepping import Stepping, Watching, slot_views
from .structure import NUMPY, CallStructure, leaf_array
from .workers import available_threads, run_parts

CHUNK_OPERATIONS = 1_000_000_000  # in one call: an interrupt of a rollout waits about half a second
QUICK_OPERATIONS = 100_000_000  # in one call: about a tenth of a second between checks for better code
LEAST_STEPS = 16  # between such checks: each call computes again, for each instance, what no step changes
# [operations run in batches per line of IR] above which code for several instances side by side saves time
WIDE_PAYS = 50_000


class BoundFunction:
    """A compiled function on fixed buffers: fill ``inputs``, call, read ``outputs`` (leaves in order).

    Integers and truth values appear as 64-bit integers. Not to be shared between threads.
    """

    def __init__(self, code: Code, signature: GraphSignature) -> None:
        buffers = _Buffers(code, signature)
        self._buffers, self._call = buffers, code.call
        self._pointers = tuple(map(POINTER, buffers.pointers))  # converted once, not at every call
        self.inputs, self.outputs = tuple(buffers.ins), tuple(buffers.outs)
        first = sum(leaf.size for leaf in signature.leaves)
        self._state, self._next = (buffers.work[at : at + signature.state_size] for at in (0, first))

    def __call__(self) -> None:
        """Compute the outputs from the inputs."""
        self._call(*self._pointers)

    def feed_back(self) -> None:
        """Copy the result of a step function to its first argument, for the next call."""
        self._state[:] = self._next


class _Buffers(threading.local):
    """Work space of one thread for single calls, with views of every leaf."""

    def __init__(self, code: Code, signature: GraphSignature) -> None:
        inputs, outputs = (sum(leaf.size for leaf in leaves) for leaves in (signature.leaves, signature.results))
        self.work = code.work()
        self.ins = slot_views(self.work, signature.leaves, 0)
        self.outs = slot_views(self.work, signature.results, inputs)
        base, state = self.work.ctypes.data, signature.state_size
        self.pointers = (base, base + 8 * state, base + 8 * inputs, base + 8 * (inputs + outputs))


class Native(Compiled):
    """A function compiled to machine code: scalar for single calls and rollouts, SIMD and threads for batches."""

    target = "native"

    def __init__(
        self,
        graph: Graph | Callable[[], Graph],
        structure: CallStructure,
        *,
        summary: Summary | None = None,
        width: int | None = None,
        cache: bool = True,
        part_size: int = PART_SIZE,
    ) -> None:
        super().__init__(graph, structure, summary)
        self._options = cache, part_size
        self.width, self._is_width_chosen = width or host().width, width is not None
        self._in_batches = 0  # operations
        self._called: tuple[Code, _Buffers] | None = None

    @cached_property
    def _scalar(self) -> TieredCode:
        return TieredCode(self, 1, *self._options)

    @cached_property
    def _wide(self) -> TieredCode:
        return self._scalar if self.width == 1 else TieredCode(self, self.width, *self._options)

    @cached_property
    def _cost(self) -> int:
        """Number of operations of one call, at least one."""
        return max(1, self.operations["total"])

    def _batch_code(self, operations: int) -> TieredCode:
        """Code for several instances side by side if it was chosen, exists or saves time; else for one at a time."""
        self._in_batches += operations
        wide = self._wide
        if self._is_width_chosen or wide.find():
            return wide
        known = self._scalar if self._scalar.find() else wide
        return wide if self._in_batches >= WIDE_PAYS * known.lines else self._scalar

    def _call_code(self) -> tuple[Code, _Buffers]:
        """Code of one call, and the work space of this thread for it."""
        code, called = self._scalar.code_for(self._cost), self._called
        if called is None or called[0] is not code:
            called = self._called = code, _Buffers(code, self.structure.signature)
        return called

    # ---- one call
    def __call__(self, *args: Any) -> Any:
        """Result of the function for these arguments."""
        (code, buffers), signature = self._call_code(), self.structure.signature
        flat = [leaf for parts in self.structure.flatten(args) for leaf in parts]
        for view, value, leaf in zip(buffers.ins, flat, signature.leaves, strict=True):
            # A float is the common case, and is never rounded to fit an integer leaf.
            fits = leaf.dtype == "f64" and np.shape(value) == leaf.shape
            view[...] = value if fits else leaf_array(value, leaf, "An argument")
        code.call(*buffers.pointers)
        results = [v.astype(NUMPY[r.dtype]) for v, r in zip(buffers.outs, signature.results, strict=True)]
        return self.structure.result(results, args[0] if args else None)

    def bind(self) -> BoundFunction:
        """Function on fixed buffers, for loops in which the checks of a normal call take too long."""
        return BoundFunction(self._scalar.final_code(), self.structure.signature)

    def stepping(self, state: Any, *held: Any) -> Stepping:
        """Rollout of one instance that the caller advances step by step, without a pytree in between."""
        self._require_step(1)
        return Stepping(self._scalar, self._cost, self.structure, (state, *held))

    def watching(self, steps: Stepping, *held: Any) -> Watching:
        """This function of the present state of a `Stepping`, whose leaves are those of its first argument."""
        return Watching(self._scalar, self._cost, self.structure, steps, held)

    # ---- many instances
    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None, threads: int | None = None) -> Any:
        """Results of the function for many instances, with the same bits as one at a time."""
        arrays, rows, total = self._batch_arrays(args, in_axes)
        results = [np.empty((total, *r.shape), NUMPY[r.dtype]) for r in self.structure.signature.results]
        targets, operations = _rows(results, [1] * len(results)), self._cost * total
        code = self._batch_code(operations).code_for(operations, at_once=True)

        def part(first: int, end: int) -> None:
            work = code.work()
            code.batch(rows.ctypes.data, targets.ctypes.data, first, end, total, work.ctypes.data)

        run_parts(part, total, code.width, threads or available_threads())
        del arrays
        return self.structure.result(results, args[0] if args else None)

    def _batch_arrays(
        self, args: Sequence[Any], in_axes: Sequence[int | None] | None
    ) -> tuple[list[np.ndarray], np.ndarray, int]:
        """Contiguous leaves of all arguments, their addresses and strides, and the number of instances."""
        flat = self.structure.flatten(args)
        chosen = axes(in_axes, len(args))
        total = batch_size(flat, chosen)
        arrays, steps = [], []
        for k, (values, leaves) in enumerate(zip(flat, self.structure.signature.arguments, strict=True)):
            for value, leaf in zip(values, leaves, strict=True):
                arrays.append(leaf_array(value, leaf, f"Argument {k}", None if chosen[k] is None else total))
                steps.append(chosen[k] is not None)
        return arrays, _rows(arrays, steps), total

    # ---- rollouts
    def rollout_chunks(
        self, state: Any, *held: Any, steps: int, chunk: int | None = None, record_every: int | None = None
    ) -> Iterator[Chunk]:
        """Rollout of one instance in chunks of steps."""
        self._require_step(steps)
        flat = self.structure.flatten((state, *held))
        leaves = [leaf for argument in self.structure.signature.arguments for leaf in argument]
        values = [value for parts in flat for value in parts]
        arrays = [leaf_array(v, leaf, "An argument")[None] for v, leaf in zip(values, leaves, strict=True)]
        self._scalar.code_for(self._cost * steps)
        run = _NativeRollout(self, arrays, 1, steps, record_every, self._scalar, threads=1)
        size = chunk or max(1, CHUNK_OPERATIONS // self._cost)
        while run.done < steps:
            rows = run.advance(min(size, steps - run.done))
            yield Chunk(run.done, run.state(state, single=True), run.record(state, rows, single=True))

    def rollout_batch(
        self,
        state: Any,
        *held: Any,
        steps: int,
        record_every: int | None = None,
        in_axes: Sequence[int | None] | None = None,
        threads: int | None = None,
        scalar: bool = False,
    ) -> Rollout:
        """Rollouts of many instances side by side, with the same bits as one at a time."""
        self._require_step(steps)
        arrays, _, total = self._batch_arrays((state, *held), in_axes)
        shared = [a is None for a in axes(in_axes, 1 + len(held))]
        arrays = repeat_shared_state(arrays, self.structure.signature.arguments, shared, total)
        operations = self._cost * total * steps
        code = self._scalar if scalar else self._batch_code(operations)
        code.code_for(operations, at_once=True)
        run = _NativeRollout(self, arrays, total, steps, record_every, code, threads or available_threads())
        size = max(1, CHUNK_OPERATIONS // max(1, self._cost * total // 4))
        while run.done < steps:
            run.advance(min(size, steps - run.done))
        return Rollout(run.state(state), run.record(state, (0, run.recorded)))


def repeat_shared_state(
    arrays: list[np.ndarray], arguments: Sequence[Sequence[Leaf]], shared: list[bool], total: int
) -> list[np.ndarray]:
    """Copy a shared state for each instance; shared held arguments keep one copy."""
    result, k = [], 0
    for number, leaves in enumerate(arguments):
        for leaf in leaves:
            array = arrays[k]
            if shared[number]:
                array = np.repeat(array[None], total, 0) if number == 0 else array[None]
            result.append(array.reshape(array.shape[0], *leaf.shape))
            k += 1
    return result


def _rows(arrays: Sequence[np.ndarray], steps: Sequence[Any]) -> np.ndarray:
    """Address of every array, and distance between its instances [bytes]."""
    table = [(a.ctypes.data, a.strides[0] if step and a.ndim else 0) for a, step in zip(arrays, steps, strict=True)]
    return np.array(table, np.int64).reshape(-1, 2)


class _NativeRollout:
    """A rollout in progress: its states are overwritten in place, its records fill one array."""

    def __init__(
        self,
        program: Native,
        arrays: list[np.ndarray],
        total: int,
        steps: int,
        every: int | None,
        code: TieredCode,
        threads: int,
    ) -> None:
        self.program, self.total, self.code, self.threads = program, total, code, threads
        signature = program.structure.signature
        count = len(signature.arguments[0])
        self.states = [a.copy() for a in arrays[:count]]
        self.arrays = [*self.states, *arrays[count:]]
        self.rows = _rows(self.arrays, [len(a) == total and total > 1 for a in self.arrays])
        self.every = every or 0
        self.done = self.recorded = 0
        self.capacity = steps // every if every else 0
        self.records = np.empty((total, self.capacity, signature.state_size))

    def advance(self, steps: int) -> tuple[int, int]:
        """Run `steps` more steps; returns the range of recorded rows. Better code is used when it is ready."""
        before, end = self.recorded, self.done + steps
        while self.done < end:
            code = self.code.improve()
            most = steps
            if self.code.is_awaited:
                most = max(LEAST_STEPS, QUICK_OPERATIONS // (self.program._cost * self.total))
            self._advance(min(most, end - self.done), code)
        return before, self.recorded

    def _advance(self, steps: int, code: Code) -> None:
        due = self.every - self.done % self.every if self.every else -1
        start = self.records.ctypes.data + 8 * self.recorded * self.records.shape[2]
        rows = self.rows.ctypes.data

        def part(first: int, end: int) -> None:
            work = code.work()
            count = (first, end, self.total, work.ctypes.data, steps, self.every, due, self.capacity)
            code.rollout(rows, rows, *count, start)

        run_parts(part, self.total, code.width, self.threads)
        self.done += steps
        self.recorded = self.done // self.every if self.every else 0

    def state(self, like: Any, *, single: bool = False) -> Any:
        """Present states as a pytree."""
        leaves = [(s[0] if single else s).copy() for s in self.states]
        return self.program.structure.result(leaves, like)

    def record(self, like: Any, rows: tuple[int, int], *, single: bool = False) -> Any:
        """Recorded states as a pytree."""
        if not self.every:
            return None
        block = self.records[:, rows[0] : rows[1]]
        leaves, first = [], 0
        for leaf in self.program.structure.signature.results:
            part = np.ascontiguousarray(block[..., first : first + leaf.size])
            if leaf.dtype != "f64":
                part = part.view(np.int64).astype(NUMPY[leaf.dtype])
            part = part.reshape(*block.shape[:2], *leaf.shape)
            leaves.append(part[0] if single else part)
            first += leaf.size
        return self.program.structure.result(leaves, like)
