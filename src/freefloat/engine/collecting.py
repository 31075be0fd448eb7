"""Python's search for cyclic garbage stands still while graphs are built: it takes a third of the time otherwise."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def without_collecting(function: Callable[P, R]) -> Callable[P, R]:
    """A function that makes a great many objects, nearly all of which stay."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            return function(*args, **kwargs)
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            gc.enable()

    return called
