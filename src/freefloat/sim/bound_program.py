"""A compiled function on memory of its own: arguments are written in place, results read in place, nothing is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from freefloat.engine.runtime.native import Native
from freefloat.sim.system.system import System
from freefloat.sim.system.varied_numbers import compile_system


class BoundProgram:
    """`function(system, *arguments)` compiled; `arguments` and `result` are its memory, nested as they were given."""

    def __init__(self, function: Callable[..., Any], system: System, *arguments: Any) -> None:
        program = compile_system(function, system, *arguments)
        compiled = program.compiled
        assert isinstance(compiled, Native)
        self._bound = compiled.bind()
        views, first = self._bound.inputs, 0
        kept = []
        for argument in (*arguments, program.numbers):
            leaves, structure = jax.tree_util.tree_flatten(argument)
            own = views[first : first + len(leaves)]
            for view, leaf in zip(own, leaves, strict=True):
                view[...] = np.asarray(leaf)
            kept.append(jax.tree_util.tree_unflatten(structure, own))
            first += len(leaves)
        self.arguments: tuple[Any, ...] = tuple(kept[:-1])
        self.result: Any = compiled.structure.result(list(self._bound.outputs))
        self.call = self._bound.__call__
        self.feed_back = self._bound.feed_back

    def __call__(self) -> Any:
        """Compute the result from the arguments."""
        self.call()
        return self.result


class Transfer:
    """Copies from one program's memory to another's; what lies together in both is copied at once."""

    def __init__(self, *pairs: tuple[Any, Any]) -> None:
        self._pairs = [(memory_of(source), memory_of(target)) for source, target in pairs]

    def __call__(self) -> None:
        """Copy now."""
        for source, target in self._pairs:
            target[:] = source


def memory_of(tree: Any) -> np.ndarray:
    """Leaves of a program's memory that lie one after the other, as one row of numbers."""
    leaves = [leaf for leaf in jax.tree.leaves(tree) if leaf.size]
    if not leaves:
        return np.zeros(0)
    whole, at = leaves[0].base, leaves[0].ctypes.data
    first = (at - whole.ctypes.data) // whole.itemsize
    for leaf in leaves:
        assert leaf.ctypes.data == at
        at += leaf.nbytes
    return whole[first : first + sum(leaf.size for leaf in leaves)]
