"""Order in which straight-line code is written for native code.

The compiler reorders instructions in a small window only, so the order it is given decides how many
values are alive at once. Depth first, the operand made later first, was 3 to 8 % faster than the
order of the source on forward dynamics (scalar and SIMD); a greedy count of live values was not.

Sines and cosines of angles that are known early come first, all together: each group ends in a
branch for very large angles, and a branch in the middle of the code needs registers.
"""

from __future__ import annotations

from collections.abc import Iterable

from freefloat.engine.graph.node import Block, Node

TRIGONOMETRIC = ("sin", "cos")


def schedule(block: Block) -> list[Node]:
    """Live nodes of a block in order: operands before their users, each as late as its first user allows."""
    seen: set[Node] = set()
    early = _early_angles(block)
    order = _depth_first(block, [n.args[0] for n in early], seen)
    seen.update(early)
    return order + early + _depth_first(block, block.outs, seen)


def _depth_first(block: Block, roots: Iterable[Node], seen: set[Node]) -> list[Node]:
    order: list[Node] = []
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                order.append(node)
            elif node not in seen and block.owns(node):
                seen.add(node)
                stack.append((node, True))
                stack.extend((a, False) for a in node.args)
    return order


def _early_angles(block: Block) -> list[Node]:
    """Sines and cosines whose angle needs neither another one nor the result of a loop or branch."""
    late: set[Node] = set()
    early: list[Node] = []
    for node in block.order():
        waits = node.op in ("loop", "while", "branch") or any(a in late for a in node.args)
        if node.op in TRIGONOMETRIC and not waits:
            early.append(node)
        if waits or node.op in TRIGONOMETRIC:
            late.add(node)
    return early
