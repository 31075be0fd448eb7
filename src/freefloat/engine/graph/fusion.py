"""Selects the products that become part of a following sum as one fused multiply-add.

This is decided on the graph and not by a compiler, so that scalar code, vector code and a graphics card round alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .node import Block, Node, inner_blocks


@dataclass(frozen=True)
class FusedSum:
    """A sum (+-)a*b (+-)other that is rounded once."""

    a: Node
    b: Node
    other: Node
    negate_product: bool
    negate_other: bool


def count_uses(block: Block) -> Counter[Node]:
    """Number of times that each node is read, by outputs and inner blocks too."""
    uses: Counter[Node] = Counter(block.outs)
    for node in block.order():
        uses.update(node.args)
        for inner, _ in inner_blocks(node):
            uses.update(count_uses(inner))
    return uses


def all_nodes(block: Block) -> list[Node]:
    """Nodes of a block and of everything inside it."""
    found: list[Node] = []
    for node in block.order():
        found.append(node)
        for inner, _ in inner_blocks(node):
            found.extend(all_nodes(inner))
    return found


def fuse(block: Block) -> dict[Node, FusedSum]:
    """Sums that can include a product which nothing else reads and which is computed in the same block."""
    uses = count_uses(block)
    taken: dict[Node, FusedSum] = {}
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
        taken[node] = FusedSum(product.args[0], product.args[1], other, minus and product is b, minus and product is a)
    return taken
