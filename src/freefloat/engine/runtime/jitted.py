"""The jax target: the function itself under ``jax.jit``, behind the same interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from freefloat.engine.graph import Graph

from .program import Chunk, Compiled, Rollout, axes
from .structure import CallStructure


def to_numpy(tree: Any) -> Any:
    """Convert every leaf of a tree to a NumPy array."""
    import jax

    return jax.tree_util.tree_map(np.asarray, tree)


class JaxProgram(Compiled):
    """A function run by plain JAX, the reference for the tests of all other targets."""

    target = "jax"

    def __init__(
        self, function: Callable[..., Any], graph: Graph | Callable[[], Graph], structure: CallStructure
    ) -> None:
        super().__init__(graph, structure)
        import jax

        self.function = function
        self._jitted = jax.jit(function)
        self._compiled: dict[Any, Any] = {}

    def __call__(self, *args: Any) -> Any:
        """Result of the function for these arguments."""
        self.structure.flatten(args)
        return to_numpy(self._jitted(*args))

    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None, threads: int | None = None) -> Any:
        """Results of the function for many instances by ``vmap``; JAX chooses its own threads."""
        import jax

        chosen = tuple(axes(in_axes, len(args)))
        key = ("batch", chosen)
        if key not in self._compiled:
            self._compiled[key] = jax.jit(jax.vmap(self.function, in_axes=chosen))
        return to_numpy(self._compiled[key](*args))

    def rollout_chunks(
        self, state: Any, *held: Any, steps: int, chunk: int | None = None, record_every: int | None = None
    ) -> Iterator[Chunk]:
        """Rollout in chunks of steps; a chunk with records ends at a recorded step."""
        self._require_step(steps)
        every = record_every or 0
        size = chunk or steps
        if every:
            size = max(every, size - size % every)
        done = 0
        while done < steps:
            now = min(size, steps - done)
            state, record = self._advance(now, every, None)(state, *held)
            done += now
            yield Chunk(done, to_numpy(state), to_numpy(record) if every else None)

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
        """Rollouts of many instances by ``vmap``."""
        self._require_step(steps)
        chosen = tuple(axes(in_axes, 1 + len(held)))
        final, record = self._advance(steps, record_every or 0, chosen)(state, *held)
        return Rollout(to_numpy(final), to_numpy(record) if record_every else None)

    def _advance(self, steps: int, every: int, in_axes: tuple[int | None, ...] | None) -> Any:
        """Jitted function that runs `steps` steps and returns the last state and that after every `every` steps."""
        import jax

        key = (steps, every, in_axes)
        if key in self._compiled:
            return self._compiled[key]

        def repeat(state: Any, count: int, held: Any) -> Any:
            return jax.lax.fori_loop(0, count, lambda _, s: self.function(s, *held), state)

        def advance(state: Any, *held: Any) -> Any:
            if not every:
                return repeat(state, steps, held), None

            def row(s: Any, _: Any) -> Any:
                s = repeat(s, every, held)
                return s, s

            state, record = jax.lax.scan(row, state, None, length=steps // every)
            return repeat(state, steps % every, held), record

        mapped = advance if in_axes is None else jax.vmap(advance, in_axes=in_axes)
        self._compiled[key] = jax.jit(mapped)
        return self._compiled[key]
