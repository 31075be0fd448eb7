"""Library functions as pieces of graph: traced once for a structure of their arguments, and kept on disk.

A piece is made with a builder of its own, and put into the graph that asks for it, the first time too: so a graph is
the same whether its pieces were found or made. Only functions of this package are kept, whose source is in the key.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax._src import core
from jax._src.interpreters import ad

from freefloat.engine.graph import Builder, Node
from freefloat.engine.graph.piece import Piece
from freefloat.engine.runtime import bundles, lookup
from freefloat.engine.runtime.origins import OWN_PACKAGE

from .arrays import Array, object_array, settle
from .direct import F64, NodeTrace, NodeTracer
from .interpreter import Tracer
from .piece_keys import Key, LargeData, NoPiece, is_free

_PLAIN = (str, int, float, bool, type(None))


class Book:
    """What a trace knows of pieces: the data that it has met, and pieces that must not be kept."""

    def __init__(self) -> None:
        self.large = LargeData()
        self.own: dict[str, Kept | None] | None = None if lookup.is_searching() else {}
        self.write = bundles.write


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


def are_wanted() -> bool:
    """Whether functions are kept as pieces, unless FREEFLOAT_PIECES=0."""
    return os.environ.get("FREEFLOAT_PIECES", "") != "0"


def result_of(function: Callable[..., Any], args: Any, kwargs: Any, now: Any, trace: NodeTrace) -> Any:
    """The result of a pure function, by its piece if it has one."""
    if _may_be_kept(function, now, trace):
        with contextlib.suppress(NoPiece):
            return _by_piece(function, (args, kwargs), now, trace)
    return function(*args, **kwargs)


def _may_be_kept(function: Callable[..., Any], now: Any, trace: NodeTrace) -> bool:
    ours = function.__module__.partition(".")[0] == OWN_PACKAGE and "<" not in function.__qualname__
    return ours and (now is trace or now.parent_trace is trace) and are_wanted()


def _by_piece(function: Callable[..., Any], args: Any, now: Any, trace: NodeTrace) -> Any:
    if trace.book is None:
        trace.book = Book()
    key = Key(function, args, now, trace, trace.book.large)
    moves = [type(x) is ad.JVPTracer for x in key.leaves]
    kept = _kept(function, key, moves, trace)
    with core.set_current_trace(trace):
        leaves = _put(kept, key.leaves, moves, trace)
    if not any(moves):
        return jax.tree.unflatten(kept.tree, leaves)
    result, change = jax.tree.unflatten(kept.tree, leaves)
    pairs = zip(jax.tree.leaves(result), jax.tree.leaves(change), strict=True)
    return jax.tree.unflatten(jax.tree.structure(result), [_moving(now, x, dx) for x, dx in pairs])


def _moving(now: Any, x: NodeTracer, dx: NodeTracer) -> Any:
    stands = dx.val.dtype != object and not dx.val.any()
    return x if stands or x.aval.dtype != F64 else ad.JVPTracer(now, x, dx)


def _kept(function: Callable[..., Any], key: Key, moves: list[bool], trace: NodeTrace) -> Kept:
    own = trace.book.own
    known = own if own is not None else bundles.Bundle(key.owner)
    found = known.get(key.digest, bundles.MISSING)
    if found is bundles.MISSING:
        found = known[key.digest] = _made(function, key, moves, trace)
    if found is None:
        raise NoPiece
    return found


# ---- making a piece


def _made(function: Callable[..., Any], key: Key, moves: list[bool], trace: NodeTrace) -> Kept | None:
    """The piece of a function for such arguments; None where there can be none."""
    tracer = Tracer(Builder(strict_nan=trace.b.strict_nan), trace.tracer.budget)
    inner = NodeTrace(tracer)
    inner.book = trace.book
    fresh = _Fresh(inner)
    leaves = [fresh.like(x.primal if m else x) for x, m in zip(key.leaves, moves, strict=True)]
    changes = [fresh.like(x.tangent) for x, m in zip(key.leaves, moves, strict=True) if m]

    def call(moving: Sequence[Any]) -> Any:
        rest = iter(moving)
        args, kwargs = jax.tree.unflatten(key.tree, [next(rest) if m else x for x, m in zip(leaves, moves, strict=True)])
        return function(*args, **kwargs)

    try:
        with _heard(key) as opened, core.set_current_trace(inner):
            out = _along(call, [x for x, m in zip(leaves, moves, strict=True) if m], changes) if changes else call(())
        return None if opened else _as_kept(out, inner, fresh.ins)
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
        if type(x) is not NodeTracer:
            if isinstance(x, core.Tracer):
                return None
            leaves.append(x)
            continue
        aval: Any = x.aval
        is_known = x.val.dtype != object
        leaves.append(Leaf(x.val.shape, np.dtype(aval.dtype).str, bool(aval.weak_type), x.val if is_known else None))
        outs += [] if is_known else trace.value(x).ravel().tolist()
    return Kept(Piece(tuple(ins), tuple(outs), trace.b.quotients), tuple(leaves), nesting)


def _is_plain(x: Any) -> bool:
    """Whether a result is nothing but arrays, words and records of such; none that hands on what is quiet."""
    if isinstance(x, _PLAIN):
        return True
    if isinstance(x, (tuple, list)):
        return all(map(_is_plain, x))
    if isinstance(x, dict):
        return all(map(_is_plain, x.values()))
    return hasattr(type(x), "__dataclass_fields__") and all(map(_is_plain, x.__dict__.values()))


# ---- putting it into a graph


def _put(kept: Kept, given: Sequence[Any], moves: list[bool], trace: NodeTrace) -> list[Any]:
    """The leaves of the result, over the nodes of this trace."""
    arrays = [x.primal if m else x for x, m in zip(given, moves, strict=True)]
    arrays += [x.tangent for x, m in zip(given, moves, strict=True) if m]
    free = [
        (node, x.way)
        for x in arrays
        if type(x) is NodeTracer and x.val.dtype == object
        for node in x.val.ravel().tolist()
        if is_free(node)
    ]
    needed = kept.piece.needed
    nodes = [trace.node_here(n, way) if k in needed else None for k, (n, way) in enumerate(free)]
    rest = iter(kept.piece.put_into(trace.b, nodes))
    return [_leaf(leaf, rest, trace) for leaf in kept.leaves]


def _leaf(leaf: Any, rest: Iterator[Node], trace: NodeTrace) -> Any:
    if not isinstance(leaf, Leaf):
        return leaf
    aval = core.ShapedArray(leaf.shape, np.dtype(leaf.dtype), weak_type=leaf.is_weak)
    if leaf.known is not None:
        return NodeTracer(trace, leaf.known, aval)
    size = int(np.prod(leaf.shape))
    val = object_array([next(rest) for _ in range(size)], leaf.shape)
    return NodeTracer(trace, settle(val, np.dtype(leaf.dtype)), aval)
