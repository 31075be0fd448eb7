"""One instance that the caller advances step by step; its state stays in memory slots between the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freefloat.engine.errors import SignatureError
from freefloat.engine.graph import GraphSignature, Leaf

from .code import POINTER, Code, TieredCode
from .structure import NUMPY, CallStructure, leaf_array


class Stepping:
    """A step function with its state and its held arguments; `step()` is one step of a rollout, with the same bits.

    Values that depend on held arguments alone are computed once. Not to be shared between threads.
    """

    def __init__(self, code: TieredCode, cost: int, structure: CallStructure, args: Sequence[Any]) -> None:
        self.structure, leaves = structure, structure.signature.arguments[0]
        state, *held = structure.flatten(args)
        areas = [np.zeros(structure.signature.state_size) for _ in range(2)]
        self._now, self._then = (_StateSlots(area, leaves) for area in areas)  # they are swapped at every step
        self._held = _HeldArguments(code, cost, structure, held)
        self._now.write(state, leaves)

    @property
    def leaves(self) -> list[np.ndarray]:
        """Views of the present state, which may be written to before the next step; other memory after each step.

        Integers and truth values are 64-bit integers.
        """
        return self._now.views

    @property
    def pointer(self) -> Any:
        """Pointer to the present state."""
        return self._now.pointer

    @property
    def state(self) -> Any:
        """Copy of the present state, nested as the result of the function."""
        return self.structure.result(copy_leaves(self._now.views, self.structure.signature.arguments[0]))

    def set_state(self, state: Any) -> None:
        """Continue from another state."""
        import jax

        flat, leaves = jax.tree_util.tree_leaves(state), self.structure.signature.arguments[0]
        if len(flat) != len(leaves):
            raise SignatureError(f"The state has {len(flat)} leaves; the function was compiled for {len(leaves)}.")
        self._now.write(flat, leaves)

    def step(self) -> None:
        """Advance the state by one step."""
        self._held.call_again(self._now.pointer, self._then.pointer)
        self._now, self._then = self._then, self._now


class Watching:
    """A function of the present state of a `Stepping` and of held arguments."""

    def __init__(
        self, code: TieredCode, cost: int, structure: CallStructure, steps: Stepping, held: Sequence[Any]
    ) -> None:
        self._steps, self._leaves = steps, structure.signature.results
        own, stepped = structure.signature.arguments[0], steps.structure.signature.arguments[0]
        if [(leaf.shape, leaf.dtype) for leaf in own] != [(leaf.shape, leaf.dtype) for leaf in stepped]:
            raise SignatureError("The first argument has other leaves than the state that is stepped.")
        results = np.zeros(sum(leaf.size for leaf in self._leaves))
        self._views, self._pointer = slot_views(results, self._leaves, 0), POINTER(results.ctypes.data)
        self._held = _HeldArguments(code, cost, structure, _flat_held(structure, held))

    def __call__(self) -> list[np.ndarray]:
        """Leaves of the result at the present state, as new arrays."""
        self._held.call(self._steps.pointer, self._pointer)
        return copy_leaves(self._views, self._leaves)


class _StateSlots:
    """Memory slots of a state."""

    def __init__(self, area: np.ndarray, leaves: Sequence[Leaf]) -> None:
        self.views, self.pointer = slot_views(area, leaves, 0), POINTER(area.ctypes.data)

    def write(self, values: Sequence[Any], leaves: Sequence[Leaf]) -> None:
        """Write other values, if all of them fit."""
        _write(self.views, [leaf_array(value, leaf, "The state") for value, leaf in zip(values, leaves, strict=True)])


class _HeldArguments:
    """Held arguments in memory, with the frame in which code keeps the values that depend on them alone."""

    def __init__(self, code: TieredCode, cost: int, structure: CallStructure, held: Sequence[Sequence[Any]]) -> None:
        self._by_need, self._cost, signature = code, cost, structure.signature
        leaves = [leaf for argument in signature.arguments[1:] for leaf in argument]
        values = [value for argument in held for value in argument]
        self._area = np.zeros(max(1, sum(leaf.size for leaf in leaves)))
        views = slot_views(self._area, leaves, 0)
        _write(views, [leaf_array(value, leaf, "An argument") for value, leaf in zip(values, leaves, strict=True)])
        self._pointer = POINTER(self._area.ctypes.data)
        self._prepared: Code | None = None  # the code that has written the frame
        self._settled: Code | None = None  # the code, once no other will replace it
        self._work: np.ndarray | None = None
        self._frame: Any = None

    def call(self, state: Any, out: Any) -> None:
        """Compute the function of the state at one pointer and write the result to another pointer."""
        code = self._settled or self._current_code()
        code.call(state, self._pointer, out, self._frame)

    def call_again(self, state: Any, out: Any) -> None:
        """Compute a step function, without computing the unchanged values of held arguments again."""
        before = self._prepared
        code = self._settled or self._current_code()
        (code.again if code is before else code.call)(state, self._pointer, out, self._frame)

    def _current_code(self) -> Code:
        """Best code at present, with its own frame."""
        is_final = self._by_need.is_final  # read before the code: code that will be replaced must not stay
        code = self._by_need.code_for(self._cost)
        if code is not self._prepared:
            self._work = code.work()
            self._frame, self._prepared = POINTER(self._work.ctypes.data), code
        self._settled = code if is_final else None
        return code


def slot_views(work: np.ndarray, leaves: Sequence[Leaf], first: int) -> list[np.ndarray]:
    """Views of leaves in slots, where integers and truth values are 64-bit words."""
    views = []
    for leaf in leaves:
        part = work[first : first + leaf.size]
        views.append((part if leaf.dtype == "f64" else part.view(np.int64)).reshape(leaf.shape))
        first += leaf.size
    return views


def copy_leaves(views: Sequence[np.ndarray], leaves: Sequence[Leaf]) -> list[np.ndarray]:
    """Copies of leaves in slots, as arrays of the types that the caller uses."""
    return [
        view.copy() if leaf.dtype == "f64" else view.astype(NUMPY[leaf.dtype])
        for view, leaf in zip(views, leaves, strict=True)
    ]


def _flat_held(structure: CallStructure, held: Sequence[Any]) -> list[list[Any]]:
    """Leaves of the arguments after the first."""
    inner = CallStructure(GraphSignature(structure.signature.arguments[1:], ()), (structure.in_trees or ())[1:] or None)
    return inner.flatten(held)


def _write(views: Sequence[np.ndarray], values: Sequence[Any]) -> None:
    for view, value in zip(views, values, strict=True):
        view[...] = value
