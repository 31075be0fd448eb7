"""Rebuilds nodes with some of their operands replaced: everything is simplified again, and nothing is traced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from .floats import LIBM, ROUNDING
from .integers import FOLD
from .memory import Memory
from .node import Block, Branch, Loop, Node, While

_METHODS = {
    **{op: op for op in ("neg", "add", "sub", "mul", "rcp", "sin", "cos", "atan2", "fmod")},
    **{op: op for op in ("select", "lookup", "update")},
    "div": "quotient", "pow": "power", "abs": "absolute", "and": "both", "or": "either", "xor": "exclusive_or",
    "not": "invert",
}  # fmt: skip
_NAMED = {
    **dict.fromkeys(("lt", "le", "eq"), "compare"),
    **dict.fromkeys(("max", "min"), "extreme"),
    **dict.fromkeys(("sqrt", "exp", "log", *LIBM), "function"),
    **dict.fromkeys(ROUNDING, "rounded"),
    **dict.fromkeys(FOLD, "integer"),
    **dict.fromkeys(("shl", "lshr", "ashr"), "shift"),
    **dict.fromkeys(("popcount", "clz"), "bit_count"),
}


def replay(b: Memory, outs: Sequence[Node], replacements: Mapping[Node, Node]) -> list[Node]:
    """Rebuild the nodes `outs` with the nodes in `replacements` replaced."""
    return _Replay(b, replacements).rebuild_nodes(outs)


@dataclass(frozen=True)
class ForeignNodes:
    """Quotients of nodes that another builder has made, and the orders in which they were rebuilt."""

    quotients: Mapping[Node, tuple[Node, Node]]
    orders: dict[tuple[Node, ...], list[Node]] = field(
        default_factory=dict
    )  # of nodes rebuilt before, by their results


def replay_foreign(
    b: Memory, outs: Sequence[Node], replacements: Mapping[Node, Node], source: ForeignNodes
) -> list[Node]:
    """Rebuild the nodes `outs` of another builder with this one; `replacements` maps their inputs."""
    return _ForeignReplay(b, replacements, source, b.level).rebuild_nodes(outs)


class _Replay:
    """Rebuilds nodes of one builder, with a replacement for some of them."""

    def __init__(self, b: Memory, replacements: Mapping[Node, Node]) -> None:
        self.b, self.replacements = b, replacements
        self.new = {old: node for old, node in replacements.items() if old is not node}
        self.results: dict[Node, list[Node]] = {}  # of loops and branches that were rebuilt
        self.level = 0  # level at which level 0 of the old nodes lies

    def rebuild_nodes(self, outs: Sequence[Node]) -> list[Node]:
        """Rebuild the nodes that depend on a replaced one, and return the results."""
        parts = self._nodes_to_rebuild(outs)
        for node in parts:
            if any(a in self.new or a in self.results for a in node.args):
                self._rebuild_node(node)
        return self._record_quotients(parts, self.b.quotients, outs)

    def _record_quotients(
        self, parts: Sequence[Node], quotients: Mapping[Node, tuple[Node, Node]], outs: Sequence[Node]
    ) -> list[Node]:
        """Record the quotients among rebuilt nodes, once all are made as operands may be newer; return the results."""
        for node in parts:
            if node in quotients and (made := self.replacement(node)).op != "const":
                self.b.quotients.setdefault(
                    made, (self.replacement(quotients[node][0]), self.replacement(quotients[node][1]))
                )
        return [self.replacement(n) for n in outs]

    def replacement(self, node: Node) -> Node:
        """Replacement of a node, or the node itself."""
        return self.new.get(node, node)

    def _nodes_to_rebuild(self, outs: Sequence[Node]) -> list[Node]:
        return self._nodes_in_order(outs, self.b.quotients)

    def _nodes_in_order(self, outs: Sequence[Node], quotients: Mapping[Node, tuple[Node, Node]]) -> list[Node]:
        """Every node that the results depend on, in the order in which they were made."""
        stack, seen, found = list(outs), set(self.replacements), []
        while stack:
            node = stack.pop()
            if node in seen or not node.args:
                continue
            seen.add(node)
            found.append(node)
            stack.extend(node.args)
            stack.extend(quotients.get(node, ()))
        return sorted(found, key=lambda n: n.id)

    def _rebuild_node(self, node: Node) -> None:
        if node.op in ("loop", "while", "branch"):
            self.results[node] = self._control(node)
            return
        made = self.results[node.args[0]][node.value] if node.op == "proj" else self._operation(node)
        if made is not node:
            self.new[node] = made

    def _operation(self, node: Node) -> Node:
        """Node of the operation of a node on the replacements of its operands."""
        b, op, args = self.b, node.op, [self.replacement(a) for a in node.args]
        if op in _METHODS:
            return getattr(b, _METHODS[op])(*args)
        if op in _NAMED:
            return getattr(b, _NAMED[op])(op, *args)
        if op in ("convert", "bitcast"):
            return getattr(b, op)(args[0], node.dtype)
        return b.table(tuple(args)) if op == "table" else b.node(op, node.dtype, *args, value=node.value)

    # ---- loops and branches

    def _control(self, node: Node) -> list[Node]:
        """Result nodes of a loop or a branch on the replacements of its operands."""
        if isinstance(node.value, Branch):
            return self._branch(node.value, [self.replacement(a) for a in node.args])
        loop: Loop | While = node.value
        start = tuple(self.replacement(a) for a in node.args[: len(_carried_inputs(loop))])
        fresh = self._new_inputs(loop.body, _carried_inputs(loop))
        if isinstance(loop, While):
            return self.b.while_loop(While(self._block(loop.test, fresh), self._block(loop.body, fresh)), start)
        fresh |= self._new_inputs(loop.body, loop.body.ins[:1])  # the counter
        return self.b.loop(replace(loop, body=self._block(loop.body, fresh)), start)

    def _branch(self, branch: Branch, args: list[Node]) -> list[Node]:
        index, operands = args[0], args[1 : 1 + len(branch.blocks[0].ins)]
        if index.op == "const":
            block = branch.blocks[min(max(int(index.value), 0), len(branch.blocks) - 1)]
            return self._rebuild_outputs(block, dict(zip(block.ins, operands, strict=True)))
        blocks = []
        for block in branch.blocks:
            varies = [k for k, n in enumerate(operands) if n.op != "const"]
            fresh = self._new_inputs(block, [block.ins[k] for k in varies])
            known = {old: n for old, n in zip(block.ins, operands, strict=True) if n.op == "const"}
            outs = self._rebuild_outputs(block, fresh | known)
            blocks.append(Block(tuple(fresh.values()), tuple(outs), block.depth + self.level))
        found = self.b.branch(Branch(tuple(blocks)), index, tuple(n for n in operands if n.op != "const"))
        return [
            values[0] if values[0].op == "const" and len(set(values)) == 1 else node
            for node, values in zip(found, zip(*(x.outs for x in blocks), strict=True), strict=True)
        ]

    def _new_inputs(self, block: Block, ins: Sequence[Node]) -> dict[Node, Node]:
        """New input nodes of a block, by the old ones."""
        with _at_depth(self.b, block.depth + self.level):
            return {old: self.b.input(k, old.dtype) for k, old in enumerate(ins)}

    def _block(self, block: Block, fresh: Mapping[Node, Node]) -> Block:
        ins = tuple(fresh[n] for n in block.ins)
        return Block(ins, tuple(self._rebuild_outputs(block, fresh)), block.depth + self.level)

    def _rebuild_outputs(self, block: Block, replacements: Mapping[Node, Node]) -> list[Node]:
        """Rebuild the outputs of a block with other inputs and with the replacements of nodes around it."""
        with _at_depth(self.b, block.depth + self.level):
            return self._rebuild_inner(block.outs, {**self.new, **replacements})

    def _rebuild_inner(self, outs: Sequence[Node], replacements: Mapping[Node, Node]) -> list[Node]:
        return replay(self.b, outs, replacements)


class _ForeignReplay(_Replay):
    """Rebuilds all nodes of another builder."""

    def __init__(self, b: Memory, replacements: Mapping[Node, Node], source: ForeignNodes, level: int) -> None:
        super().__init__(b, replacements)
        self.source, self.level = source, level

    def rebuild_nodes(self, outs: Sequence[Node]) -> list[Node]:
        """Rebuild all nodes and return the results."""
        parts = self._nodes_to_rebuild(outs)
        for node in parts:
            self._rebuild_node(node)
        return self._record_quotients(parts, self.source.quotients, outs)

    def replacement(self, node: Node) -> Node:
        """Node of this builder that replaces a node of the other one."""
        found = self.new.get(node)
        if found is not None:
            return found
        if node.op != "const":
            raise RuntimeError("A piece of graph reads a value that it was not given.")
        return self.b.constant(node.value, node.dtype)

    def _nodes_to_rebuild(self, outs: Sequence[Node]) -> list[Node]:
        known = tuple(outs)
        if known not in self.source.orders:
            self.source.orders[known] = self._nodes_in_order(outs, self.source.quotients)
        return self.source.orders[known]

    def _rebuild_inner(self, outs: Sequence[Node], replacements: Mapping[Node, Node]) -> list[Node]:
        return _ForeignReplay(self.b, replacements, self.source, self.level).rebuild_nodes(outs)


def _carried_inputs(loop: Loop | While) -> tuple[Node, ...]:
    """Inputs of a loop body that are carried; the first input of a counted loop is its counter, which is not."""
    return loop.body.ins if isinstance(loop, While) else loop.body.ins[1:]


@contextmanager
def _at_depth(b: Memory, depth: int) -> Iterator[None]:
    level, b.level = b.level, depth
    try:
        yield
    finally:
        b.level = level
