"""How the physics is traced: functions of the same values once, branches and loops straight into the engine's graph.

The engine is called only where it is tracing. Everywhere else these are plain calls, and JAX's own `cond` and `scan`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import jax

from freefloat.values.compiler import active_tracer, trace_once

P = ParamSpec("P")
R = TypeVar("R")


def once(function: Callable[P, R]) -> Callable[P, R]:
    """Make a pure function be traced once for the same values. It must have no effect but its result."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if active_tracer() is None:
            return function(*args, **kwargs)
        return trace_once(function, args, kwargs)

    return call


def cond(predicate: Any, true: Callable[[], R], false: Callable[[], R]) -> R:
    """The result of one of two functions without arguments; only the chosen one is computed."""
    tracer = active_tracer()
    return tracer.branch(predicate, true, false) if tracer else jax.lax.cond(predicate, true, false)


def scan(body: Callable[[Any, Any], tuple[Any, Any]], start: Any, rows: Any) -> tuple[Any, Any]:
    """The last carry of `body(carry, row)`, called row after row, and its results stacked."""
    tracer = active_tracer()
    return tracer.scan(body, start, rows) if tracer else jax.lax.scan(body, start, rows)


def result_shapes(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a function with shapes in place of its numbers."""
    if active_tracer() is None:
        return jax.eval_shape(function, *args)
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(jax.numpy.shape(x), jax.numpy.result_type(x)), function(*args))
