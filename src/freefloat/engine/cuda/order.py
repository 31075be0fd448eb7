"""In which order straight-line code is written, so that few values are alive at once.

Backwards from the results: of all statements whose every user is already placed, the one comes next (that is, just
before) that adds fewest values to those alive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from freefloat.engine.graph.node import Block, Node


def short_lived(block: Block, operands: Callable[[Node], Iterable[Node]], how: str = "id") -> list[Node]:
    """Live nodes of a block, operands before their users."""
    nodes = [n for n in block.order() if n.op != "in"]
    if how == "id":
        return nodes
    own = set(nodes)
    reads = {n: [a for a in dict.fromkeys(operands(n)) if a.op != "const"] for n in nodes}
    waiting: dict[Node, int] = defaultdict(int)
    for n in nodes:
        for a in dict.fromkeys([*reads[n], *n.args]):
            waiting[a] += 1
    alive = {n for n in block.outs if n in own}
    ready = {n for n in nodes if not waiting[n]}
    order: list[Node] = []
    stamp: dict[Node, int] = defaultdict(int)

    def worth(n: Node):
        more = sum(a not in alive for a in reads[n]) - (n in alive)
        return (-more, stamp[n], n.id) if how == "recent" else (-more, n.id)

    while ready:
        chosen = max(ready, key=worth)
        ready.discard(chosen)
        alive.discard(chosen)
        order.append(chosen)
        for a in reads[chosen]:
            alive.add(a)
            stamp[a] = len(order)
        for a in dict.fromkeys([*reads[chosen], *chosen.args]):
            waiting[a] -= 1
            if not waiting[a] and a in own:
                ready.add(a)
    return order[::-1]
