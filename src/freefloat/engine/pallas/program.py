"""The gpu target: rollouts as one kernel; where no GPU exists, plain JAX with a notice."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.engine.graph import Graph, Leaf
from freefloat.engine.runtime.jitted import Jitted
from freefloat.engine.runtime.program import Chunk, Compiled, Rollout, axes, batch_size
from freefloat.engine.runtime.structure import NUMPY, Structure, checked

from .kernel import STORED, Rows, Shape, group, rollout_kernel
from .lanes import as_function


class Lanes(Compiled):
    """A function on a GPU. Single calls and plain batches run under ``jit``; rollouts are one kernel."""

    target = "gpu"

    def __init__(
        self,
        function: Callable[..., Any] | None,
        graph: Graph,
        structure: Structure,
        *,
        lanes: int = Shape.lanes,
        warps: int = Shape.warps,
        interpret: bool = False,
    ) -> None:
        super().__init__(graph, structure)
        self.shape = Shape(lanes, warps, interpret)
        self.has_gpu = jax.default_backend() == "gpu"
        if not self.has_gpu and not interpret:
            warnings.warn("No GPU: target 'gpu' runs under jax.jit and vmap instead.", stacklevel=4)
        self._jitted = Jitted(function or as_function(graph, structure), graph, structure)
        self._kernels: dict[Any, Any] = {}

    def __call__(self, *args: Any) -> Any:
        """The function's result, under ``jit``."""
        return self._jitted(*args)

    def batch(self, *args: Any, in_axes: Sequence[int | None] | None = None, threads: int | None = None) -> Any:
        """Results for many instances: the scalar graph over arrays of instances, under ``jit``."""
        return self._jitted.batch(*args, in_axes=in_axes)

    def rollout_chunks(
        self, state: Any, *held: Any, steps: int, chunk: int | None = None, record_every: int | None = None
    ) -> Iterator[Chunk]:
        """One instance gains nothing from a GPU: plain JAX."""
        return self._jitted.rollout_chunks(state, *held, steps=steps, chunk=chunk, record_every=record_every)

    def rollout_batch(
        self,
        state: Any,
        *held: Any,
        steps: int,
        record_every: int | None = None,
        in_axes: Sequence[int | None] | None = None,
        threads: int | None = None,
    ) -> Rollout:
        """Many rollouts in one kernel; the batch is filled up to whole blocks of lanes."""
        self._require_step(steps)
        if not self.has_gpu and not self.shape.interpret:
            return self._jitted.rollout_batch(state, *held, steps=steps, record_every=record_every, in_axes=in_axes)
        states, helds, total = self.pack(state, *held, in_axes=in_axes)
        finals, records = self.kernel(steps, record_every)(states, helds)
        return self.unpack(state, finals, records if record_every else None, total)

    def kernel(self, steps: int, record_every: int | None = None) -> Any:
        """The jitted kernel of a rollout, on packed device arrays: for repeated launches without copies."""
        key = (steps, record_every or 0)
        if key not in self._kernels:
            self._kernels[key] = jax.jit(rollout_kernel(self.graph, *key, self.shape))
        return self._kernels[key]

    def pack(
        self, state: Any, *held: Any, in_axes: Sequence[int | None] | None = None
    ) -> tuple[list[Any], list[Any], int]:
        """States and held arguments as arrays of rows, one per type, and the number of instances."""
        flat = self.structure.flatten((state, *held))
        chosen = axes(in_axes, 1 + len(held))
        total = batch_size(flat, chosen)
        padded = -(-total // self.shape.lanes) * self.shape.lanes
        rows: list[list[Any]] = [[], []]
        for k, (values, leaves) in enumerate(zip(flat, self.graph.signature.arguments, strict=True)):
            for value, leaf in zip(values, leaves, strict=True):
                array = checked(value, leaf, f"Argument {k}", None if chosen[k] is None else total)
                spread = np.broadcast_to(array, (total, *leaf.shape)).reshape(total, leaf.size)
                rows[k > 0].extend(np.pad(spread, ((0, padded - total), (0, 0)), mode="edge").T)
        size = self.graph.signature.state_size
        dtypes = [n.dtype for n in self.graph.block.ins]
        groups = group(dtypes[:size]), group(dtypes[size:])
        return _stacked(groups[0], rows[0]), _stacked(groups[1], rows[1]), total

    def unpack(self, state: Any, finals: Any, records: Any, total: int) -> Rollout:
        """Kernel results as pytrees of numpy arrays, cut back to the real instances."""
        size = self.graph.signature.state_size
        parts = group([n.dtype for n in self.graph.block.ins][:size])
        leaves = self.graph.signature.results
        final = [_leaf(leaf, columns, total) for leaf, columns in _columns(parts, finals, leaves)]
        result = self.structure.result(final, state)
        if records is None:
            return Rollout(result, None)
        recorded = [_leaf(leaf, columns, total) for leaf, columns in _columns(parts, records, leaves)]
        return Rollout(result, self.structure.result(recorded, state))


def _stacked(parts: list[Rows], rows: list[Any]) -> list[Any]:
    return [jnp.asarray(np.stack([rows[k] for k in p.numbers]).astype(STORED[p.dtype])) for p in parts]


def _columns(parts: list[Rows], arrays: Any, leaves: Sequence[Leaf]) -> Iterator[tuple[Leaf, list[np.ndarray]]]:
    """For every leaf the rows of its scalars; a recorded row has the record axis first."""
    scalars: dict[int, np.ndarray] = {}
    for part, array in zip(parts, arrays, strict=True):
        values = np.asarray(array)
        for k, number in enumerate(part.numbers):
            scalars[number] = values[..., k, :]
    first = 0
    for leaf in leaves:
        yield leaf, [scalars[first + k] for k in range(leaf.size)]
        first += leaf.size


def _leaf(leaf: Leaf, columns: list[np.ndarray], total: int) -> np.ndarray:
    """A leaf with the instance axis first, then the record axis if there is one."""
    stacked = np.stack([c[..., :total] for c in columns], axis=-1).astype(NUMPY[leaf.dtype])
    ordered = np.moveaxis(stacked, -2, 0)
    return np.ascontiguousarray(ordered).reshape(*ordered.shape[:-1], *leaf.shape)
