"""Traces a Python function with JAX and makes a graph of its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from freefloat.engine.errors import EngineError, PrecisionError, UnsupportedError
from freefloat.engine.garbage_collection import without_collecting
from freefloat.engine.graph import Builder, Graph, GraphSignature, Leaf
from freefloat.engine.graph.pruning import prune

from . import control_flow, elementwise, indexing, linear_algebra, loops, movement, random_keys, reductions, special  # noqa: F401
from .arrays import DTYPES, Array
from .interpreter import Budget, Tracer
from .refusals import error_line


def trace(
    function: Callable[..., Any],
    *example: Any,
    strict_nan: bool = False,
    unroll: int = Budget.unroll,
    branch: int = Budget.branch,
) -> Graph:
    """Scalar graph of a pure JAX function, for arguments shaped like the example.

    ``unroll`` and ``branch`` are operation counts above which a scan stays a loop and a cond stays a
    branch. ``strict_nan`` keeps operations that can only matter when a number is infinite or NaN.
    """
    return trace_with_result(function, *example, strict_nan=strict_nan, unroll=unroll, branch=branch)[0]


@without_collecting
def trace_with_result(
    function: Callable[..., Any],
    *example: Any,
    strict_nan: bool = False,
    unroll: int = Budget.unroll,
    branch: int = Budget.branch,
) -> tuple[Graph, Any]:
    """Graph of a function, and the shapes of its result in their nesting."""
    import jax

    if not jax.config.read("jax_enable_x64"):
        raise PrecisionError(
            "JAX would trace in single precision: call jax.config.update('jax_enable_x64', True) first."
        )
    arguments = tuple(_leaves(jax, e, f"argument {k}") for k, e in enumerate(example))
    shapes = jax.tree_util.tree_map(_shape, tuple(example))
    tracer = Tracer(Builder(strict_nan=strict_nan), Budget(unroll, branch))
    inputs = _inputs(tracer, [leaf for a in arguments for leaf in a])
    outs, out = _trace_function(jax, function, shapes, tracer, inputs)
    results = _leaves(jax, out, "the result")
    ins = tuple(n for a in inputs for n in a.ravel())
    nodes = tuple(n for o in outs for n in tracer.nodes(np.asarray(o)).ravel())
    block = prune(tracer.b.block(list(ins), list(nodes)))
    return Graph(block, GraphSignature(arguments, results)), out


def _trace_function(
    jax: Any, function: Callable[..., Any], shapes: Any, tracer: Tracer, inputs: list[Array]
) -> tuple[list[Array], Any]:
    """Leaves of the result as nodes, and its shapes; errors about values that Python needs are shortened."""
    from .known_versions import is_traced_into_graph

    def anew(
        *arguments: Any,
    ) -> Any:  # a new function: JAX would reuse its trace of a known one, though globals may have changed
        return function(*arguments)

    try:
        if is_traced_into_graph():
            from . import direct, once  # noqa: F401  `once` is called by the functions that are traced

            return direct.trace_into(tracer, anew, shapes, inputs)
        closed, out = jax.make_jaxpr(anew, return_shape=True)(*shapes)
    except jax.errors.TracerArrayConversionError as error:
        raise UnsupportedError(
            "NumPy was given a traced value", error_line(error), "Use jax.numpy in place of numpy."
        ) from error
    except (jax.errors.NonConcreteBooleanIndexError, jax.errors.ConcretizationTypeError) as error:
        first = str(error).splitlines()[0]
        raise UnsupportedError(
            f"A shape or a Python branch depends on a traced value ({first})",
            error_line(error),
            "Shapes must be known when tracing: use jnp.where, a mask, lax.cond or lax.scan of fixed length.",
        ) from error
    _leaves(jax, out, "the result")
    return tracer.run(closed.jaxpr, closed.consts, inputs), out


def _shape(leaf: Any) -> Any:
    import jax

    array = leaf if hasattr(leaf, "shape") and hasattr(leaf, "dtype") else np.asarray(leaf)
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def _leaves(jax: Any, tree: Any, what: str) -> tuple[Leaf, ...]:
    leaves = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        shape = _shape(leaf)
        name = jax.tree_util.keystr(path) or "."
        if shape.dtype not in DTYPES:
            raise _leaf_error(f"{what}, leaf {name}", shape.dtype)
        leaves.append(Leaf(name, tuple(shape.shape), DTYPES[shape.dtype]))
    return tuple(leaves)


def _leaf_error(where: str, dtype: Any) -> EngineError:
    if getattr(dtype, "kind", "") in "fV":
        return PrecisionError(f"{where} is {dtype}. Compiled code is double precision: give it as float64.")
    return PrecisionError(f"{where} is {dtype}. Use float64, int32, int64, uint32, uint64 or bool.")


def _inputs(tracer: Tracer, leaves: Sequence[Leaf]) -> list[Array]:
    names = {name: dtype for dtype, name in DTYPES.items()}
    arrays, first = [], 0
    for leaf in leaves:
        fresh = tracer.inputs(leaf.shape, names[leaf.dtype], first)
        arrays.append(fresh if leaf.size else np.zeros(leaf.shape, names[leaf.dtype]))
        first += leaf.size
    return arrays
