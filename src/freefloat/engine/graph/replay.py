"""Nodes made again with others in place of some: everything is simplified anew, and nothing is traced."""

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


def replay(b: Memory, outs: Sequence[Node], given: Mapping[Node, Node]) -> list[Node]:
    """The nodes `outs`, with some of those that they are made of replaced."""
    return _Replay(b, given).made(outs)


@dataclass(frozen=True)
class Source:
    """What is known of nodes that another builder has made."""

    quotients: Mapping[Node, tuple[Node, Node]]
    orders: dict[tuple[Node, ...], list[Node]] = field(default_factory=dict)  # of what was replayed before, by results


def replay_foreign(b: Memory, outs: Sequence[Node], given: Mapping[Node, Node], source: Source) -> list[Node]:
    """The nodes `outs` of another builder, made again with this one; `given` has nodes of this one for their inputs."""
    return _Foreign(b, given, source, b.level).made(outs)


class _Replay:
    """Old nodes and what is in their place."""

    def __init__(self, b: Memory, given: Mapping[Node, Node]) -> None:
        self.b, self.given = b, given
        self.new = {old: node for old, node in given.items() if old is not node}
        self.results: dict[Node, list[Node]] = {}  # of loops and branches that were made again
        self.level = 0  # at which the old nodes' level 0 is

    def made(self, outs: Sequence[Node]) -> list[Node]:
        """The results."""
        parts = self._parts(outs)
        for node in parts:
            if any(a in self.new or a in self.results for a in node.args):
                self._make(node)
        return self._known_as_quotients(parts, self.b.quotients, outs)

    def _known_as_quotients(
        self, parts: Sequence[Node], quotients: Mapping[Node, tuple[Node, Node]], outs: Sequence[Node]
    ) -> list[Node]:
        """The results, when everything is made: a node may be a quotient of nodes that were made after it."""
        for node in parts:
            if node in quotients and (made := self.now(node)).op != "const":
                self.b.quotients.setdefault(made, (self.now(quotients[node][0]), self.now(quotients[node][1])))
        return [self.now(n) for n in outs]

    def now(self, node: Node) -> Node:
        """What is in the place of a node."""
        return self.new.get(node, node)

    def _parts(self, outs: Sequence[Node]) -> list[Node]:
        return self._ordered(outs, self.b.quotients)

    def _ordered(self, outs: Sequence[Node], quotients: Mapping[Node, tuple[Node, Node]]) -> list[Node]:
        """Everything that the results are made of, in the order in which it was made."""
        stack, seen, found = list(outs), set(self.given), []
        while stack:
            node = stack.pop()
            if node in seen or not node.args:
                continue
            seen.add(node)
            found.append(node)
            stack.extend(node.args)
            stack.extend(quotients.get(node, ()))
        return sorted(found, key=lambda n: n.id)

    def _make(self, node: Node) -> None:
        if node.op in ("loop", "while", "branch"):
            self.results[node] = self._control(node)
            return
        made = self.results[node.args[0]][node.value] if node.op == "proj" else self._operation(node)
        if made is not node:
            self.new[node] = made

    def _operation(self, node: Node) -> Node:
        """The same operation on what is now in the place of its operands."""
        b, op, args = self.b, node.op, [self.now(a) for a in node.args]
        if op in _METHODS:
            return getattr(b, _METHODS[op])(*args)
        if op in _NAMED:
            return getattr(b, _NAMED[op])(op, *args)
        if op in ("convert", "bitcast"):
            return getattr(b, op)(args[0], node.dtype)
        return b.table(tuple(args)) if op == "table" else b.node(op, node.dtype, *args, value=node.value)

    # ---- loops and branches

    def _control(self, node: Node) -> list[Node]:
        """The results of a loop or a branch over other operands."""
        if isinstance(node.value, Branch):
            return self._branch(node.value, [self.now(a) for a in node.args])
        loop: Loop | While = node.value
        start = tuple(self.now(a) for a in node.args[: len(_carried(loop))])
        fresh = self._fresh(loop.body, _carried(loop))
        if isinstance(loop, While):
            return self.b.while_loop(While(self._block(loop.test, fresh), self._block(loop.body, fresh)), start)
        fresh |= self._fresh(loop.body, loop.body.ins[:1])  # the counter
        return self.b.loop(replace(loop, body=self._block(loop.body, fresh)), start)

    def _branch(self, branch: Branch, args: list[Node]) -> list[Node]:
        index, operands = args[0], args[1 : 1 + len(branch.blocks[0].ins)]
        if index.op == "const":
            block = branch.blocks[min(max(int(index.value), 0), len(branch.blocks) - 1)]
            return self._inside(block, dict(zip(block.ins, operands, strict=True)))
        blocks = []
        for block in branch.blocks:
            varies = [k for k, n in enumerate(operands) if n.op != "const"]
            fresh = self._fresh(block, [block.ins[k] for k in varies])
            known = {old: n for old, n in zip(block.ins, operands, strict=True) if n.op == "const"}
            outs = self._inside(block, fresh | known)
            blocks.append(Block(tuple(fresh.values()), tuple(outs), block.depth + self.level))
        found = self.b.branch(Branch(tuple(blocks)), index, tuple(n for n in operands if n.op != "const"))
        return [
            values[0] if values[0].op == "const" and len(set(values)) == 1 else node
            for node, values in zip(found, zip(*(x.outs for x in blocks), strict=True), strict=True)
        ]

    def _fresh(self, block: Block, ins: Sequence[Node]) -> dict[Node, Node]:
        """New inputs of a block in the place of old ones."""
        with _at_depth(self.b, block.depth + self.level):
            return {old: self.b.input(k, old.dtype) for k, old in enumerate(ins)}

    def _block(self, block: Block, fresh: Mapping[Node, Node]) -> Block:
        ins = tuple(fresh[n] for n in block.ins)
        return Block(ins, tuple(self._inside(block, fresh)), block.depth + self.level)

    def _inside(self, block: Block, given: Mapping[Node, Node]) -> list[Node]:
        """What a block computes, of other inputs and of what is now in the place of nodes around it."""
        with _at_depth(self.b, block.depth + self.level):
            return self._again(block.outs, {**self.new, **given})

    def _again(self, outs: Sequence[Node], given: Mapping[Node, Node]) -> list[Node]:
        return replay(self.b, outs, given)


class _Foreign(_Replay):
    """Nodes of another builder: all of them are made again."""

    def __init__(self, b: Memory, given: Mapping[Node, Node], source: Source, level: int) -> None:
        super().__init__(b, given)
        self.source, self.level = source, level

    def made(self, outs: Sequence[Node]) -> list[Node]:
        """The results."""
        parts = self._parts(outs)
        for node in parts:
            self._make(node)
        return self._known_as_quotients(parts, self.source.quotients, outs)

    def now(self, node: Node) -> Node:
        """What is in the place of a node."""
        found = self.new.get(node)
        if found is not None:
            return found
        if node.op != "const":
            raise RuntimeError("A piece of graph reads a value that it was not given.")
        return self.b.constant(node.value, node.dtype)

    def _parts(self, outs: Sequence[Node]) -> list[Node]:
        known = tuple(outs)
        if known not in self.source.orders:
            self.source.orders[known] = self._ordered(outs, self.source.quotients)
        return self.source.orders[known]

    def _again(self, outs: Sequence[Node], given: Mapping[Node, Node]) -> list[Node]:
        return _Foreign(self.b, given, self.source, self.level).made(outs)


def _carried(loop: Loop | While) -> tuple[Node, ...]:
    """The inputs of a body that are carried; the first of a counted loop is its counter."""
    return loop.body.ins if isinstance(loop, While) else loop.body.ins[1:]


@contextmanager
def _at_depth(b: Memory, depth: int) -> Iterator[None]:
    level, b.level = b.level, depth
    try:
        yield
    finally:
        b.level = level
