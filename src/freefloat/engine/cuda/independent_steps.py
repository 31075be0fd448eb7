"""Rollouts in which every instance keeps its own pace.

A step that is one loop, which usually runs once and now and then several times (a search for the instant of an
event), would make the 31 other threads of a warp wait for the one that searches. Here the loop over steps and the
loop inside the step are one: in every round each thread goes once through the inner loop's body, for whichever step
it is in, and who has ended a step begins its next one at once. That suits steps with next to nothing around their
loop: a branch on the tick, which all threads take together as long as they are at the same tick, would be taken by
one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from freefloat.engine.ctext.expressions import TYPES
from freefloat.engine.ctext.writer import is_constant_table
from freefloat.engine.graph import Graph
from freefloat.engine.graph.node import Block, Node, nested

from .writer import KernelWriter

SHARE = 0.7  # of a step's operations that its loop must hold


def main_loop(block: Block) -> Node | None:
    """The loop with an open end that makes up nearly all of a step, with straight code around it, if there is one."""
    blocks = [n for n in block.order() if nested(n)]
    if len(blocks) != 1 or blocks[0].op != "while" or blocks[0].value.body.size() < SHARE * block.size():
        return None
    return blocks[0] if all(n.dtype in TYPES for n in _kept(block, blocks[0])) else None


def _before(block: Block, loop: Node) -> set[Node]:
    """What a step computes before its loop."""
    return set(Block(block.ins, loop.args, block.depth).order())


def _kept(block: Block, loop: Node) -> list[Node]:
    """What is computed before the loop and read in it or after it; states are variables of their own."""
    before = _before(block, loop)
    inside = (*loop.value.test.captures(), *loop.value.body.captures())
    after = [a for n in block.order() if n not in before and n is not loop for a in n.args]
    read = dict.fromkeys((*inside, *after, *block.outs))
    return [n for n in read if n in before and n not in block.ins and not is_constant_table(n)]


class OwnPace:
    """Writes the statements of such a rollout; states are the variables s0, s1, ..."""

    def __init__(self, writer: KernelWriter, graph: Graph, loop: Node) -> None:
        self.writer, self.block, self.loop = writer, graph.block, loop
        self.carried = loop.value.body.ins
        self.before, self.kept = _before(graph.block, loop), _kept(graph.block, loop)

    def statements(self, finished: Callable[[Sequence[str]], list[str]]) -> None:
        """All rounds; ``finished`` gives what is done with the results of a step."""
        put, w = self.writer.put, self.writer
        for n in self.kept:
            put(f"{TYPES[n.dtype]} p{n.id};")
        for j, n in enumerate(self.carried):
            put(f"{TYPES[n.dtype]} c{self.loop.id}_{j};")
        put("bool more;")
        self._begin_step()
        put("for (;;) {")
        w.indent += 1
        self._next_step(finished)
        put("if (!more) break;")
        put("WARP_TOGETHER")
        put("{")
        body = self.loop.value.body
        whole = Block((*body.ins, *body.captures()), body.outs, body.depth)
        for j, value in enumerate(w.loop_body(self.loop, whole, self.carried)):
            put(f"c{self.loop.id}_{j} = {value};")
        w.close()
        w.close()

    def _next_step(self, finished: Callable[[Sequence[str]], list[str]]) -> None:
        """End the step if its loop has ended, and begin the next one; a loop may end before its first round."""
        put, w = self.writer.put, self.writer
        put("for (;;) {")
        w.indent += 1
        w.names.update({n: f"c{self.loop.id}_{j}" for j, n in enumerate(self.carried)})
        put(f"more = {w.plain_block(self.loop.value.test)[0]};")
        put("if (more) break;")
        self._end_step(finished)
        put("if (++step == steps) break;")
        self._begin_step()
        w.close()

    def _begin_step(self) -> None:
        w = self.writer
        w.put("{")
        w.indent += 1
        w.plain_block(Block(self.block.ins, (*self.kept, *self.loop.args), self.block.depth))
        for j in range(len(self.carried)):
            w.put(f"c{self.loop.id}_{j} = {w.get(self.loop.args[j])};")
        for n in self.kept:
            w.put(f"p{n.id} = {w.get(n)};")
            w.names[n] = f"p{n.id}"
        w.close()

    def _end_step(self, finished: Callable[[Sequence[str]], list[str]]) -> None:
        w = self.writer
        w.put("{")
        w.indent += 1
        for line in finished(w.plain_block(self.block, at_hand={*self.before, self.loop})):
            w.put(line)
        w.close()
