"""Between the caller's pytrees and flat lists of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.engine.errors import SignatureError
from freefloat.engine.graph import Leaf, Signature

NUMPY = {
    "f64": np.dtype(np.float64),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "bool": np.dtype(np.bool_),
}


@dataclass(frozen=True)
class Structure:
    """How arguments and results are nested. A graph loaded from a file has no trees: any will do.

    A result without a tree of its own takes that of the first argument if it fits, else it is a tuple.
    """

    signature: Signature
    in_trees: tuple[Any, ...] | None = None
    out_tree: Any = None

    @classmethod
    def nested(cls, signature: Signature, example: Sequence[Any], result: Any) -> Structure:
        """A known signature with the nesting of example arguments and of a result."""
        import jax

        trees = tuple(jax.tree_util.tree_structure(one) for one in example)
        return cls(signature, trees, jax.tree_util.tree_structure(result))

    @classmethod
    def of(cls, function: Any, example: Sequence[Any]) -> Structure:
        """The trees of a function's arguments and result, and what leaves they have."""
        import jax

        shapes = [_shapes(e) for e in example]
        out = jax.eval_shape(function, *shapes)
        return cls.nested(Signature(tuple(map(_leaves, shapes)), _leaves(out)), example, out)

    def flatten(self, args: Sequence[Any]) -> list[list[Any]]:
        """Leaves of every argument, with the number of arguments and their nesting checked."""
        import jax

        expected = self.signature.arguments
        if len(args) != len(expected):
            raise SignatureError(f"{len(args)} arguments given, the compiled function takes {len(expected)}.")
        flat = []
        for k, (arg, leaves) in enumerate(zip(args, expected, strict=True)):
            parts, tree = jax.tree_util.tree_flatten(arg)
            if len(parts) != len(leaves) or (self.in_trees is not None and tree != self.in_trees[k]):
                wanted = self.in_trees[k] if self.in_trees is not None else f"{len(leaves)} leaves"
                raise SignatureError(f"Argument {k} is nested as {tree}; the function was compiled for {wanted}.")
            flat.append(parts)
        return flat

    def result(self, leaves: list[Any], state: Any = None) -> Any:
        """A result's leaves in their nesting."""
        import jax

        if self.out_tree is not None:
            return jax.tree_util.tree_unflatten(self.out_tree, leaves)
        if state is not None and self.signature.is_step:
            return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(state), leaves)
        return tuple(leaves)


def _leaves(shapes: Any) -> tuple[Leaf, ...]:
    """Leaves of a tree of shapes; a type that only JAX knows goes by the name it has there."""
    import jax

    names = {dtype: name for name, dtype in NUMPY.items()}
    flat = jax.tree_util.tree_flatten_with_path(shapes)[0]
    return tuple(
        Leaf(jax.tree_util.keystr(path) or ".", tuple(x.shape), names.get(x.dtype, str(x.dtype))) for path, x in flat
    )


def _shapes(tree: Any) -> Any:
    import jax

    def shape(leaf: Any) -> Any:
        array = leaf if hasattr(leaf, "shape") and hasattr(leaf, "dtype") else np.asarray(leaf)
        return jax.ShapeDtypeStruct(array.shape, array.dtype)

    return jax.tree_util.tree_map(shape, tree)


def checked(value: Any, leaf: Leaf, where: str, batch: int | None = None) -> np.ndarray:
    """A leaf as a contiguous array of its type and shape; with a batch, that many of them."""
    array = np.asarray(value)
    shape = leaf.shape if batch is None else (batch, *leaf.shape)
    if array.shape != shape:
        raise SignatureError(f"{where}, leaf {leaf.path}, has shape {array.shape}; expected {shape}.")
    dtype = NUMPY[leaf.dtype]
    if array.dtype != dtype and not np.can_cast(array.dtype, dtype, "same_kind"):
        raise SignatureError(
            f"{where}, leaf {leaf.path}, is {array.dtype}, but it was compiled for {dtype}. "
            "Give an example of the type you mean: 1.0, not 1."
        )
    return np.asarray(array, dtype, order="C")
