"""Traces a function directly into the graph: JAX's primitives act on nodes when they are called, without a jaxpr.

This uses private names of JAX (`jax._src.core`: `Trace`, `Tracer`, `trace_ctx`, `set_current_trace`, `typeof`), as
they are in the versions of `known_versions`; with any other version, functions are traced by `jax.make_jaxpr`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import core, source_info_util
from jax._src.interpreters import ad
from jax._src.interpreters import partial_eval as pe

from freefloat.engine.graph import Node
from freefloat.engine.graph.replay import replay
from freefloat.engine.tracer import set_direct_tracing

from .arrays import Array, as_nodes, fold_constants, object_array
from .control_flow import Ways, condition, select_way
from .interpreter import Body, Tracer
from .loops import ScanLoop, at_level, flat_nodes, inner_level, nodes_to_arrays
from .reductions import matrix_product

F64 = np.dtype(np.float64)


class _Variable:
    """An operand or a result of an equation, of which only the type is known."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval


class _Equation:
    """A primitive that is applied, with the attributes of a jaxpr equation that the rules read."""

    __slots__ = ("effects", "invars", "outvars", "params", "primitive")

    def __init__(self, primitive: Any, params: Any, ins: Sequence[Any], outs: Sequence[Any], effects: Any) -> None:
        self.primitive, self.params, self.effects = primitive, params, effects
        self.invars, self.outvars = [_Variable(a) for a in ins], [_Variable(a) for a in outs]

    @property
    def source_info(self) -> Any:
        """The user's present line; it is read while the function is still being called."""
        return source_info_util.current()


class Way:
    """A way of a branch while it is traced, with input nodes (stand-ins) for the values around it that it reads.

    All nodes of the way depend on its own stand-ins, so none of them is shared with the code around it, where it might
    not be computed.
    """

    def __init__(self, outer: Way | None, level: int) -> None:
        self.outer, self.level = outer, level  # level: number of loop bodies and ways around its nodes
        self.stand_ins: dict[Node, Node] = {}
        self.outs: list[Node] = []
        self.types: list[Any] = []
        self.tree: Any = None


_types: dict[Any, Any] = {}


def _type(shape: tuple[int, ...], dtype: Any = F64) -> Any:
    found = _types.get((shape, dtype))
    if found is None:
        found = _types[shape, dtype] = core.ShapedArray(shape, dtype)
    return found


class NodeTrace(core.Trace):
    """A JAX trace that carries out operations on nodes."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.requires_low = False
        self.tracer, self.b = tracer, tracer.b
        self.way: Way | None = None  # the innermost way of a branch that is being traced
        self.answers: dict[Any, Any] = {}  # results of functions that are traced once: see `once`
        self.book: Any = None  # registry of the pieces that this trace uses: see `pieces`
        self._methods: dict[str, Any] = {}
        self._constants: dict[Any, Array] = {}

    def stage_value(self, val: Any) -> NodeTracer:
        """Tracer of this trace for any value."""
        return val if type(val) is NodeTracer else NodeTracer(self, _known_array(val), core.typeof(val))

    def value(self, x: Any) -> Array:
        """Array of an operand: numbers, or nodes of the way that is being traced."""
        if type(x) is not NodeTracer:
            return _known_array(x)
        return x.val if x.way is self.way or x.val.dtype != object else self._nodes_in(x.val, x.way, self.way)

    def _nodes_in(self, val: Array, came_from: Way | None, way: Way | None) -> Array:
        """Array of nodes from the code around a way, replaced by the way's stand-ins."""
        if way is came_from:
            return val
        return object_array([self._node_in(n, came_from, way) for n in val.ravel()], val.shape)

    def node_in_way(self, node: Node, came_from: Way | None) -> Node:
        """Node or stand-in of a node in the way that is being traced."""
        return self._node_in(node, came_from, self.way)

    def _node_in(self, node: Node, came_from: Way | None, way: Way | None) -> Node:
        if way is came_from:
            return node
        if way is None:
            raise RuntimeError("A value of one way of a branch is used outside of it: return it from the way.")
        return self._stand_in(way, self._node_in(node, came_from, way.outer))

    def _stand_in(self, way: Way, node: Node) -> Node:
        if node.op == "const":
            return node
        found = way.stand_ins.get(node)
        if found is None:
            with at_level(self.b, way.level):  # it may be read first in a body or a way inside this one
                found = way.stand_ins[node] = self.b.input(len(way.stand_ins), node.dtype)
        return found

    def nodes(self, x: Array) -> Array:
        """Array of nodes with the elements of an array of nodes or numbers."""
        if x.dtype == object:
            return x
        key = x.shape, x.dtype.str, x.tobytes()
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = as_nodes(self.b, x)
        return found

    def apply(self, method: str, *arrays: Array) -> NodeTracer:
        """Apply a method of the builder to arrays of doubles, element by element."""
        found = self._methods.get(method)
        if found is None:
            found = self._methods[method] = np.frompyfunc(getattr(self.b, method), len(arrays), 1)
        with np.errstate(all="ignore"):
            return self.wrap_result(found(*map(self.nodes, arrays)), F64)

    def wrap_result(self, val: Any, dtype: Any) -> NodeTracer:
        """Tracer of a result, which holds plain numbers where all of its elements are known."""
        if not isinstance(val, np.ndarray):
            val = object_array([val], ()) if isinstance(val, Node) else np.asarray(val, dtype)
        if val.dtype == object:
            val = fold_constants(val, dtype) if val.size else np.zeros(val.shape, dtype)
        return NodeTracer(self, val, _type(val.shape, dtype))

    def process_primitive(self, primitive: Any, args: Any, params: Any, /) -> Any:
        """Results of a primitive by its rule."""
        types = [core.typeof(a) for a in args]
        outs, effects = self._result_types(primitive, types, params)
        outs = outs if primitive.multiple_results else [outs]
        equation, tracer = _Equation(primitive, params, types, outs, effects), self.tracer
        tracer.calls.append(equation)
        values = [self.value(a) for a in args]
        with core.set_current_trace(core.eval_trace):
            results = tracer.apply(equation, values)
        made = [NodeTracer(self, tracer.fold_result(equation, a, v), a) for a, v in zip(outs, results, strict=True)]
        tracer.calls.pop()
        return made if primitive.multiple_results else made[0]

    @staticmethod
    def _result_types(primitive: Any, types: list[Any], params: Any) -> tuple[Any, Any]:
        if primitive.name == "jit":
            return params["jaxpr"].out_avals, params["jaxpr"].effects
        try:
            return pe._cached_abstract_eval(primitive, *types, **params)
        except TypeError:  # parameters that cannot be hashed
            return primitive.abstract_eval(*types, **params)

    def process_call(self, call_primitive: Any, f: Any, tracers: Any, params: Any, /) -> Any:
        """Trace a called function in place."""
        with core.set_current_trace(self):
            return f.call_wrapped(*tracers)

    def process_custom_jvp_call(self, primitive: Any, fun: Any, /, *rules_and_tracers: Any, **_: Any) -> Any:
        """Call the function itself: derivatives are taken before values arrive here."""
        with core.set_current_trace(self):
            return fun.call_wrapped(*rules_and_tracers[-1])

    process_custom_vjp_call = process_custom_jvp_call


def _is_key(x: Any) -> bool:
    """Whether an array or its type is one of random keys, whose values have their words as a last axis here."""
    return hasattr(getattr(x, "dtype", None), "_impl")


def _known_array(x: Any) -> Array:
    """Array of a known value; random keys become their words."""
    if _is_key(x):
        with core.set_current_trace(core.eval_trace):
            return np.asarray(jax.random.key_data(x))
    return np.asarray(x)


class NodeTracer(core.Tracer):
    """An array of nodes or known numbers. Frequent operations act on it at once, all others through JAX."""

    __slots__ = ("val", "way")
    aval: Any

    def __init__(self, trace: NodeTrace, val: Array, aval: Any) -> None:
        self._trace, self.aval, self._line_info = trace, aval, None
        self.val, self.way = val, trace.way

    def _origin_msg(self) -> str:
        return ""

    def __getitem__(self, index: Any) -> Any:
        if not (_is_plain_index(index) and _acts_directly(self)):
            return super().__getitem__(index)
        try:
            val = self._trace.value(self)[index]
        except IndexError:
            return super().__getitem__(index)  # JAX's own error
        return self._trace.wrap_result(val, self.aval.dtype)

    @property
    def T(self) -> Any:
        """Transpose of the array."""
        if not _acts_directly(self):
            return self.aval.T.fget(self)
        return self._trace.wrap_result(self._trace.value(self).T, self.aval.dtype)

    def __neg__(self) -> Any:
        return self._trace.apply("neg", self._trace.value(self)) if _acts_directly(self, F64) else super().__neg__()

    def __matmul__(self, other: Any) -> Any:
        found = _product(self, self, other)
        return super().__matmul__(other) if found is None else found

    def __rmatmul__(self, other: Any) -> Any:
        found = _product(self, other, self)
        return super().__rmatmul__(other) if found is None else found


core.pytype_aval_mappings[NodeTracer] = lambda x: x.aval


def _acts_directly(x: NodeTracer, dtype: Any = None) -> bool:
    """Whether operations act at once: no transformation of JAX between differentiates or maps over this array."""
    now = core.trace_ctx.trace
    here = now is x._trace or (type(now) is ad.JVPTrace and now.parent_trace is x._trace)
    return here and (x.aval.dtype == dtype if dtype is not None else not _is_key(x.aval))


def _operand(trace: NodeTrace, x: Any) -> Array | None:
    """Array of an operand if it holds doubles of this trace, else None."""
    kind = type(x)
    if kind is NodeTracer:
        return trace.value(x) if x._trace is trace and x.aval.dtype == F64 else None
    if kind is float or kind is np.float64:
        return np.asarray(x)
    return x if kind is np.ndarray and x.dtype == F64 else None


def _operator(name: str, method: str, *, swapped: bool) -> Any:
    by_jax = getattr(core.Tracer, name)

    def operator(self: NodeTracer, other: Any) -> Any:
        y = _operand(self._trace, other) if _acts_directly(self, F64) else None
        if y is None:
            return by_jax(self, other)
        x = self._trace.value(self)
        return self._trace.apply(method, y, x) if swapped else self._trace.apply(method, x, y)

    return operator


for _name, _method in (("add", "add"), ("sub", "sub"), ("mul", "mul")):
    setattr(NodeTracer, f"__{_name}__", _operator(f"__{_name}__", _method, swapped=False))
    setattr(NodeTracer, f"__r{_name}__", _operator(f"__r{_name}__", _method, swapped=True))


def _product(self: NodeTracer, left: Any, right: Any) -> NodeTracer | None:
    """Product of vectors and matrices, summed as by the rule for `dot_general`; None where JAX must handle it."""
    if not _acts_directly(self, F64):
        return None
    trace = self._trace
    x, y = _operand(trace, left), _operand(trace, right)
    if x is None or y is None or not x.size or not y.size:
        return None
    if x.ndim not in (1, 2) or y.ndim not in (1, 2) or x.shape[-1] != y.shape[0]:
        return None
    if x.dtype != object and y.dtype != object:
        return None
    sums = matrix_product(trace.b, trace.nodes(x).reshape(-1, x.shape[-1]), trace.nodes(y).reshape(y.shape[0], -1))
    return trace.wrap_result(np.asarray(sums).reshape((*x.shape[:-1], *y.shape[1:])), F64)


def _is_plain_index(index: Any) -> bool:
    """Whether an index is known, and has the same meaning in NumPy and JAX."""
    kind = type(index)
    if kind is tuple:
        return sum(type(i) is np.ndarray for i in index) <= 1 and all(map(_is_plain_index, index))
    if kind is slice:
        return all(x is None or type(x) is int for x in (index.start, index.stop, index.step))
    return kind is int or index is None or index is Ellipsis or (kind is np.ndarray and index.dtype.kind == "i")


# ---- tracing a whole function


def trace_into(
    tracer: Tracer, function: Callable[..., Any], shapes: Any, inputs: list[Array]
) -> tuple[list[Array], Any]:
    """Trace a function; returns the leaves of its result as arrays of nodes, and the shapes in their nesting."""
    trace = NodeTrace(tracer)
    leaves, tree = jax.tree.flatten(shapes)
    arguments = [NodeTracer(trace, a, _type(s.shape, s.dtype)) for a, s in zip(inputs, leaves, strict=True)]
    with core.set_current_trace(trace):
        out = function(*jax.tree.unflatten(tree, arguments))
        out = jax.tree.map(lambda x: trace.stage_value(x if isinstance(x, core.Tracer) else jax.numpy.asarray(x)), out)
    if trace.book is not None:
        trace.book.write()
    flat_out, out_tree = jax.tree.flatten(out)
    shape = jax.tree.unflatten(out_tree, [jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in flat_out])
    return [x.val for x in flat_out], shape


def is_tracing() -> bool:
    """Whether operations act on a graph now, directly or through derivatives along a direction."""
    return node_trace() is not None


def node_trace() -> NodeTrace | None:
    """Trace on whose graph operations act now, also through derivatives along a direction; None if there is none."""
    now = core.trace_ctx.trace
    while type(now) is ad.JVPTrace:
        now = now.parent_trace
    return now if type(now) is NodeTrace else None


# ---- branches


def branch(predicate: Any, true: Callable[[], Any], false: Callable[[], Any]) -> Any:
    """`jax.lax.cond` without operands, whose ways are traced into the graph where possible, else by JAX."""
    trace = core.trace_ctx.trace
    if type(trace) is not NodeTrace or type(predicate) is not NodeTracer:
        return jax.lax.cond(predicate, true, false)
    index = trace.value(predicate)
    if index.dtype != object:
        return true() if bool(index) else false()
    ways = [_trace_way(trace, function) for function in (false, true)]
    types, tree = ways[0].types, ways[0].tree
    if tree != ways[1].tree or [(t.shape, t.dtype) for t in types] != [(t.shape, t.dtype) for t in ways[1].types]:
        return jax.lax.cond(predicate, true, false)  # which raises the error
    which, found = condition(trace.b, index[()]), _unify_operands(trace, ways)
    if found.are_short(trace.tracer.budget.branch):
        outs = [replay(trace.b, way.outs, {new: old for old, new in way.stand_ins.items()}) for way in ways]
        values = [select_way(trace.b, which, pair) for pair in zip(*outs, strict=True)]
    else:
        values = found.results(which)
    return _nest_tracers(trace, tree, types, nodes_to_arrays(values, types))


def _nest_tracers(trace: NodeTrace, tree: Any, types: Sequence[Any], arrays: Sequence[Array]) -> Any:
    return jax.tree.unflatten(tree, [NodeTracer(trace, a, t) for a, t in zip(arrays, types, strict=True)])


def _leaves(trace: NodeTrace, out: Any) -> tuple[list[Node], list[Any], Any]:
    """All scalars of a result, the types of its leaves, and its nesting."""
    leaves, tree = jax.tree.flatten(out)
    staged = [trace.stage_value(x if isinstance(x, core.Tracer) else jax.numpy.asarray(x)) for x in leaves]
    return flat_nodes(trace.tracer, [trace.value(x) for x in staged]), [_plain_type(x.aval) for x in staged], tree


def _plain_type(aval: Any) -> Any:
    return _type(aval.shape, aval.dtype)


def _trace_way(trace: NodeTrace, function: Callable[[], Any]) -> Way:
    """Trace a function as a way of a branch."""
    way, kept = Way(trace.way, trace.b.level + 1), trace.answers
    trace.way, trace.answers = way, {}
    try:
        with inner_level(trace.b):
            way.outs, way.types, way.tree = _leaves(trace, function())
    finally:
        trace.way, trace.answers = way.outer, kept
    return way


def _unify_operands(trace: NodeTrace, ways: Sequence[Way]) -> Ways:
    """The ways with common operands: all that any of them has read."""
    operands = tuple(dict.fromkeys(node for way in ways for node in way.stand_ins))
    ins = []
    with inner_level(trace.b):
        for way in ways:
            ins.append([way.stand_ins.get(n) or trace.b.input(0, n.dtype) for n in operands])
            for place, node in enumerate(ins[-1]):
                node.value = place
    return Ways(trace.b, operands, ins, [way.outs for way in ways])


# ---- loops


def scan(body: Callable[[Any, Any], tuple[Any, Any]], start: Any, rows: Any) -> tuple[Any, Any]:
    """`jax.lax.scan` over the rows, whose body is traced into the graph where possible, else by JAX."""
    trace = core.trace_ctx.trace
    if type(trace) is not NodeTrace:
        return jax.lax.scan(body, start, rows)
    _, start_types, start_tree = _leaves(trace, start)
    carry = [trace.value(x) for x in _stage_leaves(trace, start)]
    scanned = _stage_leaves(trace, rows)
    if not scanned or not scanned[0].aval.shape[0]:  # no pass that would show what the body returns
        return jax.lax.scan(body, start, rows)
    row_types = [_type(x.aval.shape[1:], x.aval.dtype) for x in scanned]
    row_tree, count, trees = jax.tree.structure(rows), len(carry), []

    def call(arrays: list[Array]) -> list[Array]:
        trace.answers = {}
        with core.set_current_trace(trace):
            last = _nest_tracers(trace, start_tree, start_types, arrays[:count])
            carried, result = body(last, _nest_tracers(trace, row_tree, row_types, arrays[count:]))
            outs = [*_stage_leaves(trace, carried), *_stage_leaves(trace, result)]
        trees[:] = [jax.tree.structure(carried), jax.tree.structure(result)]
        loop_body.out_avals[:] = [_plain_type(x.aval) for x in outs]
        return [trace.value(x) for x in outs]

    loop_body = Body(call, list(start_types))
    run = ScanLoop(trace.tracer, loop_body, scanned[0].aval.shape[0], False, [], count)
    kept = trace.answers
    try:
        with core.set_current_trace(core.eval_trace):
            outs = run.run(carry, [trace.value(x) for x in scanned])
    finally:
        trace.answers = kept
    if trees[0] != start_tree or [(t.shape, t.dtype) for t in loop_body.out_avals[:count]] != [
        (t.shape, t.dtype) for t in start_types
    ]:
        return jax.lax.scan(body, start, rows)  # which raises the error
    stacked = [_type((run.length, *t.shape), t.dtype) for t in loop_body.out_avals[count:]]
    carried = _nest_tracers(trace, start_tree, start_types, outs[:count])
    return carried, _nest_tracers(trace, trees[1], stacked, outs[count:])


def _stage_leaves(trace: NodeTrace, tree: Any) -> list[NodeTracer]:
    leaves = jax.tree.leaves(tree)
    return [trace.stage_value(x if isinstance(x, core.Tracer) else jax.numpy.asarray(x)) for x in leaves]


set_direct_tracing(sys.modules[__name__])
