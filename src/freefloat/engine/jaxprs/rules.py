"""The table of rules: what each JAX primitive means on arrays of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

RULES: dict[str, Callable[..., Any]] = {}


def rule(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register ``f(tracer, eqn, *arrays)`` as the meaning of primitives."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            RULES[name] = function
        return function

    return register
