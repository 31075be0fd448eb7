"""Library functions as pieces of graph: traced once for each structure of their arguments, and kept on disk.

A piece is made with its own builder and then inserted into the graph, the first time too: so a graph is the same
whether its pieces were found or made. Only functions of this package are kept, because the key contains its source.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import core
from jax._src.interpreters import ad

from freefloat.engine.graph import Node
from freefloat.engine.runtime import bundles, lookup
from freefloat.engine.runtime.origins import OWN_PACKAGE

from .arrays import fold_constants, object_array
from .direct import F64, NodeTrace, NodeTracer
from .piece_keys import Key, LargeRecords, NoPiece, is_free
from .piece_making import ResultLeaf, StoredPiece, make_piece, own_copy


class PieceRegistry:
    """Records of many parts in a trace, and its own pieces where they must not be kept on disk."""

    def __init__(self) -> None:
        self.large = LargeRecords()
        self.own: dict[str, StoredPiece | None] | None = None if lookup.is_searching() else {}
        self.write = bundles.write


def are_enabled() -> bool:
    """Whether functions are kept as pieces: always, unless FREEFLOAT_PIECES=0."""
    return os.environ.get("FREEFLOAT_PIECES", "") != "0"


def result_of(function: Callable[..., Any], args: Any, kwargs: Any, now: Any, trace: NodeTrace) -> Any:
    """Result of a pure function, from its piece if it has one."""
    if _may_be_kept(function, now, trace):
        with contextlib.suppress(NoPiece):
            return _result_by_piece(function, (args, kwargs), now, trace)
    return function(*args, **kwargs)


def _may_be_kept(function: Callable[..., Any], now: Any, trace: NodeTrace) -> bool:
    return _is_of_this_package(function) and (now is trace or now.parent_trace is trace) and are_enabled()


def _is_of_this_package(function: Any) -> bool:
    """Whether a function is the one that a module of this package defines under its name, and not a copy elsewhere."""
    while getattr(function, "__module__", None) and type(function).__name__ == "function" and _checks_types(function):
        function = function.__wrapped__
    if type(function).__name__ != "function" or function.__closure__:
        return False
    home, name = function.__module__, function.__qualname__
    ours = home.partition(".")[0] == OWN_PACKAGE and "<" not in name
    return ours and function.__globals__.get("__name__") == home and function.__code__.co_qualname == name


def _checks_types(function: Any) -> bool:
    """Whether a function only checks types and then calls another one."""
    by = str(function.__globals__.get("__name__"))
    return by.startswith(("jaxtyping", "beartype")) and hasattr(function, "__wrapped__")


def _result_by_piece(function: Callable[..., Any], args: Any, now: Any, trace: NodeTrace) -> Any:
    """Result of a call from its piece, with derivatives where the arguments have them."""
    if trace.book is None:
        trace.book = PieceRegistry()
    key = Key(function, args, now, trace, trace.book.large)
    moves = [type(x) is ad.JVPTracer for x in key.leaves]
    kept = _find_or_make(function, key, moves, trace)
    with core.set_current_trace(trace):
        leaves = _insert_piece(kept, key.leaves, moves, trace)
    if not any(moves):
        return jax.tree.unflatten(kept.tree, leaves)
    result, change = jax.tree.unflatten(kept.tree, leaves)
    pairs = zip(jax.tree.leaves(result), jax.tree.leaves(change), strict=True)
    return jax.tree.unflatten(jax.tree.structure(result), [_with_derivative(now, x, dx) for x, dx in pairs])


def _with_derivative(now: Any, x: NodeTracer, dx: NodeTracer) -> Any:
    stands = type(dx) is not NodeTracer or (dx.val.dtype != object and not dx.val.any())
    return x if stands or x.aval.dtype != F64 else ad.JVPTracer(now, x, dx)


def _find_or_make(function: Callable[..., Any], key: Key, moves: list[bool], trace: NodeTrace) -> StoredPiece:
    """Piece of a call, found or made; raises NoPiece if there can be none."""
    own = trace.book.own
    known = own if own is not None else bundles.Bundle(key.owner)
    found = known.get(key.digest, bundles.MISSING)
    if found is bundles.MISSING:
        found = known[key.digest] = make_piece(function, key, moves, trace)
    if found is None:
        raise NoPiece
    return found


# ---- inserting a piece into a graph


def _insert_piece(kept: StoredPiece, arguments: Sequence[Any], moves: list[bool], trace: NodeTrace) -> list[Any]:
    """Insert a piece into the graph of a trace; returns the leaves of the result."""
    arrays = [x.primal if m else x for x, m in zip(arguments, moves, strict=True)]
    arrays += [x.tangent for x, m in zip(arguments, moves, strict=True) if m]
    free = [
        (node, x.way)
        for x in arrays
        if type(x) is NodeTracer and x.val.dtype == object
        for node in x.val.ravel().tolist()
        if is_free(node)
    ]
    needed = kept.piece.needed_inputs
    nodes = [trace.node_in_way(n, way) if k in needed else None for k, (n, way) in enumerate(free)]
    rest = iter(kept.piece.insert_into(trace.b, nodes))
    return [_leaf(leaf, rest, trace) for leaf in kept.leaves]


def _leaf(leaf: Any, rest: Iterator[Node], trace: NodeTrace) -> Any:
    if not isinstance(leaf, ResultLeaf):
        return own_copy(leaf)
    aval = core.ShapedArray(leaf.shape, np.dtype(leaf.dtype), weak_type=leaf.is_weak)
    if leaf.known is not None:
        return NodeTracer(trace, leaf.known, aval)
    size = int(np.prod(leaf.shape))
    val = object_array([next(rest) for _ in range(size)], leaf.shape)
    return NodeTracer(trace, fold_constants(val, np.dtype(leaf.dtype)), aval)
