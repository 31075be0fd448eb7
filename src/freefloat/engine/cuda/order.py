"""Order in which straight-line code is written, so that few values are alive at once.

``written`` is the order of the source. The others go backwards from the results. Of all statements whose users are all
placed, the next one (that is, just before) is the one that adds the fewest values to those alive; among equals the one
written last (``short``) or the one needed last (``recent``). Which order is best depends on the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from freefloat.engine.graph.node import Block, Node

ORDERS = ("written", "short", "recent")


def order_nodes(block: Block, operands: Callable[[Node], Iterable[Node]], order: str) -> list[Node]:
    """Live nodes of a block in the chosen order, operands before their users."""
    nodes = [n for n in block.order() if n.op != "in"]
    return nodes if order == "written" else _backwards(block, nodes, operands, recent=order == "recent")


def _backwards(
    block: Block, nodes: list[Node], operands: Callable[[Node], Iterable[Node]], *, recent: bool
) -> list[Node]:
    own = set(nodes)
    reads = {n: [a for a in dict.fromkeys(operands(n)) if a.op != "const"] for n in nodes}
    needs = {n: [a for a in dict.fromkeys([*reads[n], *n.args]) if a in own] for n in nodes}
    waiting = Counter(a for n in nodes for a in needs[n])
    alive = {n for n in block.outs if n in own}
    ready = {n for n in nodes if not waiting[n]}
    wanted: Counter[Node] = Counter()
    order: list[Node] = []

    def worth(node: Node) -> tuple[int, int, int]:
        more = sum(a not in alive for a in reads[node]) - (node in alive)
        return -more, wanted[node] if recent else 0, node.id

    while ready:
        chosen = max(ready, key=worth)
        ready.discard(chosen)
        alive.discard(chosen)
        order.append(chosen)
        alive.update(reads[chosen])
        wanted.update({a: len(order) - wanted[a] for a in reads[chosen]})
        for a in needs[chosen]:
            waiting[a] -= 1
            if not waiting[a]:
                ready.add(a)
    return order[::-1]
