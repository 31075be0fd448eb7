"""One way to compile a function in tests, so that all tests compile the same way."""

from collections.abc import Callable
from typing import Any

import jax


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, compiled; spacecraft, states and arrays are arguments, so that new numbers need no new code."""
    return jax.jit(function)
