"""Writes blocks as statements of a kernel, by the C writer, so that all results round as in native code.

Multiply-adds are written where native code has them, and the elementary functions are the same polynomials
(:mod:`.prelude`); sine and cosine of an angle are computed together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from freefloat.engine.ctext.expressions import expression
from freefloat.engine.ctext.writer import Writer
from freefloat.engine.graph.fusion import fuse
from freefloat.engine.graph.node import Block, Node

from .order import order_nodes

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
        """Write a block; sine and cosine of its angles are known only inside it."""
        known = set(self.angles)
        outs = self.statements(block, at_hand)
        self.angles = known
        return outs

    def plain_block(self, block: Block, at_hand: Collection[Node] = ()) -> list[str]:
        """Write a block of any size and leave the registers to the compiler."""
        known = set(self.angles)
        outs = KernelWriter.statements(self, block, at_hand)
        self.angles = known
        return outs

    def statements(self, block: Block, at_hand: Collection[Node]) -> list[str]:
        """Write the block except the nodes in `at_hand`, and leave the registers to the compiler."""
        for node in self.ordered_nodes(block):
            if node not in at_hand:
                getattr(self, f"_{node.op}", self._operation)(node)
        return [self.reference(n) for n in block.outs]

    def ordered_nodes(self, block: Block) -> list[Node]:
        """Nodes of a block in the order of their statements, without products that are part of a fused sum."""
        return [n for n in order_nodes(block, self.operands, self.order) if n not in self._products]

    def operands(self, node: Node) -> tuple[Node, ...]:
        """Nodes that the statement of a node reads."""
        fused = self.fused.get(node)
        return (fused.a, fused.b, fused.other) if fused else node.args

    def value(self, node: Node, a: Sequence[str]) -> str:
        """C expression of a node from the texts of its operands."""
        fused = self.fused.get(node)
        if fused is None:
            return f"{OWN[node.op]}({', '.join(a)})" if node.op in OWN else expression(node, a)
        signs = "-" if fused.negate_product else "", "-" if fused.negate_other else ""
        return f"fma({signs[0]}{a[0]}, {a[1]}, {signs[1]}{a[2]})"

    def _operation(self, node: Node) -> None:
        if node in self.fused or node.op in OWN:
            self._define(node, self.value(node, [self.reference(a) for a in self.operands(node)]))
        else:
            super()._operation(node)

    def _sin(self, node: Node) -> None:
        """Name of a sine or cosine; both are written where the first of them is needed."""
        angle = node.args[0]
        sine, cosine = f"sin{angle.id}", f"cos{angle.id}"
        if angle not in self.angles:
            self.angles.add(angle)
            self.add_line(f"double {sine}, {cosine};")
            self.add_line(f"sine_cosine({self.reference(angle)}, &{sine}, &{cosine});")
        self.names[node] = sine if node.op == "sin" else cosine

    _cos = _sin
