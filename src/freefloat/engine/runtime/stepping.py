"""One instance stepped from outside: its state lies in slots from one step to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freefloat.engine.errors import SignatureError
from freefloat.engine.graph import Leaf, Signature

from .code import POINTER, Code, CodeByNeed
from .structure import NUMPY, Structure, checked


class Stepping:
    """A step function with its state and its held arguments: `step()` is one step of a rollout, bit for bit.

    What depends on held arguments alone is computed once. Not to be shared between threads.
    """

    def __init__(self, code: CodeByNeed, cost: int, structure: Structure, args: Sequence[Any]) -> None:
        self.structure, leaves = structure, structure.signature.arguments[0]
        state, *held = structure.flatten(args)
        areas = [np.zeros(structure.signature.state_size) for _ in range(2)]
        self._now, self._then = (_State(area, leaves) for area in areas)  # they change places at every step
        self._held = _Held(code, cost, structure, held)
        self._now.write(state, leaves)

    @property
    def leaves(self) -> list[np.ndarray]:
        """The present state where it lies, to be written to before the next step; other memory after each step.

        Integers and truth values are 64-bit integers.
        """
        return self._now.views

    @property
    def pointer(self) -> Any:
        """Where the present state lies."""
        return self._now.pointer

    @property
    def state(self) -> Any:
        """A copy of the present state, nested as it was given."""
        return self.structure.result(copied(self._now.views, self.structure.signature.arguments[0]))

    def put(self, state: Any) -> None:
        """Go on from another state."""
        import jax

        flat, leaves = jax.tree_util.tree_leaves(state), self.structure.signature.arguments[0]
        if len(flat) != len(leaves):
            raise SignatureError(f"The state has {len(flat)} leaves; the function was compiled for {len(leaves)}.")
        self._now.write(flat, leaves)

    def step(self) -> None:
        """One step."""
        self._held.call_again(self._now.pointer, self._then.pointer)
        self._now, self._then = self._then, self._now


class Watching:
    """A function of the state of a `Stepping` and of held arguments, as it is asked for."""

    def __init__(self, code: CodeByNeed, cost: int, structure: Structure, steps: Stepping, held: Sequence[Any]) -> None:
        self._steps, self._leaves = steps, structure.signature.results
        wanted, there = structure.signature.arguments[0], steps.structure.signature.arguments[0]
        if [(leaf.shape, leaf.dtype) for leaf in wanted] != [(leaf.shape, leaf.dtype) for leaf in there]:
            raise SignatureError("The first argument has other leaves than the state that is stepped.")
        results = np.zeros(sum(leaf.size for leaf in self._leaves))
        self._views, self._pointer = slot_views(results, self._leaves, 0), POINTER(results.ctypes.data)
        self._held = _Held(code, cost, structure, _flat_held(structure, held))

    def __call__(self) -> list[np.ndarray]:
        """Leaves of the result, as arrays of their own."""
        self._held.call(self._steps.pointer, self._pointer)
        return copied(self._views, self._leaves)


class _State:
    """Memory of a state."""

    def __init__(self, area: np.ndarray, leaves: Sequence[Leaf]) -> None:
        self.views, self.pointer = slot_views(area, leaves, 0), POINTER(area.ctypes.data)

    def write(self, values: Sequence[Any], leaves: Sequence[Leaf]) -> None:
        """Other values, if they all fit."""
        _write(self.views, [checked(value, leaf, "The state") for value, leaf in zip(values, leaves, strict=True)])


class _Held:
    """Held arguments in memory, with the frame in which code keeps what they alone decide."""

    def __init__(self, code: CodeByNeed, cost: int, structure: Structure, held: Sequence[Sequence[Any]]) -> None:
        self._by_need, self._cost, signature = code, cost, structure.signature
        leaves = [leaf for argument in signature.arguments[1:] for leaf in argument]
        values = [value for argument in held for value in argument]
        self._area = np.zeros(max(1, sum(leaf.size for leaf in leaves)))
        views = slot_views(self._area, leaves, 0)
        _write(views, [checked(value, leaf, "An argument") for value, leaf in zip(values, leaves, strict=True)])
        self._pointer = POINTER(self._area.ctypes.data)
        self._prepared: Code | None = None  # whose frame this is
        self._settled: Code | None = None  # that no other will replace
        self._work: np.ndarray | None = None
        self._frame: Any = None

    def call(self, state: Any, out: Any) -> None:
        """The function of a state at one place, to another place."""
        code = self._settled or self._look()
        code.call(state, self._pointer, out, self._frame)

    def call_again(self, state: Any, out: Any) -> None:
        """The same of a step function, without computing again what has not changed since."""
        before = self._prepared
        code = self._settled or self._look()
        (code.again if code is before else code.call)(state, self._pointer, out, self._frame)

    def _look(self) -> Code:
        """The best code there is at present, with a frame of its own."""
        is_final = self._by_need.is_final  # before it is taken: code that will be replaced must not stay
        code = self._by_need.get(self._cost)
        if code is not self._prepared:
            self._work = code.work()
            self._frame, self._prepared = POINTER(self._work.ctypes.data), code
        self._settled = code if is_final else None
        return code


def slot_views(work: np.ndarray, leaves: Sequence[Leaf], first: int) -> list[np.ndarray]:
    """Leaves as they lie in slots: integers and truth values as 64-bit words."""
    views = []
    for leaf in leaves:
        part = work[first : first + leaf.size]
        views.append((part if leaf.dtype == "f64" else part.view(np.int64)).reshape(leaf.shape))
        first += leaf.size
    return views


def copied(views: Sequence[np.ndarray], leaves: Sequence[Leaf]) -> list[np.ndarray]:
    """Leaves as arrays of their own, of the types they have outside."""
    return [
        view.copy() if leaf.dtype == "f64" else view.astype(NUMPY[leaf.dtype])
        for view, leaf in zip(views, leaves, strict=True)
    ]


def _flat_held(structure: Structure, held: Sequence[Any]) -> list[list[Any]]:
    """Leaves of the arguments after the first."""
    inner = Structure(Signature(structure.signature.arguments[1:], ()), (structure.in_trees or ())[1:] or None)
    return inner.flatten(held)


def _write(views: Sequence[np.ndarray], values: Sequence[Any]) -> None:
    for view, value in zip(views, values, strict=True):
        view[...] = value
