"""The gpu target: a whole rollout in one kernel, one instance per thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from freefloat.engine.errors import SignatureError
from freefloat.engine.graph import Graph
from freefloat.engine.runtime.program import Chunk, Compiled, Rollout, axes, batch_size
from freefloat.engine.runtime.structure import CallStructure, leaf_array

from .building import WRITERS, KernelBuilder
from .card import card
from .emulation import emulation
from .runner import Launch, Runner
from .shape import KernelShape, shapes
from .words import from_words, size_of, to_words

LAUNCH_OPERATIONS = 3e12  # of all instances in one launch: an interrupt waits about half a second
TRIED_FROM = 16_384  # [instances] a smaller batch does not fill a card, so its time is no measure
TRIAL_OPERATIONS = 1e11
MEMORY = 0.8  # used fraction of the free memory
Progress = Callable[[int, int], None]  # (steps done by all instances together, steps in total)


class RolloutPiece(NamedTuple):
    """Rollouts of the instances from ``first`` up to, but not including, ``end``."""

    first: int
    end: int
    state: Any
    record: Any


class Gpu(Compiled):
    """A function compiled for a graphics card, meant for rollouts of batches; single calls work, but slowly."""

    target = "gpu"

    def __init__(
        self,
        graph: Graph,
        structure: CallStructure,
        *,
        emulate: bool = False,
        shape: KernelShape | None = None,
        piece: int | None = None,
        cache: bool = True,
    ) -> None:
        super().__init__(graph, structure)
        self.runner: Runner = emulation() if emulate else card()
        self.shapes = [shape] if shape else shapes(graph, self.runner.shared_bytes())
        self.chosen: KernelShape | None = None
        self.piece = piece
        self._builder = KernelBuilder(graph, self.runner, cache, lambda: self.title)
        self._kernels: dict[object, Launch] = {}

    @property
    def source(self) -> str:
        """Text of the kernel in the first of the possible layouts."""
        name = "rollout" if self.graph.signature.is_step else "evaluate"
        return WRITERS[name](self.graph, self.shapes[0]).source

    def kernel(self, name: str, shape: KernelShape | None = None) -> Launch:
        """Kernel ``rollout`` or ``evaluate``, compiled for this device."""
        key = name, shape or self.shapes[0]
        if key not in self._kernels:
            self._kernels[key] = self._builder.kernel(*key)
        return self._kernels[key]

    # ---- calls
    def __call__(self, *args: Any) -> Any:
        """Result of the function for one instance, computed as a batch of one."""
        flat = self.structure.flatten(args)
        results = self._evaluate([[np.asarray(v)[None] for v in leaves] for leaves in flat], [0] * len(args), 1)
        return self.structure.result([r[0] for r in results], args[0] if args else None)

    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None, threads: int | None = None) -> Any:
        """Results of the function for many instances."""
        flat, chosen = self.structure.flatten(args), axes(in_axes, len(args))
        total = batch_size(flat, chosen)
        parts = []
        for first, end in self._piece_ranges(total, size_of(self.graph.signature.results)):
            cut = [_slice_instances(leaves, axis, first, end) for leaves, axis in zip(flat, chosen, strict=True)]
            parts.append(self._evaluate(cut, chosen, end - first))
        results = [np.concatenate(leaf) for leaf in zip(*parts, strict=True)]
        return self.structure.result(results, args[0] if args else None)

    def _evaluate(self, flat: list[list[Any]], chosen: Sequence[int | None], count: int) -> list[np.ndarray]:
        results = self.graph.signature.results
        inputs, places = self._inputs(flat, chosen, count, 0)
        words = self.runner.xp.empty((size_of(results), count))
        self.kernel("evaluate")(count, inputs, places, words, np.int64(count))
        return from_words(self.runner, words, results)

    def _inputs(self, flat: list[list[Any]], chosen: Sequence[int | None], count: int, first: int) -> tuple[Any, Any]:
        """Words of the arguments from number ``first`` on, and the place of every scalar in them."""
        runner, parts, places, start = self.runner, [], [], 0
        for k, (values, leaves) in enumerate(zip(flat, self.graph.signature.arguments, strict=True)):
            size, many = size_of(leaves), chosen[k] is not None
            if k < first:
                places += [(0, 0)] * size
                continue
            arrays = [
                leaf_array(v, leaf, f"Argument {k}", count if many else None).reshape(-1, *leaf.shape)
                for v, leaf in zip(values, leaves, strict=True)
            ]
            words = to_words(runner, arrays, leaves)
            places += [(start + j * words.shape[1], int(many)) for j in range(size)]
            start += words.size
            parts.append(words.reshape(-1))
        inputs = runner.xp.concatenate(parts) if start else runner.xp.zeros(1)
        return inputs, runner.xp.asarray(np.array(places or [(0, 0)], np.int64).reshape(-1))

    def _piece_ranges(self, total: int, results: int) -> Iterator[tuple[int, int]]:
        """Ranges of instances whose words fit into memory, including the copies for the results."""
        words = len(self.graph.block.ins) + 2 * results
        fit = max(1, int(MEMORY * self.runner.free_bytes()) // (8 * max(1, words)))
        size = min(fit, self.piece or total)
        for first in range(0, total, max(1, size)):
            yield first, min(first + size, total)

    # ---- rollouts
    def rollout_pieces(
        self,
        state: Any,
        *held: Any,
        steps: int,
        record_every: int | None = None,
        in_axes: Sequence[int | None] | None = None,
        progress: Progress | None = None,
    ) -> Iterator[RolloutPiece]:
        """Yield rollouts of many instances, as many at a time as the card's memory holds.

        A caller who stops early, by Ctrl-C or by leaving the loop, keeps the pieces received so far.
        """
        self._require_step(steps)
        flat, chosen = self.structure.flatten((state, *held)), axes(in_axes, 1 + len(held))
        total, size = batch_size(flat, chosen), self.graph.signature.state_size
        rows = steps // record_every if record_every else 0
        for first, end in self._piece_ranges(total, size * (1 + rows)):
            cut = [_slice_instances(leaves, axis, first, end) for leaves, axis in zip(flat, chosen, strict=True)]
            run = _DeviceRollout(self, cut, chosen, end - first, rows, record_every or 0)
            for done in run.advance(steps):
                if progress:
                    progress(first * steps + done * (end - first), total * steps)
            yield RolloutPiece(first, end, self.structure.result(run.state(), state), self._record(run.record(), state))

    def _record(self, leaves: list[np.ndarray] | None, like: Any) -> Any:
        return None if leaves is None else self.structure.result(leaves, like)

    def rollout_batch(
        self,
        state: Any,
        *held: Any,
        steps: int,
        record_every: int | None = None,
        in_axes: Sequence[int | None] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        scalar: bool = False,
    ) -> Rollout:
        """Rollouts of many instances: the pieces of :meth:`rollout_pieces` in one."""
        options = {"steps": steps, "record_every": record_every, "in_axes": in_axes, "progress": progress}
        pieces = list(self.rollout_pieces(state, *held, **options))
        if len(pieces) == 1:
            return Rollout(pieces[0].state, pieces[0].record)
        import jax

        join = lambda *parts: np.concatenate(parts)  # noqa: E731
        final = jax.tree_util.tree_map(join, *(p.state for p in pieces))
        return Rollout(final, jax.tree_util.tree_map(join, *(p.record for p in pieces)) if record_every else None)

    def rollout_seconds(self, state: Any, *held: Any, steps: int, record_every: int | None = None) -> float:
        """Time that the device takes for a rollout of all instances, without copies [s]; for benchmarks."""
        flat, chosen = self.structure.flatten((state, *held)), [0] * (1 + len(held))
        every = record_every or 0
        run = _DeviceRollout(self, flat, chosen, batch_size(flat, chosen), steps // every if every else 0, every)

        def work() -> None:
            for _ in run.advance(steps):
                pass

        return self.runner.seconds(work)

    def rollout_chunks(
        self, state: Any, *held: Any, steps: int, chunk: int | None = None, record_every: int | None = None
    ) -> Iterator[Chunk]:
        """Rollout of one instance in chunks of steps: slow on a card, but the interface is the same for all targets."""
        self._require_step(steps)
        flat = [[np.asarray(v)[None] for v in leaves] for leaves in self.structure.flatten((state, *held))]
        every = record_every or 0
        run = _DeviceRollout(self, flat, [0] * len(flat), 1, steps // every if every else 0, every)
        before = 0
        for done in run.advance(steps, chunk):
            record = run.record(before, run.recorded)
            before = run.recorded
            single = None if record is None else self.structure.result([r[0] for r in record], state)
            yield Chunk(done, self.structure.result([s[0] for s in run.state()], state), single)


class _DeviceRollout:
    """Rollouts in progress on the device."""

    def __init__(
        self, program: Gpu, flat: list[list[Any]], chosen: Sequence[int | None], count: int, rows: int, every: int
    ) -> None:
        self.program, self.count, self.every = program, count, every
        self.runner, self.leaves = program.runner, program.graph.signature.arguments[0]
        shared = chosen[0] is None
        arrays = [
            leaf_array(v, leaf, "Argument 0", None if shared else count)
            for v, leaf in zip(flat[0], self.leaves, strict=True)
        ]
        if shared:
            arrays = [np.broadcast_to(a, (count, *a.shape)) for a in arrays]
        self.states = to_words(self.runner, arrays, self.leaves)
        self.inputs, self.places = program._inputs(flat, chosen, count, 1)
        self.records = self.runner.xp.empty((rows, *self.states.shape)) if rows else self.states
        self.rows, self.recorded, self.done = rows, 0, 0

    def advance(self, steps: int, chunk: int | None = None) -> Iterator[int]:
        """Launch the kernel repeatedly; yields the number of steps done after each launch."""
        operations = max(1, self.program.operations["total"])
        size = chunk or max(1, int(LAUNCH_OPERATIONS / (operations * self.count)))
        launch = self.program.kernel("rollout", self._fastest_shape())
        while self.done < steps:
            now = min(size, steps - self.done)
            due = self.every - self.done % self.every if self.every else -1
            records = self.records[self.recorded :] if self.recorded < self.rows else self.records
            self._launch(launch, self.states, records, now, due)
            self.runner.wait()
            self.done += now
            self.recorded = self.done // self.every if self.every else 0
            yield self.done

    def _launch(self, kernel: Launch, states: Any, records: Any, steps: int, due: int) -> None:
        counts = (np.int64(n) for n in (self.count, steps, self.every, due))
        kernel(self.count, states, self.inputs, self.places, records, *counts)

    def _fastest_shape(self) -> KernelShape:
        """Layout that is fastest for these instances, measured on a copy of their states.

        Results of different layouts differ in the last digit, so all later rollouts use the same layout.
        """
        program = self.program
        if program.chosen or self.count < TRIED_FROM:
            return program.chosen or program.shapes[0]
        steps = 1 + int(TRIAL_OPERATIONS / (max(1, program.operations["total"]) * self.count))

        def seconds(kernel: Launch) -> float:
            states = self.states.copy()
            self._launch(kernel, states, states, 1, -1)  # the first launch also loads the code
            return self.runner.seconds(lambda: self._launch(kernel, states, states, steps, -1))

        program.chosen = program._builder.fastest("rollout", program.shapes, seconds)
        return program.chosen

    def state(self) -> list[np.ndarray]:
        """Present states, as one array per leaf."""
        return from_words(self.runner, self.states, self.leaves)

    def record(self, first: int = 0, end: int | None = None) -> list[np.ndarray] | None:
        """Recorded rows, as one array per leaf with axes (instance, row)."""
        if not self.every:
            return None
        empty = self.runner.xp.empty((0, *self.states.shape))
        return from_words(self.runner, self.records[first:end] if self.rows else empty, self.leaves)


def _slice_instances(leaves: Sequence[Any], axis: int | None, first: int, end: int) -> list[Any]:
    """Leaves of the instances from `first` to `end`; shared leaves are left whole."""
    if axis is None:
        return list(leaves)
    counts = {len(np.atleast_1d(v)) for v in leaves}
    if len(counts) > 1:
        raise SignatureError(f"Leaves of one argument hold different numbers of instances: {sorted(counts)}.")
    return [v[first:end] for v in map(np.asarray, leaves)]
