"""One way to compile a function in tests, so that all tests compile the same way."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from freefloat import engine


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as native code; spacecraft, states and arrays are arguments, so new numbers need no new code."""
    programs: dict[Any, engine.Compiled] = {}

    def call(*arguments: Any) -> Any:
        arguments = jax.tree.map(np.asarray, arguments)
        leaves, structure = jax.tree.flatten(arguments)
        key = (structure, tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves))
        if key not in programs:
            programs[key] = engine.compile(function, *arguments)
        return programs[key](*arguments)

    return call
