"""Which products are folded into a following sum as one fused multiply-add.

Decided here, on the graph, and not by a compiler: scalar code, vector code and a graphics card then round alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .node import Block, Node, nested


@dataclass(frozen=True)
class Fused:
    """sign_product * a*b + sign_other * other, rounded once."""

    a: Node
    b: Node
    other: Node
    negate_product: bool
    negate_other: bool


def count_uses(block: Block) -> Counter[Node]:
    """How often each node is read, outputs and inner blocks included."""
    uses: Counter[Node] = Counter(block.outs)
    for node in block.order():
        uses.update(node.args)
        for inner, _ in nested(node):
            uses.update(count_uses(inner))
    return uses


def all_nodes(block: Block) -> list[Node]:
    """Nodes of a block and of everything inside it."""
    found: list[Node] = []
    for node in block.order():
        found.append(node)
        for inner, _ in nested(node):
            found.extend(all_nodes(inner))
    return found


def fuse(block: Block) -> dict[Node, Fused]:
    """The sums that take in a product which nothing else needs and which is computed in the same block."""
    uses = count_uses(block)
    taken: dict[Node, Fused] = {}
    for node in all_nodes(block):
        if node.op not in ("add", "sub"):
            continue
        a, b = node.args
        candidates = [m for m in (a, b) if m.op == "mul" and uses[m] == 1 and m.depth == node.depth]
        if not candidates or a is b:
            continue
        product = max(candidates, key=lambda m: m.id)
        other = a if product is b else b
        minus = node.op == "sub"
        taken[node] = Fused(product.args[0], product.args[1], other, minus and product is b, minus and product is a)
    return taken
