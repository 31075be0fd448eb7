"""What tells calls of a function apart, so that one piece of graph serves all that are alike.

A key holds numbers that are known, the shapes of arrays of nodes, and which of their elements are 0, 1 or -1. Data of
many parts, such as a spacecraft, goes by its fingerprint, without quiet parts.
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
from freefloat.engine.runtime.fingerprint import Print, look_at
from freefloat.engine.runtime.lookup import settings
from freefloat.engine.runtime.origins import Unseen, is_known, package_source

from .direct import NodeTrace, NodeTracer

_FEW = 8  # [fields] a record with more has many parts
_STRUCTURAL = (0.0, 1.0, -1.0)  # numbers that simplify what is computed with them


class NoPiece(Exception):
    """A call that is traced as it stands."""


def is_large(x: Any) -> bool:
    """Whether a record has many parts, as a spacecraft has, or cannot be looked into."""
    fields = getattr(x, "__dict__", None)
    if fields is None:
        return True
    return len(fields) > _FEW or any(type(value) in (tuple, dict) for value in fields.values())


def is_free(node: Node) -> bool:
    """Whether an element is an input of a piece: a node, or a number that simplifies nothing."""
    if node.op != "const":
        return True
    return node.dtype == "f64" and math.isfinite(node.value) and node.value not in _STRUCTURAL


def _pattern(x: NodeTracer) -> tuple[Any, ...]:
    """An array without what its free elements are."""
    aval: Any = x.aval
    kind = "nodes", x.val.shape, str(aval.dtype), bool(aval.weak_type)
    if x.val.dtype != object:
        return (*kind, x.val.dtype.str, x.val.tobytes())
    return (*kind, *(None if is_free(n) else n.value for n in x.val.ravel().tolist()))


NodeTracer.__fingerprint__ = _pattern  # pyright: ignore[reportAttributeAccessIssue]


@dataclasses.dataclass(frozen=True)
class Large:
    """Data of many parts: its fingerprint, and whether some of its numbers are traced."""

    data: Any  # kept: its identity must stay its own
    clean: Any  # the same without what it has computed and keeps, from fields that may have been others
    found: Print
    is_traced: bool


class LargeData:
    """Data of many parts that a trace has met."""

    def __init__(self) -> None:
        self._met: dict[int, Large | None] = {}
        self.settings = settings()

    def of(self, x: Any, trace: NodeTrace) -> Large:
        """What is known of it."""
        if id(x) not in self._met:
            self._met[id(x)] = found = _looked_at(x, trace)
            if found is not None:
                self._met[id(found.clean)] = dataclasses.replace(found, data=found.clean)
        found = self._met[id(x)]
        if found is None:
            raise NoPiece
        return found


def _looked_at(x: Any, trace: NodeTrace) -> Large | None:
    leaves, tree = jax.tree.flatten(x)
    if any(leaf is x for leaf in leaves):  # JAX does not see into it: there may be nodes in it
        return None
    tracers = [leaf for leaf in leaves if isinstance(leaf, core.Tracer)]
    if any(type(leaf) is not NodeTracer or leaf._trace is not trace for leaf in tracers):
        return None
    clean = jax.tree.unflatten(tree, map(_plain_number, leaves))
    try:
        found = look_at(clean, quiet=True)
    except Unseen:
        return None
    reached = found.reached
    if reached.functions or reached.classes or reached.caches or reached.jitted:
        return None  # the user's own code, which may be other code tomorrow
    return Large(x, clean, found, bool(tracers))


def _plain_number(x: Any) -> Any:
    """Numbers that JAX has handed on in types of its own, as they were; all else as it is."""
    if type(x).__module__.partition(".")[0] != "jax" or isinstance(x, core.Tracer):
        return x
    if str(getattr(x, "dtype", "")) not in ("float64", "int64", "bool"):
        return x
    for kind in (float, int):
        if isinstance(x, kind):
            return kind(x)
    return np.asarray(x) if hasattr(x, "__array__") else x


class Key:
    """The key of a call, and its arguments without their nesting."""

    def __init__(self, function: Callable[..., Any], args: Any, now: Any, trace: NodeTrace, known: LargeData) -> None:
        self._now, self._trace, self._known = now, trace, known
        self.large: dict[int, Large] = {}
        budget = trace.tracer.budget
        facts = function.__module__, function.__qualname__, package_source(), jax.__version__, np.__version__
        facts += (known.settings,)
        words = self._words(args), facts, budget.unroll, budget.branch, trace.b.strict_nan
        self.digest = hashlib.sha256(repr(words).encode()).hexdigest()
        leaves, self.tree = jax.tree.flatten(args, is_leaf=self._is_known)
        self.leaves = [self.large[id(x)].clean if self._is_known(x) else x for x in leaves]

    @property
    def owner(self) -> str:
        """What the piece belongs to: the data of many parts among the arguments."""
        return next((one.found.digest for one in self.large.values()), "")

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
                raise NoPiece  # JAX does not see into it, or it has code of the user's own
            return kind.__module__, kind.__qualname__, *((n, self._words(v)) for n, v in x.__dict__.items())
        return self._large(x)

    def _large(self, x: Any) -> Any:
        self.large[id(x)] = found = self._known.of(x, self._trace)
        return "large", found.found.digest
