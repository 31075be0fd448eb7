"""What every target's compiled function offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freefloat.engine.errors import EngineError, SignatureError, TargetError
from freefloat.engine.graph import Graph

from .structure import Structure

if TYPE_CHECKING:
    from .stepping import Stepping, Watching


class Rollout(NamedTuple):
    """Where a rollout ended, and the states it recorded on the way (a leading axis; None if none)."""

    state: Any
    record: Any


class Chunk(NamedTuple):
    """A rollout so far: steps done, present state, and the states recorded since the last chunk."""

    done: int
    state: Any
    record: Any


@dataclass(frozen=True)
class Summary:
    """What is asked of a graph after it has been compiled."""

    hash: str
    operations: dict[str, int]


class Compiled(ABC):
    """A function compiled for one target, called with the pytrees it was compiled for; numpy in and out.

    ``rollout`` and its relatives repeat a step function ``f(state, *held) -> state``. They record
    the state after every ``record_every`` steps, so ``steps // record_every`` rows.
    """

    target: str

    title: str = "a graph"  # what the function is called, in reports of its making
    notes: Any = None  # what was learnt while tracing: see ``compile``

    def __init__(
        self, graph: Graph | Callable[[], Graph], structure: Structure, summary: Summary | None = None
    ) -> None:
        self._graph, self.structure, self._summary = graph, structure, summary

    @cached_property
    def graph(self) -> Graph:
        """The function as scalar operations; traced when it is asked for, where it was not before."""
        if isinstance(self._graph, Graph):
            return self._graph
        found = self._graph()
        if self._summary is not None and found.hash != self._summary.hash:
            raise EngineError("The code of a compiled function has changed since it was compiled. Compile it again.")
        return found

    @cached_property
    def summary(self) -> Summary:
        """The graph's hash and operations, known without it where the code was found on disk."""
        return self._summary or Summary(self.graph.hash, self.graph.operations)

    @property
    def operations(self) -> dict[str, int]:
        """Scalar operations of one call by kind, and their ``total``."""
        return self.summary.operations

    @property
    def source(self) -> str:
        """The generated text, where a target has one."""
        raise AttributeError(f"Target '{self.target}' has no source text; 'c' has.")

    def stepping(self, state: Any, *held: Any) -> Stepping:
        """A rollout of one instance that is asked for step by step."""
        raise TargetError(f"Target '{self.target}' cannot be stepped from outside; 'native' can.")

    def watching(self, steps: Stepping, *held: Any) -> Watching:
        """This function of the present state of a stepping, whose leaves are those of its first argument."""
        raise TargetError(f"Target '{self.target}' cannot watch what is stepped; 'native' can.")

    @abstractmethod
    def __call__(self, *args: Any) -> Any:
        """The function's result."""

    @abstractmethod
    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None, threads: int | None = None) -> Any:
        """Results for many instances: a leading axis on every leaf but those of arguments with axis None."""

    @abstractmethod
    def rollout_chunks(
        self, state: Any, *held: Any, steps: int, chunk: int | None = None, record_every: int | None = None
    ) -> Iterator[Chunk]:
        """A rollout in pieces, so that the caller can report or stop in between; bitwise the same."""

    @abstractmethod
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
        """Many rollouts side by side; records have axes (instance, row).

        ``scalar``: by the code of single rollouts, so that no other need be compiled; the same bits.
        """

    def rollout(self, state: Any, *held: Any, steps: int, record_every: int | None = None) -> Rollout:
        """The state after so many steps, and the recorded ones in between."""
        import jax

        last, records = Chunk(0, state, None), []
        for last in self.rollout_chunks(state, *held, steps=steps, record_every=record_every):
            records.append(last.record)
        if record_every is None or not records:
            return Rollout(last.state, None)
        if len(records) == 1:
            return Rollout(last.state, records[0])
        return Rollout(last.state, jax.tree_util.tree_map(lambda *parts: np.concatenate(parts), *records))

    def _require_step(self, steps: int) -> None:
        if not isinstance(steps, (int, np.integer)) or steps < 0:
            raise SignatureError(f"steps must be a whole number, zero or more, got {steps!r}.")
        if not self.structure.signature.is_step:
            raise SignatureError("Only f(state, *held) -> state can be rolled out: result and first argument differ.")


def batch_size(flat: Sequence[Sequence[Any]], in_axes: Sequence[int | None]) -> int:
    """How many instances the arguments hold."""
    for leaves, axis in zip(flat, in_axes, strict=True):
        if axis is not None and leaves:
            return len(leaves[0])
    raise SignatureError("No argument has a batch axis.")


def axes(in_axes: Sequence[int | None] | None, count: int) -> list[int | None]:
    """One entry per argument: 0 batched, None shared."""
    chosen: list[int | None] = [0] * count if in_axes is None else list(in_axes)
    if len(chosen) != count or any(a not in (0, None) for a in chosen):
        raise SignatureError(f"in_axes must hold 0 or None for each of {count} arguments; got {in_axes}.")
    return chosen
