"""Runs a jaxpr on arrays of nodes, one equation at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Node

from .arrays import DTYPES, Array, as_nodes, elementwise, fold_constants, is_symbolic, object_array
from .refusals import precision_error, unsupported_error
from .rules import RULES


@dataclass(frozen=True)
class Budget:
    """Sizes above which a scan stays a loop and a cond stays a branch."""

    unroll: int = 1500  # [operations] a scan whose unrolled code is larger stays a loop
    branch: int = 60  # [operations] a cond whose branches are larger stays a branch


# Primitives that may move whole random keys; a key is an array of words along a hidden last axis.
MOVES = frozenset({"slice", "squeeze", "reshape", "broadcast_in_dim", "transpose", "concatenate", "dynamic_slice"})


def is_key(atom: Any) -> bool:
    """Whether a variable holds JAX's typed random keys."""
    return hasattr(getattr(atom.aval, "dtype", None), "_impl")


@dataclass
class Body:
    """The body of a loop as a Python function of arrays of nodes, with the types of its results."""

    call: Callable[[list[Array]], list[Array]]
    out_avals: list[Any]


class Tracer:
    """Turns equations into nodes of one builder."""

    def __init__(self, builder: Builder, budget: Budget | None = None) -> None:
        self.b, self.budget = builder, budget or Budget()
        self.calls: list[Any] = []  # equations being applied, outermost first, for the user's line in errors

    def run(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Array]) -> list[Array]:
        """Results of a jaxpr for arrays of nodes or numbers."""
        env: dict[Any, Array] = dict(zip(jaxpr.constvars, map(np.asarray, consts), strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))

        def read(atom: Any) -> Array:
            return np.asarray(atom.val) if hasattr(atom, "val") else env[atom]

        for eqn in jaxpr.eqns:
            self.calls.append(eqn)
            results = self.apply(eqn, [read(v) for v in eqn.invars])
            self.calls.pop()
            for variable, value in zip(eqn.outvars, results, strict=True):
                env[variable] = self.fold_result(eqn, variable.aval, value)
        return [read(v) for v in jaxpr.outvars]

    def run_closed(self, closed: Any, args: Sequence[Array]) -> list[Array]:
        """Results of a jaxpr that carries its constants."""
        if isinstance(closed, Body):
            return closed.call(list(args))
        if hasattr(closed, "jaxpr"):
            return self.run(closed.jaxpr, closed.consts, args)
        return self.run(closed, (), args)

    def apply(self, eqn: Any, args: list[Array]) -> list[Array]:
        """Results of one equation by its rule."""
        function = RULES.get(eqn.primitive.name)
        if function is None:
            if any(is_symbolic(a) for a in args) or eqn.effects:
                raise unsupported_error(self, eqn)
            return self._evaluate(eqn, args)
        keys = [is_key(v) for v in eqn.invars]
        if any(keys) and eqn.primitive.name in MOVES:
            words = range(args[keys.index(True)].shape[-1])
            parts = [
                function(self, eqn, *(a[..., w] if k else a for a, k in zip(args, keys, strict=True))) for w in words
            ]
            return [np.stack(parts, axis=-1)]
        results = function(self, eqn, *args)
        return results if isinstance(results, list) else [results]

    def map(self, function: Any, *arrays: Array) -> Array:
        """Apply a function of nodes to arrays of nodes or numbers, element by element."""
        return elementwise(function, *(as_nodes(self.b, a) for a in arrays))

    def nodes(self, x: Array) -> Array:
        """Array of nodes with the elements of an array of nodes or numbers."""
        return as_nodes(self.b, x)

    def inputs(self, shape: tuple[int, ...], dtype: np.dtype, first: int) -> Array:
        """Array of new inputs of the block being traced, numbered from ``first``."""
        size = int(np.prod(shape))
        fresh: list[Node] = [self.b.input(first + k, DTYPES[np.dtype(dtype)]) for k in range(size)]
        return object_array(fresh, shape)

    def fold_result(self, eqn: Any, aval: Any, value: Array) -> Array:
        """Result of an equation, as numbers where all are known; raises an error for an unsupported type."""
        dtype: Any = getattr(aval, "dtype", None)
        if not is_symbolic(value):
            return value
        if dtype not in DTYPES:
            if isinstance(dtype, np.dtype):
                raise precision_error(self, eqn, dtype)
            return value  # keys of JAX's random generator: their words
        return fold_constants(value, dtype) if value.size else np.zeros(value.shape, dtype)

    @staticmethod
    def _evaluate(eqn: Any, args: list[Array]) -> list[Array]:
        """Results of an equation of known numbers, computed by JAX itself."""
        import jax

        with jax.ensure_compile_time_eval():
            results = eqn.primitive.bind(*args, **eqn.params)
        results = results if eqn.primitive.multiple_results else [results]
        return [np.asarray(r) for r in results]
