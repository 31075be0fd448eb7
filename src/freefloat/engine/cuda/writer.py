"""Blocks as statements of a kernel: the C writer, with sine and cosine of an angle computed together."""

from __future__ import annotations

from collections.abc import Collection

from freefloat.engine.ctext.writer import Writer
from freefloat.engine.graph.node import Block, Node

from .order import arrange


class KernelWriter(Writer):
    """Writes the body of a kernel."""

    def __init__(self, block: Block, inputs: dict[Node, str], order: str = "written") -> None:
        super().__init__(block, inputs)
        self.order = order
        self.angles: set[Node] = set()

    def block(self, block: Block, at_hand: Collection[Node] = ()) -> list[str]:
        """Statements of a block; an angle's sine and cosine are known inside it only."""
        known = set(self.angles)
        outs = self.statements(block, at_hand)
        self.angles = known
        return outs

    def plain_block(self, block: Block, at_hand: Collection[Node] = ()) -> list[str]:
        """Statements of a block, left to the compiler whatever its size."""
        known = set(self.angles)
        outs = KernelWriter.statements(self, block, at_hand)
        self.angles = known
        return outs

    def statements(self, block: Block, at_hand: Collection[Node]) -> list[str]:
        """The block as a whole, left to the compiler."""
        for node in arrange(block, lambda n: n.args, self.order):
            if node not in at_hand:
                getattr(self, f"_{node.op}", self._operation)(node)
        return [self.get(n) for n in block.outs]

    def _sin(self, node: Node) -> None:
        self._angle(node)

    def _cos(self, node: Node) -> None:
        self._angle(node)

    def _angle(self, node: Node) -> None:
        """Both are made where the first of them is asked for."""
        angle = node.args[0]
        sine, cosine = f"sin{angle.id}", f"cos{angle.id}"
        if angle not in self.angles:
            self.angles.add(angle)
            self.put(f"double {sine}, {cosine};")
            self.put(f"sine_cosine({self.get(angle)}, &{sine}, &{cosine});")
        self.names[node] = sine if node.op == "sin" else cosine

    def _rcp(self, node: Node) -> None:
        self._define(node, f"reciprocal({self.get(node.args[0])})")

    def _sqrt(self, node: Node) -> None:
        self._define(node, f"square_root({self.get(node.args[0])})")
