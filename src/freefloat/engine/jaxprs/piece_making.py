"""Makes a piece of graph: a function traced by itself, over fresh inputs in the place of what its arguments may be."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax._src import core

from freefloat.engine.graph import Builder, Node
from freefloat.engine.graph.piece import Piece

from .arrays import Array, object_array
from .direct import NodeTrace, NodeTracer
from .interpreter import Tracer
from .piece_keys import Key, NoPiece, is_free

_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Leaf:
    """An array of a result: its type, and its numbers where all of them are known."""

    shape: tuple[int, ...]
    dtype: str
    is_weak: bool
    known: Array | None


@dataclass(frozen=True, eq=False)
class Kept:
    """A piece, and how its results are nested."""

    piece: Piece
    leaves: tuple[Any, ...]  # a `Leaf`, or what is no array of nodes
    nesting: Any  # the result with numbers for its leaves

    @cached_property
    def tree(self) -> Any:
        """The nesting as JAX knows it."""
        return jax.tree.structure(self.nesting)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_rows, (self.piece.as_rows(), self.leaves, self.nesting)


def _of_rows(rows: tuple[Any, ...], leaves: tuple[Any, ...], nesting: Any) -> Kept:
    return Kept(Piece.of_rows(rows), leaves, nesting)


def make_piece(function: Callable[..., Any], key: Key, moves: list[bool], trace: NodeTrace) -> Kept | None:
    """The piece of a function for such arguments; None where there can be none."""
    tracer = Tracer(Builder(strict_nan=trace.b.strict_nan), trace.tracer.budget)
    inner = NodeTrace(tracer)
    inner.book = trace.book
    fresh = _Fresh(inner)
    leaves = [fresh.like(x.primal if m else x) for x, m in zip(key.leaves, moves, strict=True)]
    changes = [fresh.like(x.tangent) for x, m in zip(key.leaves, moves, strict=True) if m]

    def call(moving: Sequence[Any]) -> Any:
        rest = iter(moving)
        every = [next(rest) if m else x for x, m in zip(leaves, moves, strict=True)]
        args, kwargs = jax.tree.unflatten(key.tree, every)
        return function(*args, **kwargs)

    moving = [x for x, m in zip(leaves, moves, strict=True) if m]
    try:
        with _heard(key) as opened, core.set_current_trace(inner):
            out = _along(call, moving, changes) if moving else call(())
        return None if opened else _as_kept(out, inner, fresh.ins)
    except (MemoryError, RecursionError):  # it may be possible another time
        raise NoPiece from None
    except Exception:  # whatever it is: traced as it stands, it will say it again, by the user's line
        return None


def _along(call: Callable[..., Any], moving: list[Any], changes: list[Any]) -> Any:
    """The results and their derivatives along a direction."""
    return jax.jvp(lambda *x: jax.tree.map(jax.numpy.asarray, call(x)), tuple(moving), tuple(changes))


@contextlib.contextmanager
def _heard(key: Key) -> Iterator[list[Any]]:
    """What is opened of the quiet parts of the arguments: answers that depend on such are no pieces."""
    opened: list[Any] = []
    with contextlib.ExitStack() as stack:
        for kind in {type(part) for one in key.large.values() for part in one.found.parts}:
            stack.enter_context(kind.listen(opened.append))
        yield opened


class _Fresh:
    """Arguments of a new trace: inputs in the place of what is free."""

    def __init__(self, trace: NodeTrace) -> None:
        self.trace, self.ins = trace, list[Node]()

    def like(self, x: Any) -> Any:
        """The same of the new trace."""
        if type(x) is not NodeTracer:
            return x
        if x.val.dtype != object:
            return NodeTracer(self.trace, x.val, x.aval)
        return NodeTracer(self.trace, object_array([self._node(n) for n in x.val.ravel()], x.val.shape), x.aval)

    def _node(self, node: Node) -> Node:
        b = self.trace.b
        if not is_free(node):
            return b.constant(node.value, node.dtype)
        self.ins.append(b.input(len(self.ins), node.dtype))
        return self.ins[-1]


def _as_kept(out: Any, trace: NodeTrace, ins: list[Node]) -> Kept | None:
    flat, tree = jax.tree.flatten(out)
    nesting = jax.tree.unflatten(tree, range(len(flat)))
    if not _is_plain(nesting):
        return None
    outs: list[Node] = []
    leaves = []
    for x in flat:
        if isinstance(x, core.Tracer) and (type(x) is not NodeTracer or x._trace is not trace):
            return None
        if type(x) is not NodeTracer:
            leaves.append(own_copy(x))
            continue
        aval: Any = x.aval
        is_known = x.val.dtype != object
        leaves.append(
            Leaf(x.val.shape, np.dtype(aval.dtype).str, bool(aval.weak_type), x.val.copy() if is_known else None)
        )
        outs += [] if is_known else trace.value(x).ravel().tolist()
    return Kept(Piece.of(ins, outs, trace.b.quotients), tuple(leaves), nesting)


def own_copy(x: Any) -> Any:
    """An array that nobody else can write to; all else as it is."""
    return x.copy() if type(x) is np.ndarray else x


def _is_plain(x: Any) -> bool:
    """Whether a result is nothing but arrays, words and records of such; none that hands on what is quiet."""
    if isinstance(x, _PLAIN):
        return True
    if isinstance(x, (tuple, list)):
        return all(map(_is_plain, x))
    if isinstance(x, dict):
        return all(map(_is_plain, x.values()))
    return hasattr(type(x), "__dataclass_fields__") and all(map(_is_plain, x.__dict__.values()))
