"""Converts between the caller's pytrees and flat lists of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.engine.errors import SignatureError
from freefloat.engine.graph import GraphSignature, Leaf

NUMPY = {
    "f64": np.dtype(np.float64),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "bool": np.dtype(np.bool_),
}


@dataclass(frozen=True)
class CallStructure:
    """Nesting of arguments and results. A graph loaded from a file has no trees: any nesting is accepted.

    A result without its own tree takes that of the first argument if it fits, else it is a tuple.
    """

    signature: GraphSignature
    in_trees: tuple[Any, ...] | None = None
    out_tree: Any = None

    @classmethod
    def with_nesting(cls, signature: GraphSignature, example: Sequence[Any], result: Any) -> CallStructure:
        """Structure from a signature and the nesting of example arguments and of a result."""
        import jax

        trees = tuple(jax.tree_util.tree_structure(argument) for argument in example)
        return cls(signature, trees, jax.tree_util.tree_structure(result))

    @classmethod
    def of(cls, function: Any, example: Sequence[Any]) -> CallStructure:
        """Structure of a function's arguments and result, for arguments like the example."""
        import jax

        shapes = [_shapes(e) for e in example]
        out = jax.eval_shape(function, *shapes)
        return cls.with_nesting(GraphSignature(tuple(map(_leaves, shapes)), _leaves(out)), example, out)

    def flatten(self, args: Sequence[Any]) -> list[list[Any]]:
        """Leaves of every argument; raises an error for a wrong number of arguments or wrong nesting."""
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
        """Result with its leaves in their nesting."""
        import jax

        if self.out_tree is not None:
            return jax.tree_util.tree_unflatten(self.out_tree, leaves)
        if state is not None and self.signature.is_step:
            return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(state), leaves)
        return tuple(leaves)


def _leaves(shapes: Any) -> tuple[Leaf, ...]:
    """Leaves of a tree of shapes; a type that only JAX has keeps its name from JAX."""
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


def leaf_array(value: Any, leaf: Leaf, where: str, batch: int | None = None) -> np.ndarray:
    """Contiguous array of a leaf's type and shape, with a leading axis of length `batch` if given; checked."""
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
