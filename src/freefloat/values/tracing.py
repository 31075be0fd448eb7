"""How the physics is traced: functions of the same values once, branches and loops straight into the engine's graph.

The engine is asked only where it is tracing. Everywhere else these are plain calls, and JAX's own `cond` and `scan`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import jax

_ENGINE = "freefloat.engine.jaxprs"
P = ParamSpec("P")
R = TypeVar("R")


def _graph_tracing() -> Any:
    """The engine's module, where what is called now is traced into its graph."""
    direct: Any = sys.modules.get(f"{_ENGINE}.direct")
    return direct if direct is not None and direct.is_tracing() else None


def once(function: Callable[P, R]) -> Callable[P, R]:
    """Make a pure function be traced once for the same values. It must have no effect but its result."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if _graph_tracing() is None:
            return function(*args, **kwargs)
        return sys.modules[f"{_ENGINE}.once"].once(function, args, kwargs)

    return call


def cond(predicate: Any, true: Callable[[], R], false: Callable[[], R]) -> R:
    """The result of one of two functions without arguments; only the chosen one is computed."""
    direct = _graph_tracing()
    return direct.branch(predicate, true, false) if direct else jax.lax.cond(predicate, true, false)


def scan(body: Callable[[Any, Any], tuple[Any, Any]], start: Any, rows: Any) -> tuple[Any, Any]:
    """What `body(carry, row)` carries at the end, row after row, and its results one above the other."""
    direct = _graph_tracing()
    return direct.scan(body, start, rows) if direct else jax.lax.scan(body, start, rows)


def result_shapes(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a function with shapes for its numbers; what it computes is not wanted."""
    if _graph_tracing() is None:
        return jax.eval_shape(function, *args)
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(jax.numpy.shape(x), jax.numpy.result_type(x)), function(*args))
