"""Takes out of branches what nobody reads: results that are not used, and operands that only those needed."""

from __future__ import annotations

from .node import Block, Branch, Node, nested


def prune(block: Block) -> None:
    """Shorten the branches of a block and of those inside it, in place; only for a graph that is complete."""
    for node in reversed([n for n in block.order() if n.op == "branch"]):
        read = [n for n in block.order() if n.op == "proj" and n.args[0] is node]
        _keep(node, sorted(read, key=lambda n: n.value))
    for node in block.order():
        for inner, _ in nested(node):
            prune(inner)


def _keep(node: Node, projections: list[Node]) -> None:
    """Keep the results that these nodes read."""
    blocks, (which, *operands) = node.value.blocks, node.args
    outs = [tuple(block.outs[p.value] for p in projections) for block in blocks]
    ways = [Block(block.ins, way, block.depth) for block, way in zip(blocks, outs, strict=True)]
    needed = {n for way in ways for n in way.order()}
    # An operand stays if any way reads its own stand-in for it.
    kept = [k for k, ins in enumerate(zip(*(block.ins for block in blocks), strict=True)) if needed.intersection(ins)]
    captured = dict.fromkeys(c for way in ways for c in way.captures())
    node.value = Branch(tuple(Block(tuple(way.ins[k] for k in kept), way.outs, way.depth) for way in ways))
    node.args = (which, *(operands[k] for k in kept), *captured)
    for place, projection in enumerate(projections):
        projection.value = place
