"""Makes a piece of graph: traces a function separately, with new inputs for the variable parts of its arguments."""

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
class ResultLeaf:
    """Type of an array of a result, and its numbers where all of them are known."""

    shape: tuple[int, ...]
    dtype: str
    is_weak: bool
    known: Array | None


@dataclass(frozen=True, eq=False)
class StoredPiece:
    """A piece with the types and the nesting of its results."""

    piece: Piece
    leaves: tuple[Any, ...]  # of the result: type of an array of nodes, or any other value
    nesting: Any  # the result with numbers for its leaves

    @cached_property
    def tree(self) -> Any:
        """Nesting of the result as a JAX tree structure."""
        return jax.tree.structure(self.nesting)

    def __reduce__(self) -> tuple[Any, ...]:
        return _piece_of_rows, (self.piece.as_rows(), self.leaves, self.nesting)


def _piece_of_rows(rows: tuple[Any, ...], leaves: tuple[Any, ...], nesting: Any) -> StoredPiece:
    return StoredPiece(Piece.of_rows(rows), leaves, nesting)


def make_piece(function: Callable[..., Any], key: Key, moves: list[bool], trace: NodeTrace) -> StoredPiece | None:
    """Piece of a function for the arguments of a key; None where no piece is possible."""
    tracer = Tracer(Builder(strict_nan=trace.b.strict_nan), trace.tracer.budget)
    inner = NodeTrace(tracer)
    inner.book = trace.book
    fresh = _FreshArguments(inner)
    leaves = [fresh.counterpart(x.primal if m else x) for x, m in zip(key.leaves, moves, strict=True)]
    changes = [fresh.counterpart(x.tangent) for x, m in zip(key.leaves, moves, strict=True) if m]

    def call(moving: Sequence[Any]) -> Any:
        rest = iter(moving)
        every = [next(rest) if m else x for x, m in zip(leaves, moves, strict=True)]
        args, kwargs = jax.tree.unflatten(key.tree, every)
        return function(*args, **kwargs)

    moving = [x for x, m in zip(leaves, moves, strict=True) if m]
    try:
        with _record_openings(key) as opened, core.set_current_trace(inner):
            out = _with_derivatives(call, moving, changes) if moving else call(())
        return None if opened else _stored_piece(out, inner, fresh.ins)
    except (MemoryError, RecursionError):  # a later attempt may succeed
        raise NoPiece from None
    except Exception:  # tracing in place will raise it again, with the user's line
        return None


def _with_derivatives(call: Callable[..., Any], moving: list[Any], changes: list[Any]) -> Any:
    """Results of a call and their derivatives along a direction."""
    return jax.jvp(lambda *x: jax.tree.map(jax.numpy.asarray, call(x)), tuple(moving), tuple(changes))


@contextlib.contextmanager
def _record_openings(key: Key) -> Iterator[list[Any]]:
    """Collect the openings of quiet parts of the arguments: results that depend on them cannot be pieces."""
    opened: list[Any] = []
    with contextlib.ExitStack() as stack:
        for kind in {type(part) for large in key.large.values() for part in large.found.parts}:
            stack.enter_context(kind.listen(opened.append))
        yield opened


class _FreshArguments:
    """Makes the arguments of a new trace, with inputs for their free elements."""

    def __init__(self, trace: NodeTrace) -> None:
        self.trace, self.ins = trace, list[Node]()

    def counterpart(self, x: Any) -> Any:
        """Counterpart of an argument in the new trace."""
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


def _stored_piece(out: Any, trace: NodeTrace, ins: list[Node]) -> StoredPiece | None:
    """Piece of a traced result; None if the result cannot be stored."""
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
            ResultLeaf(x.val.shape, np.dtype(aval.dtype).str, bool(aval.weak_type), x.val.copy() if is_known else None)
        )
        outs += [] if is_known else trace.value(x).ravel().tolist()
    return StoredPiece(Piece.of(ins, outs, trace.b.quotients), tuple(leaves), nesting)


def own_copy(x: Any) -> Any:
    """Copy an array, so that no other code can write to it; other values are returned unchanged.

    An array of a subclass becomes a plain one: JAX's own cannot be used after they have been kept on disk.
    """
    return np.array(x, subok=False) if isinstance(x, np.ndarray) else x


def _is_plain(x: Any) -> bool:
    """Whether a result consists only of arrays, plain values and records of these, without quiet parts."""
    if isinstance(x, _PLAIN):
        return True
    if isinstance(x, (tuple, list)):
        return all(map(_is_plain, x))
    if isinstance(x, dict):
        return all(map(_is_plain, x.values()))
    return hasattr(type(x), "__dataclass_fields__") and all(map(_is_plain, x.__dict__.values()))
