"""Division of a graph into functions: which function computes a node, and which values pass through memory.

Straight-line code above a size is split, because compile time grows faster than code size. The
parts share one *frame*: an array of slots for values that pass from part to part, for loop
variables and for tables. The frame belongs to the caller; compiled code never allocates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from freefloat.engine.graph.fusion import FusedSum, count_uses, fuse
from freefloat.engine.graph.node import FREE, Block, Node, inner_blocks
from freefloat.engine.graph.program import Graph

from .schedule import schedule

PART_SIZE = 3000  # [operations] straight-line code above this is split
WAY_SIZE = 200  # [operations] a larger way of a branch is a separate function, so that rare code is out of the main one


@dataclass
class CodePart:
    """A list of nodes that one function computes."""

    name: str
    nodes: list[Node]


@dataclass
class CodePlan:
    """The division of a graph into functions, and its frame."""

    graph: Graph
    part_size: int = PART_SIZE
    fma: bool = True
    fused: dict[Node, FusedSum] = field(default_factory=dict)
    orders: dict[object, list[Node]] = field(default_factory=dict)  # of "prepare", "step" and inner blocks
    parts: dict[object, list[CodePart]] = field(default_factory=dict)  # parts of orders too large for one function
    home: dict[Node, str] = field(default_factory=dict)
    slots: dict[Node, int] = field(default_factory=dict)  # frame slots of values that cross functions
    aliases: dict[Node, Node] = field(default_factory=dict)  # operands of branch inputs
    uniform: set[Node] = field(default_factory=set)  # equal in every lane: loop counters and offsets
    frame_size: int = 0

    def __post_init__(self) -> None:
        block = self.graph.block
        self.uses = count_uses(block)
        self.fused = fuse(block) if self.fma else {}
        self.skipped = self._fused_products()
        prelude, main = self._split_by_state(block)
        self._assign_functions("prepare", prelude, "prepare")
        self._assign_functions("step", main, "step")
        self._find_shared_values(block, "step")
        for node in self._crossing:
            self.slots[node] = self.reserve(1)

    # ---- memory
    def reserve(self, slots: int) -> int:
        """Reserve consecutive slots of the frame; returns the first."""
        first = self.frame_size
        self.frame_size += slots
        return first

    # ---- structure
    def operands(self, node: Node) -> tuple[Node, ...]:
        """Nodes that are read when a node is computed."""
        fused = self.fused.get(node)
        return (fused.a, fused.b, fused.other) if fused else node.args

    def resolve(self, node: Node) -> Node:
        """Operand of a branch input; any other node itself."""
        while node in self.aliases:
            node = self.aliases[node]
        return node

    def _fused_products(self) -> set[Node]:
        """Products that exist only inside a fused sum."""
        return {
            p
            for n in self.fused
            for p in n.args
            if p.op == "mul" and self.uses[p] == 1 and self._includes_product(n, p)
        }

    def _includes_product(self, node: Node, product: Node) -> bool:
        """Whether a product is the one that a fused sum includes."""
        fused = self.fused[node]
        return fused.other is not product

    def _split_by_state(self, block: Block) -> tuple[list[Node], list[Node]]:
        """Split the nodes into those of held arguments alone, which a rollout computes once, and all others."""
        order = schedule(block)
        if not self.graph.signature.is_step:
            return [], order
        state = self.graph.signature.state_size
        varying: set[Node] = set()
        for node in order:
            if (node.op == "in" and node.value < state) or any(a in varying for a in node.args):
                varying.add(node)
        return [n for n in order if n not in varying], [n for n in order if n in varying]

    def _assign_functions(self, key: object, nodes: list[Node], home: str, *, apart: bool = False) -> None:
        """Assign a function to every node; code that is too large is split."""
        self.orders[key] = nodes
        groups = self._partition(nodes)
        if len(groups) == 1 and not apart:
            self._assign_home(nodes, home)
            return
        self.parts[key] = [CodePart(f"{home}_{k}", group) for k, group in enumerate(groups)]
        for part in self.parts[key]:
            self._assign_home(part.nodes, part.name)

    def _is_apart(self, node: Node, block: Block) -> bool:
        """Whether a block inside a node gets its own functions."""
        return block.size() > (min(WAY_SIZE, self.part_size) if node.op == "branch" else self.part_size)

    def _assign_home(self, nodes: list[Node], home: str) -> None:
        """Assign one function to nodes, and functions to their inner blocks."""
        for number, node in enumerate(nodes):
            self.home[node] = home
            if node.op == "branch":
                for block in node.value.blocks:
                    self.aliases.update(zip(block.ins, node.args[1:], strict=False))
            if node.op == "loop":
                self._mark_uniform(node.value.body)
            for k, (block, _) in enumerate(inner_blocks(node)):
                apart = self._is_apart(node, block)
                self._assign_functions(block, schedule(block), f"{home}_{number}_{k}" if apart else home, apart=apart)

    def _partition(self, nodes: list[Node]) -> list[list[Node]]:
        """Split nodes into groups of at most `part_size` operations."""
        groups: list[list[Node]] = [[]]
        size = 0
        for node in nodes:
            inside = sum(b.size() for b, _ in inner_blocks(node) if not self._is_apart(node, b))
            cost = inside + (node.op not in FREE)
            if size + cost > self.part_size and groups[-1]:
                groups.append([])
                size = 0
            groups[-1].append(node)
            size += cost
        return groups

    def _mark_uniform(self, body: Block) -> None:
        """Find the integers that depend on the loop counter alone, which are equal for every instance."""
        self.uniform.add(body.ins[0])
        for node in schedule(body):
            simple = node.op in ("iadd", "isub", "imul", "imin", "imax") and node.dtype == "i64"
            if simple and all(a in self.uniform or a.op == "const" for a in node.args):
                self.uniform.add(node)

    def _find_shared_values(self, block: Block, home: str) -> None:
        """Find values that one function makes and another reads."""
        self._crossing: dict[Node, None] = {}
        self._visit_block(block, home)

    def _visit_block(self, block: Block, home: str) -> None:
        for node in block.order():
            if node not in self.skipped:
                self._note_reads(self.operands(node), self.home[node])
            for inner, _ in inner_blocks(node):
                self._visit_block(inner, self.home[node])
        self._note_reads(block.outs, home)

    def _note_reads(self, nodes: Iterable[Node], home: str) -> None:
        """Note that a function reads nodes, which need a slot if another function computes them."""
        for node in map(self.resolve, nodes):
            if node.op in ("const", "in", "table", "update", "loop", "while", "branch"):
                continue
            if self.home[node] != home:
                self._crossing[node] = None
