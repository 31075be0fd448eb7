"""Common interface of compiled functions for all targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from freefloat.engine.errors import EngineError, SignatureError, TargetError
from freefloat.engine.graph import Graph

from .structure import CallStructure

if TYPE_CHECKING:
    from .stepping import Stepping, Watching


class Rollout(NamedTuple):
    """Final state of a rollout, and the states recorded on the way (a leading axis; None if none)."""

    state: Any
    record: Any


class Chunk(NamedTuple):
    """State of a rollout: steps done, present state, and the states recorded since the last chunk."""

    done: int
    state: Any
    record: Any


@dataclass(frozen=True)
class Summary:
    """Facts about a graph that are needed after it has been compiled."""

    hash: str
    operations: dict[str, int]


class Compiled(ABC):
    """A function compiled for one target, called with the pytrees it was compiled for; numpy in and out.

    ``rollout`` and its relatives repeat a step function ``f(state, *held) -> state``. They record
    the state after every ``record_every`` steps, so ``steps // record_every`` rows.
    """

    target: str

    title: str = "a graph"  # name of the function in progress reports
    notes: Any = None  # plain data found while tracing: see ``compile``

    def __init__(
        self, graph: Graph | Callable[[], Graph], structure: CallStructure, summary: Summary | None = None
    ) -> None:
        self._graph, self.structure, self._summary = graph, structure, summary

    @cached_property
    def graph(self) -> Graph:
        """The function as scalar operations; traced now if it was not traced before."""
        if isinstance(self._graph, Graph):
            return self._graph
        graph = self._graph()
        if self._summary is not None and graph.hash != self._summary.hash:
            raise EngineError("The code of a compiled function has changed since it was compiled. Compile it again.")
        return graph

    @cached_property
    def summary(self) -> Summary:
        """Hash and operations of the graph, known without the graph where the code was found on disk."""
        return self._summary or Summary(self.graph.hash, self.graph.operations)

    @property
    def operations(self) -> dict[str, int]:
        """Number of scalar operations of one call by kind, and their ``total``."""
        return self.summary.operations

    @property
    def source(self) -> str:
        """Generated source text; raises an error for a target without one."""
        raise AttributeError(f"Target '{self.target}' has no source text; 'c' has.")

    def stepping(self, state: Any, *held: Any) -> Stepping:
        """Rollout of one instance that the caller advances step by step."""
        raise TargetError(f"Target '{self.target}' cannot be stepped from outside; 'native' can.")

    def watching(self, steps: Stepping, *held: Any) -> Watching:
        """This function of the present state of a `Stepping`, whose leaves are those of its first argument."""
        raise TargetError(f"Target '{self.target}' cannot watch what is stepped; 'native' can.")

    @abstractmethod
    def __call__(self, *args: Any) -> Any:
        """Result of the function for these arguments."""

    @abstractmethod
    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None, threads: int | None = None) -> Any:
        """Results for many instances: all leaves have a leading axis, except those of arguments with axis None."""

    @abstractmethod
    def rollout_chunks(
        self, state: Any, *held: Any, steps: int, chunk: int | None = None, record_every: int | None = None
    ) -> Iterator[Chunk]:
        """Rollout in chunks of steps, so that the caller can report or stop in between; results have the same bits."""

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
        """Rollouts of many instances side by side; records have axes (instance, row).

        ``scalar``: use the code of single rollouts, so that no other code is compiled; the same bits.
        """

    def rollout(self, state: Any, *held: Any, steps: int, record_every: int | None = None) -> Rollout:
        """State after `steps` steps, and the states recorded on the way."""
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
        """Raise an error unless the function is a step function and the number of steps is valid."""
        if not isinstance(steps, (int, np.integer)) or steps < 0:
            raise SignatureError(f"steps must be a whole number, zero or more, got {steps!r}.")
        if not self.structure.signature.is_step:
            raise SignatureError("Only f(state, *held) -> state can be rolled out: result and first argument differ.")


def batch_size(flat: Sequence[Sequence[Any]], in_axes: Sequence[int | None]) -> int:
    """Number of instances that the arguments hold."""
    for leaves, axis in zip(flat, in_axes, strict=True):
        if axis is not None and leaves:
            return len(leaves[0])
    raise SignatureError("No argument has a batch axis.")


def axes(in_axes: Sequence[int | None] | None, count: int) -> list[int | None]:
    """Batch axis of each argument: 0 for one value per instance, None for a shared one."""
    chosen: list[int | None] = [0] * count if in_axes is None else list(in_axes)
    if len(chosen) != count or any(a not in (0, None) for a in chosen):
        raise SignatureError(f"in_axes must hold 0 or None for each of {count} arguments; got {in_axes}.")
    return chosen
