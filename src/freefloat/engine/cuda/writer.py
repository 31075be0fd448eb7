"""Blocks as statements of a kernel: the C writer, with everything rounded as native code rounds it.

Multiply-adds are written out where native code has them, and the elementary functions are the same polynomials
(:mod:`.prelude`); sine and cosine of an angle are computed together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from freefloat.engine.ctext.expressions import expression
from freefloat.engine.ctext.writer import Writer
from freefloat.engine.graph.fusion import fuse
from freefloat.engine.graph.node import Block, Node

from .order import arrange

OWN = {"rcp": "reciprocal", "sqrt": "square_root", "exp": "exponential", "log": "logarithm", "atan2": "arctangent"}


class KernelWriter(Writer):
    """Writes the body of a kernel."""

    def __init__(self, block: Block, inputs: dict[Node, str], order: str = "written") -> None:
        super().__init__(block, inputs)
        self.order = order
        self.angles: set[Node] = set()
        self.fused = fuse(block)
        self._products = {p for node, fused in self.fused.items() for p in node.args if p is not fused.other}

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
        for node in self.arranged(block):
            if node not in at_hand:
                getattr(self, f"_{node.op}", self._operation)(node)
        return [self.get(n) for n in block.outs]

    def arranged(self, block: Block) -> list[Node]:
        """The block's statements in order; a product that is part of a sum is none."""
        return [n for n in arrange(block, self.operands, self.order) if n not in self._products]

    def operands(self, node: Node) -> tuple[Node, ...]:
        """What a statement reads."""
        fused = self.fused.get(node)
        return (fused.a, fused.b, fused.other) if fused else node.args

    def value(self, node: Node, a: Sequence[str]) -> str:
        """A number from its operands."""
        fused = self.fused.get(node)
        if fused is None:
            return f"{OWN[node.op]}({', '.join(a)})" if node.op in OWN else expression(node, a)
        signs = "-" if fused.negate_product else "", "-" if fused.negate_other else ""
        return f"fma({signs[0]}{a[0]}, {a[1]}, {signs[1]}{a[2]})"

    def _operation(self, node: Node) -> None:
        if node in self.fused or node.op in OWN:
            self._define(node, self.value(node, [self.get(a) for a in self.operands(node)]))
        else:
            super()._operation(node)

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
