"""Arrays while a function is traced: plain numbers, or object arrays whose elements are nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Node
from freefloat.engine.runtime.structure import NUMPY

Array = Any  # a numpy array: of numbers, or of dtype object and then of nodes
DTYPES = {dtype: name for name, dtype in NUMPY.items()}


def is_symbolic(x: Any) -> bool:
    """Whether an array holds nodes; otherwise its numbers are known."""
    return isinstance(x, np.ndarray) and x.dtype == object


def as_nodes(b: Builder, x: Array) -> Array:
    """Array of nodes with the elements of an array of nodes or numbers."""
    if is_symbolic(x):
        return x
    dtype = DTYPES[x.dtype]
    result = np.empty(x.shape, object)
    for k, value in enumerate(x.ravel().tolist()):
        result.flat[k] = b.constant(value, dtype)
    return result


def object_array(elements: list[Any], shape: tuple[int, ...]) -> Array:
    """Object array of nodes in the given shape; NumPy must not look inside them."""
    result = np.empty(len(elements), object)
    for k, element in enumerate(elements):
        result[k] = element
    return result.reshape(shape)


def fold_constants(x: Array, dtype: np.dtype) -> Array:
    """Convert an array to plain numbers if every element is a constant."""
    if not is_symbolic(x) or any(n.op != "const" for n in x.ravel()):
        return x
    return np.array([n.value for n in x.ravel()], dtype).reshape(x.shape)


def elementwise(function: Callable[..., Node], *arrays: Array) -> Array:
    """Apply a function of scalars to arrays that broadcast; infinities and NaN among constants give no warning."""
    with np.errstate(all="ignore"):
        result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return result if isinstance(result, np.ndarray) else object_array([result], ())
