"""Rules for calls and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from freefloat.engine.graph import Block, Branch, Builder, Node

from .arrays import Array, is_symbolic, object_array
from .interpreter import Tracer
from .loops import flat_nodes, inner_level, nodes_to_arrays
from .rules import rule

CALLS = (
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "remat",
    "remat2",
    "checkpoint",
    "custom_jvp_call",
    "custom_vjp_call",
)


@rule(*CALLS, "custom_vjp_call_jaxpr", "custom_lin", "xla_call", "run_state")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    """Rule for calls: the called function is traced in place."""
    p = eqn.params
    inner = next(p[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in p)
    return tracer.run_closed(inner, args)


@rule("custom_linear_solve")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    lengths, solve = eqn.params["const_lengths"], eqn.params["jaxprs"].solve
    first = lengths.matvec + lengths.vecmat
    return tracer.run_closed(solve, [*args[first : first + lengths.solve], *args[sum(lengths) :]])


@rule("cond")
def _(tracer: Tracer, eqn: Any, index: Array, *args: Array) -> list[Array]:
    """Rule for `cond`: short ways are all computed and one is selected, longer ones stay a branch."""
    branches = eqn.params["branches"]
    if not is_symbolic(index):
        return tracer.run_closed(branches[min(max(int(index), 0), len(branches) - 1)], args)
    avals = [v.aval for v in eqn.outvars]
    which = condition(tracer.b, index[()])
    ways = _trace_ways(tracer, branches, args)
    if ways.are_short(tracer.budget.branch):
        outs = [flat_nodes(tracer, tracer.run_closed(branch, args)) for branch in branches]
        return nodes_to_arrays([select_way(tracer.b, which, values) for values in zip(*outs, strict=True)], avals)
    return nodes_to_arrays(ways.results(which), avals)


def condition(b: Builder, index: Node) -> Node:
    """Truth value from which an index was converted; the index itself if it was not."""
    if index.op == "select" and index.args[1] is b.constant(1, "i32") and index.args[2] is b.constant(0, "i32"):
        return index.args[0]
    return index


def select_way(b: Builder, which: Node, values: Sequence[Node]) -> Node:
    """Node that selects the value of the chosen way; all values are computed."""
    if which.dtype == "bool":
        return b.select(which, values[1], values[0])
    result = values[-1]
    for k in range(len(values) - 2, -1, -1):
        result = b.select(b.compare("le", which, b.constant(k, which.dtype)), values[k], result)
    return result


class Ways:
    """The ways of a branch, each traced with its own input nodes (stand-ins) for the operands.

    So no node of a way is shared with the code around it or with another way, where it would not be computed; and
    nothing is moved out of a way, which may not be chosen. Constants stay constants.
    """

    def __init__(
        self, b: Builder, operands: Sequence[Node], ins: Sequence[Sequence[Node]], outs: Sequence[Sequence[Node]]
    ) -> None:
        self.b, self.operands, self.ins, self.outs = b, tuple(operands), ins, outs
        self.depth = b.level + 1

    def are_short(self, budget: int) -> bool:
        """Whether computing all ways and selecting one needs no more operations than the budget."""
        blocks = [Block((), tuple(way), self.depth) for way in self.outs]
        endless = any(block.contains("while") for block in blocks)
        selects = len(self.outs[0]) - len(self._common_results())
        return not endless and selects + sum(block.operations().total() for block in blocks) <= budget

    def results(self, which: Node) -> list[Node]:
        """Results of the chosen way; where all ways return the same constant or operand, that one."""
        pairs = zip(self.ins, self.outs, strict=True)
        branch = Branch(tuple(Block(tuple(ins), tuple(way), self.depth) for ins, way in pairs))
        found = self.b.branch(branch, which, self.operands)
        same = self._common_results()
        return [same.get(k, n) for k, n in enumerate(found)]

    def _common_results(self) -> dict[int, Node]:
        """Results that are the same constant or operand in every way, by their number."""
        operands = [dict(zip(ins, self.operands, strict=True)) for ins in self.ins]
        found = {}
        for k, values in enumerate(zip(*self.outs, strict=True)):
            known = {n if n.op == "const" else mine.get(n) for n, mine in zip(values, operands, strict=True)}
            if len(known) == 1 and (only := known.pop()) is not None:
                found[k] = only
        return found


def _trace_ways(tracer: Tracer, branches: Sequence[Any], args: Sequence[Array]) -> Ways:
    """Trace the ways of a JAX `cond`, whose operands are known beforehand."""
    symbolic = (node for a in args if is_symbolic(a) for node in a.ravel() if node.op != "const")
    operands = tuple(dict.fromkeys(symbolic))
    ins, outs = [], []
    with inner_level(tracer.b):
        for branch in branches:
            stand_ins = {node: tracer.b.input(k, node.dtype) for k, node in enumerate(operands)}
            inner = [_replace_nodes(a, stand_ins) if is_symbolic(a) else a for a in args]
            ins.append(tuple(stand_ins.values()))
            outs.append(flat_nodes(tracer, tracer.run_closed(branch, inner)))
    return Ways(tracer.b, operands, ins, outs)


def _replace_nodes(array: Array, stand_ins: dict[Node, Node]) -> Array:
    return object_array([stand_ins.get(n, n) for n in array.ravel()], array.shape)
