"""Types of the arrays that pass between functions, by shape; NumPy and JAX arrays both fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import numpy as np
from jaxtyping import Bool, Float

if TYPE_CHECKING:
    # A type checker cannot follow arrays through both libraries' overloads; the shapes are checked when tests run.
    Numeric = jax.Array | Any
    ArrayLike = jax.Array | Any
else:
    Numeric = jax.Array | np.ndarray
    ArrayLike = jax.Array | np.ndarray | Sequence  # a record makes an array of it, and checks its shape

Scalar = Float[Numeric, ""] | np.float64  # what indexing a NumPy array gives
Vector = Float[Numeric, "_"]
Matrix = Float[Numeric, "_ _"]
Vec3 = Float[Numeric, "3"]
Vec6 = Float[Numeric, "6"]
Columns3 = Float[Numeric, "3 *k"]  # one three-vector, or several as columns
Columns6 = Float[Numeric, "6 *k"]  # one six-vector, or several as columns
Mat3 = Float[Numeric, "3 3"]
Mat6 = Float[Numeric, "6 6"]
Quaternion = Float[Numeric, "4"]  # scalar first, unit
Flag = Bool[Numeric, ""]


def is_traced(*values: object) -> bool:
    """True while JAX traces one of the values: its numbers are unknown then and cannot be checked."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))
