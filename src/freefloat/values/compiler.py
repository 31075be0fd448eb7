"""The compiler behind the physics: the only module below `sim` that knows the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from freefloat.engine.tracer import active_tracer

__all__ = ["active_tracer", "compile_function", "is_searching", "trace_once"]


def compile_function(function: Callable[..., Any], record: Any, *example: Any) -> Callable[..., Any] | None:
    """`function(record, *args)` compiled with the numbers of the record as inputs; None if it cannot be.

    The function must not close over the record.
    """
    from freefloat import engine

    try:
        return engine.compile_varied(function, record, *example)
    except Exception as error:
        if engine.needs_numbers(error) or isinstance(error, engine.EngineError):
            return None
        raise


def is_searching() -> bool:
    """Whether compiled code may be used at present: see `engine.traced_anew`."""
    from freefloat.engine.runtime import lookup

    return lookup.is_searching()


def trace_once(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Result of a pure function while a graph is traced; the same values give the same nodes."""
    from freefloat.engine.jaxprs.once import once

    return once(function, args, kwargs)
