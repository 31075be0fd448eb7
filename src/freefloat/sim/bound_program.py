"""A compiled function bound to memory of its own: arguments and results stay in place, a call allocates nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from freefloat.engine.runtime.native import Native
from freefloat.sim.system.system import System
from freefloat.sim.system.varied_numbers import compile_system


class BoundProgram:
    """Compiled `function(system, *arguments)`; `arguments` and `result` are views of its memory, nested as given."""

    def __init__(self, function: Callable[..., Any], system: System, *arguments: Any) -> None:
        program = compile_system(function, system, *arguments)
        compiled = program.compiled
        assert isinstance(compiled, Native)
        self._bound = compiled.bind()
        views, first = self._bound.inputs, 0
        nested = []
        for argument in (*arguments, program.numbers):
            leaves, structure = jax.tree_util.tree_flatten(argument)
            own = views[first : first + len(leaves)]
            for view, leaf in zip(own, leaves, strict=True):
                view[...] = np.asarray(leaf)
            nested.append(jax.tree_util.tree_unflatten(structure, own))
            first += len(leaves)
        self.arguments: tuple[Any, ...] = tuple(nested[:-1])
        self.result: Any = compiled.structure.result(list(self._bound.outputs))
        self.call = self._bound.__call__
        self.feed_back = self._bound.feed_back

    def __call__(self) -> Any:
        """Compute the result from the arguments."""
        self.call()
        return self.result


class Transfer:
    """Copies values from one program's memory to another's; each pair lies together in both, and is copied at once."""

    def __init__(self, *pairs: tuple[Any, Any]) -> None:
        self._pairs = [(memory_of(source), memory_of(target)) for source, target in pairs]

    def __call__(self) -> None:
        """Copy the values of every pair."""
        for source, target in self._pairs:
            target[:] = source


def memory_of(tree: Any) -> np.ndarray:
    """One-dimensional view of leaves that lie one after the other in a program's memory."""
    leaves = [leaf for leaf in jax.tree.leaves(tree) if leaf.size]
    if not leaves:
        return np.zeros(0)
    whole, at = leaves[0].base, leaves[0].ctypes.data
    first = (at - whole.ctypes.data) // whole.itemsize
    for leaf in leaves:
        assert leaf.ctypes.data == at
        at += leaf.nbytes
    return whole[first : first + sum(leaf.size for leaf in leaves)]
