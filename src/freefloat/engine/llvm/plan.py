"""Where everything goes: which function computes a node, and what has to pass through memory.

Straight-line code above a budget is split, because compile time grows faster than code size. The
parts share one *frame*: an array of slots for values that cross from part to part, for loop
variables and for tables. The frame belongs to the caller; compiled code never allocates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from freefloat.engine.graph.fusion import Fused, count_uses, fuse
from freefloat.engine.graph.node import FREE, Block, Node, nested
from freefloat.engine.graph.program import Graph

from .schedule import schedule

PART_SIZE = 3000  # [operations] straight-line code above this is split
WAY_SIZE = (
    200  # [operations] a way of a branch above this is a function of its own: what may be rare stays out of the way
)


@dataclass
class Part:
    """A list of nodes that one function computes."""

    name: str
    nodes: list[Node]


@dataclass
class Plan:
    """The division of a graph into functions, and its frame."""

    graph: Graph
    part_size: int = PART_SIZE
    fma: bool = True
    fused: dict[Node, Fused] = field(default_factory=dict)
    orders: dict[object, list[Node]] = field(default_factory=dict)  # of "prepare", "step" and inner blocks
    parts: dict[object, list[Part]] = field(default_factory=dict)  # of those too large for one function
    home: dict[Node, str] = field(default_factory=dict)
    slots: dict[Node, int] = field(default_factory=dict)  # frame slots of values that cross functions
    aliases: dict[Node, Node] = field(default_factory=dict)  # branch inputs stand for operands
    uniform: set[Node] = field(default_factory=set)  # the same in every lane: loop counters and offsets
    frame_size: int = 0

    def __post_init__(self) -> None:
        block = self.graph.block
        self.uses = count_uses(block)
        self.fused = fuse(block) if self.fma else {}
        self.skipped = self._skipped()
        prelude, main = self._split_by_state(block)
        self._assign("prepare", prelude, "prepare")
        self._assign("step", main, "step")
        self._share(block, "step")
        for node in self._crossing:
            self.slots[node] = self.reserve(1)

    # ---- memory
    def reserve(self, slots: int) -> int:
        """A stretch of the frame."""
        first = self.frame_size
        self.frame_size += slots
        return first

    # ---- structure
    def operands(self, node: Node) -> tuple[Node, ...]:
        """What computing a node reads."""
        fused = self.fused.get(node)
        return (fused.a, fused.b, fused.other) if fused else node.args

    def resolve(self, node: Node) -> Node:
        """What a branch input stands for, or the node itself."""
        while node in self.aliases:
            node = self.aliases[node]
        return node

    def _skipped(self) -> set[Node]:
        """Products that exist only inside a fused sum."""
        return {p for n in self.fused for p in n.args if p.op == "mul" and self.uses[p] == 1 and self._inside(n, p)}

    def _inside(self, node: Node, product: Node) -> bool:
        fused = self.fused[node]
        return fused.other is not product

    def _split_by_state(self, block: Block) -> tuple[list[Node], list[Node]]:
        """Nodes that a rollout computes once (they depend on held arguments alone), and all others."""
        order = schedule(block)
        if not self.graph.signature.is_step:
            return [], order
        state = self.graph.signature.state_size
        varying: set[Node] = set()
        for node in order:
            if (node.op == "in" and node.value < state) or any(a in varying for a in node.args):
                varying.add(node)
        return [n for n in order if n not in varying], [n for n in order if n in varying]

    def _assign(self, key: object, nodes: list[Node], home: str, *, apart: bool = False) -> None:
        """Give every node its function, splitting what is too large."""
        self.orders[key] = nodes
        groups = self._partition(nodes)
        if len(groups) == 1 and not apart:
            self._settle(nodes, home)
            return
        self.parts[key] = [Part(f"{home}_{k}", group) for k, group in enumerate(groups)]
        for part in self.parts[key]:
            self._settle(part.nodes, part.name)

    def _is_apart(self, node: Node, block: Block) -> bool:
        """Whether a block inside a node gets functions of its own."""
        return block.size() > (min(WAY_SIZE, self.part_size) if node.op == "branch" else self.part_size)

    def _settle(self, nodes: list[Node], home: str) -> None:
        for number, node in enumerate(nodes):
            self.home[node] = home
            if node.op == "branch":
                for block in node.value.blocks:
                    self.aliases.update(zip(block.ins, node.args[1:], strict=False))
            if node.op == "loop":
                self._mark_uniform(node.value.body)
            for k, (block, _) in enumerate(nested(node)):
                apart = self._is_apart(node, block)
                self._assign(block, schedule(block), f"{home}_{number}_{k}" if apart else home, apart=apart)

    def _partition(self, nodes: list[Node]) -> list[list[Node]]:
        groups: list[list[Node]] = [[]]
        size = 0
        for node in nodes:
            inside = sum(b.size() for b, _ in nested(node) if not self._is_apart(node, b))
            cost = inside + (node.op not in FREE)
            if size + cost > self.part_size and groups[-1]:
                groups.append([])
                size = 0
            groups[-1].append(node)
            size += cost
        return groups

    def _mark_uniform(self, body: Block) -> None:
        """Integers that depend on the loop counter alone are the same for every instance."""
        self.uniform.add(body.ins[0])
        for node in schedule(body):
            simple = node.op in ("iadd", "isub", "imul", "imin", "imax") and node.dtype == "i64"
            if simple and all(a in self.uniform or a.op == "const" for a in node.args):
                self.uniform.add(node)

    def _share(self, block: Block, home: str) -> None:
        """Find values that one function makes and another reads."""
        self._crossing: dict[Node, None] = {}
        self._visit(block, home)

    def _visit(self, block: Block, home: str) -> None:
        for node in block.order():
            if node not in self.skipped:
                self._read(self.operands(node), self.home[node])
            for inner, _ in nested(node):
                self._visit(inner, self.home[node])
        self._read(block.outs, home)

    def _read(self, nodes: Iterable[Node], home: str) -> None:
        for node in map(self.resolve, nodes):
            if node.op in ("const", "in", "table", "update", "loop", "while", "branch"):
                continue
            if self.home[node] != home:
                self._crossing[node] = None
