"""Removes from branches what is not read: unused results, and operands that only those results needed."""

from __future__ import annotations

from dataclasses import replace

from .node import Block, Branch, Loop, Node, While, inner_blocks


def prune(block: Block) -> Block:
    """Remove unused results and operands from all branches of a block, in place; the graph must be complete."""
    order = block.order()
    projections: dict[Node, list[Node]] = {}
    for node in order:
        if node.op == "proj":
            projections.setdefault(node.args[0], []).append(node)
    live = set(block.outs)
    for node in reversed(order):  # the readers of a node come after it
        if node not in live:
            continue
        if node.op == "branch":
            _keep_results(node, sorted((n for n in projections[node] if n in live), key=lambda n: n.value))
        live.update(node.args)
    for node in order:
        if node in live and inner_blocks(node):
            node.value = _with_pruned_blocks(node.value)
    return Block(block.ins, block.outs, block.depth)


def _with_pruned_blocks(value: Branch | Loop | While) -> Branch | Loop | While:
    if isinstance(value, Branch):
        return Branch(tuple(map(prune, value.blocks)))
    if isinstance(value, While):
        return While(prune(value.test), prune(value.body))
    return replace(value, body=prune(value.body))


def _keep_results(node: Node, projections: list[Node]) -> None:
    """Reduce a branch to the results that these projection nodes read."""
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
