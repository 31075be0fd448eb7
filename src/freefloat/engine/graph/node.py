"""Nodes, and the blocks of nodes that a loop or a branch repeats.

A node is one scalar. Arrays exist only while a function is traced; their only remains here are
``table`` nodes, which hold scalars in memory so that a computed index can find them.

Every node records how deep inside loop bodies it must be computed (``depth``): 0 outside all loops, 1
for an expression of the inputs of a first loop, and so on. A body may use nodes from outside freely;
what does not depend on the loop is therefore computed once, before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Nodes that cost nothing or only memory traffic: left out of operation counts.
FREE = frozenset({"const", "in", "proj", "table", "loop", "while", "branch"})


class Node:
    """One scalar operation with its operands and its type; nodes are compared by identity."""

    __slots__ = ("args", "depth", "dtype", "id", "op", "value")

    def __init__(self, op: str, dtype: str, args: tuple[Node, ...], value: Any, number: int, depth: int) -> None:
        self.op, self.dtype, self.args, self.value = op, dtype, args, value
        self.id, self.depth = number, depth

    def __repr__(self) -> str:
        if self.op == "const":
            return f"{self.value!r}"
        detail = "" if self.value is None or self.op in ("loop", "while", "branch") else f"[{self.value}]"
        return f"%{self.id}={self.op}{detail}({', '.join(f'%{a.id}' for a in self.args)})"


@dataclass(frozen=True, eq=False)
class Block:
    """Straight-line code with inputs and outputs: a whole function, a loop body or a branch."""

    ins: tuple[Node, ...]
    outs: tuple[Node, ...]
    depth: int

    def order(self) -> tuple[Node, ...]:
        """Live nodes of this block, arguments before their users, otherwise in the order of the source."""
        return self._order

    @cached_property
    def _order(self) -> tuple[Node, ...]:
        seen: set[Node] = set()
        stack = [n for n in self.outs if self.owns(n)]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            stack.extend(a for a in node.args if a not in seen and self.owns(a))
        return tuple(sorted(seen, key=lambda n: n.id))

    def owns(self, node: Node) -> bool:
        """Whether a node is computed in this block: not a constant and not from outside."""
        return node.op != "const" and node.depth >= self.depth

    def captures(self) -> tuple[Node, ...]:
        """Nodes from outside that this block uses, each once."""
        found: dict[Node, None] = {}
        for node in self.order():
            for a in node.args:
                if a.op != "const" and a.depth < self.depth:
                    found[a] = None
        for node in self.outs:
            if node.op != "const" and node.depth < self.depth:
                found[node] = None
        return tuple(found)

    def operations(self) -> Counter[str]:
        """Number of operations of each kind that one pass through the block executes (loops in full)."""
        count: Counter[str] = Counter()
        for node in self.order():
            if node.op not in FREE:
                count[node.op] += 1
            for block, times in inner_blocks(node):
                for op, number in block.operations().items():
                    count[op] += number * times
        return count

    def size(self) -> int:
        """Number of operations in the block's code (each loop body once)."""
        return self._size

    @cached_property
    def _size(self) -> int:
        own = self.order()
        return sum(n.op not in FREE for n in own) + sum(b.size() for n in own for b, _ in inner_blocks(n))

    def contains(self, op: str) -> bool:
        """Whether an operation occurs in this block or in a block inside it."""
        return any(n.op == op or any(b.contains(op) for b, _ in inner_blocks(n)) for n in self.order())


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop of known length. Its body maps counter and carried values to new carried values and the pass's results."""

    body: Block
    length: int
    carries: int
    reverse: bool

    @property
    def results(self) -> int:
        """Number of values that each pass stores at the counter."""
        return len(self.body.outs) - self.carries


@dataclass(frozen=True, eq=False)
class While:
    """A loop that ends by a test of what it carries; an instance that has ended keeps its values."""

    test: Block
    body: Block


@dataclass(frozen=True, eq=False)
class Branch:
    """One of several blocks over the same operands, chosen by an index or a condition."""

    blocks: tuple[Block, ...]


def table_length(table: Node) -> int:
    """Number of scalars that a table holds."""
    while table.op == "update":
        table = table.args[0]
    return len(table.args)


def nodes_behind(outs: Iterable[Node], more: Mapping[Node, Iterable[Node]] | None = None) -> set[Node]:
    """Every node that results depend on, inner blocks included; `more`: nodes that others depend on besides."""
    found: set[Node] = set()
    stack, more = list(outs), more or {}
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found.add(node)
        stack.extend(node.args)
        stack.extend(more.get(node, ()))
        for block, _ in inner_blocks(node):
            found.update(block.ins)
            stack.extend(block.outs)
    return found


def inner_blocks(node: Node) -> list[tuple[Block, int]]:
    """Blocks inside a node, each with the number of times that one pass runs it."""
    if node.op == "loop":
        return [(node.value.body, node.value.length)]
    if node.op == "while":
        return [(node.value.test, 1), (node.value.body, 1)]
    if node.op == "branch":
        return [(b, 1) for b in node.value.blocks]
    return []
