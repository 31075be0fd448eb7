"""Keys of function calls: calls with equal keys share one piece of graph.

A key holds known numbers, the shapes of arrays of nodes, and which of their elements are 0, 1 or -1. A record of many
parts, such as a spacecraft, is represented by its fingerprint, without quiet parts.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax._src import core
from jax._src.interpreters import ad

from freefloat.engine.graph import Node
from freefloat.engine.runtime.fingerprint import FingerprintResult, full_fingerprint
from freefloat.engine.runtime.lookup import settings
from freefloat.engine.runtime.origins import InspectionError, is_known, package_source

from .direct import NodeTrace, NodeTracer

_FEW = 8  # [fields] a record with more has many parts
_STRUCTURAL = (0.0, 1.0, -1.0)  # numbers that simplify expressions


class NoPiece(Exception):
    """Raised for a call that must be traced in place, without a piece."""


def is_large(x: Any) -> bool:
    """Whether a record has many parts, as a spacecraft has, or cannot be inspected."""
    fields = getattr(x, "__dict__", None)
    if fields is None:
        return True
    return len(fields) > _FEW or any(type(value) in (tuple, dict) for value in fields.values())


def is_free(node: Node) -> bool:
    """Whether an element is an input of a piece: a non-constant node, or a number that does not simplify code."""
    if node.op != "const":
        return True
    return node.dtype == "f64" and math.isfinite(node.value) and node.value not in _STRUCTURAL


def _pattern(x: NodeTracer) -> tuple[Any, ...]:
    """Key of an array: its type, shape and constant elements, with None for the free ones."""
    aval: Any = x.aval
    kind = "nodes", x.val.shape, str(aval.dtype), bool(aval.weak_type)
    if x.val.dtype != object:
        return (*kind, x.val.dtype.str, x.val.tobytes())
    return (*kind, *(None if is_free(n) else n.value for n in x.val.ravel().tolist()))


NodeTracer.__fingerprint__ = _pattern  # pyright: ignore[reportAttributeAccessIssue]


@dataclasses.dataclass(frozen=True)
class LargeRecord:
    """A record of many parts with its fingerprint, and whether some of its numbers are traced."""

    data: Any  # kept so that no other object gets its identity
    clean: Any  # a copy without cached values, which may come from earlier fields
    found: FingerprintResult
    is_traced: bool


class LargeRecords:
    """Records of many parts that were arguments of functions in a trace."""

    def __init__(self) -> None:
        self._met: dict[int, LargeRecord | None] = {}
        self.settings = settings()

    def of(self, x: Any, trace: NodeTrace) -> LargeRecord:
        """Fingerprint and clean copy of a record; raises NoPiece if it cannot be inspected."""
        if id(x) not in self._met:
            self._met[id(x)] = found = _inspect_record(x, trace)
            if found is not None:
                self._met[id(found.clean)] = dataclasses.replace(found, data=found.clean)
        found = self._met[id(x)]
        if found is None:
            raise NoPiece
        return found


def _inspect_record(x: Any, trace: NodeTrace) -> LargeRecord | None:
    """Fingerprint and clean copy of a record; None if it cannot be inspected or reaches the user's own code."""
    leaves, tree = jax.tree.flatten(x)
    if any(leaf is x for leaf in leaves):  # JAX cannot flatten it: there may be nodes in it
        return None
    tracers = [leaf for leaf in leaves if isinstance(leaf, core.Tracer)]
    if any(type(leaf) is not NodeTracer or leaf._trace is not trace for leaf in tracers):
        return None
    clean = jax.tree.unflatten(tree, map(_plain_number, leaves))
    try:
        found = full_fingerprint(clean, quiet=True)
    except InspectionError:
        return None
    reached = found.reached
    if reached.functions or reached.classes or reached.caches or reached.jitted:
        return None  # the user's own code, which may be other code tomorrow
    return LargeRecord(x, clean, found, bool(tracers))


def _plain_number(x: Any) -> Any:
    """Convert a number in a type of JAX to Python's or NumPy's type; other values are returned unchanged."""
    if type(x).__module__.partition(".")[0] != "jax" or isinstance(x, core.Tracer):
        return x
    if str(getattr(x, "dtype", "")) not in ("float64", "int64", "bool"):
        return x
    for kind in (float, int):
        if isinstance(x, kind):
            return kind(x)
    return np.asarray(x) if hasattr(x, "__array__") else x


class Key:
    """Key of a function call, and the leaves of its arguments."""

    def __init__(
        self, function: Callable[..., Any], args: Any, now: Any, trace: NodeTrace, known: LargeRecords
    ) -> None:
        self._now, self._trace, self._known = now, trace, known
        self.large: dict[int, LargeRecord] = {}
        budget = trace.tracer.budget
        facts = function.__module__, function.__qualname__, package_source(), jax.__version__, np.__version__
        facts += (known.settings,)
        words = self._words(args), facts, budget.unroll, budget.branch, trace.b.strict_nan
        self.digest = hashlib.sha256(repr(words).encode()).hexdigest()
        leaves, self.tree = jax.tree.flatten(args, is_leaf=self._is_known)
        self.leaves = [self.large[id(x)].clean if self._is_known(x) else x for x in leaves]

    @property
    def owner(self) -> str:
        """Fingerprint of the record of many parts that the piece belongs to; empty if there is none."""
        return next((large.found.digest for large in self.large.values()), "")

    def _is_known(self, x: Any) -> bool:
        found = self.large.get(id(x))
        return found is not None and found.data is x and not found.is_traced

    def _words(self, x: Any) -> Any:
        x = _plain_number(x)
        kind = type(x)
        if kind in (str, int, float, bool, type(None)):
            return kind.__name__, x
        if kind is NodeTracer:
            if x._trace is not self._trace:
                raise NoPiece
            return _pattern(x)
        if kind is ad.JVPTracer:
            if x._trace is not self._now or type(x.tangent) is not NodeTracer:
                raise NoPiece
            return "moves", self._words(x.primal), self._words(x.tangent)
        if kind is np.ndarray or isinstance(x, np.generic):
            if x.dtype.hasobject:
                raise NoPiece
            return kind.__name__, x.shape, str(x.dtype), x.tobytes()
        if kind is tuple:
            return tuple(map(self._words, x))
        if kind is dict:
            return tuple((name, self._words(value)) for name, value in x.items())
        if isinstance(x, core.Tracer):
            raise NoPiece
        if dataclasses.is_dataclass(x) and not is_large(x):
            if (
                any(leaf is x for leaf in jax.tree.leaves(x))
                or not is_known(kind.__module__)
                or "<" in kind.__qualname__
            ):
                raise NoPiece  # JAX cannot flatten it, or it has the user's own code
            return kind.__module__, kind.__qualname__, *((n, self._words(v)) for n, v in x.__dict__.items())
        return self._large(x)

    def _large(self, x: Any) -> Any:
        self.large[id(x)] = found = self._known.of(x, self._trace)
        return "large", found.found.digest
