"""Rollouts in which every instance advances independently of the others.

Consider a step that consists of one loop, which usually runs once and sometimes several times (a search for the time
of an event). The 31 other threads of a warp would wait for the thread that searches. Here the loop over steps and the
loop inside the step are one: in every round each thread runs the inner loop's body once, for its own step, and a
thread that has ended a step begins its next one at once. That suits steps with hardly any code around their loop: a
branch on the tick, which all threads take together as long as they are at the same tick, would be taken by one thread
after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from freefloat.engine.ctext.expressions import TYPES
from freefloat.engine.ctext.writer import is_constant_table
from freefloat.engine.graph import Graph
from freefloat.engine.graph.node import Block, Node, inner_blocks

from .writer import KernelWriter

SHARE = 0.7  # least fraction of a step's operations that are in its loop


def main_loop(block: Block) -> Node | None:
    """While loop that makes up nearly all of a step, with straight-line code around it; None if there is none."""
    blocks = [n for n in block.order() if inner_blocks(n)]
    if len(blocks) != 1 or blocks[0].op != "while" or blocks[0].value.body.size() < SHARE * block.size():
        return None
    return blocks[0] if all(n.dtype in TYPES for n in _values_to_keep(block, blocks[0])) else None


def _nodes_before(block: Block, loop: Node) -> set[Node]:
    """Nodes that a step computes before its loop."""
    return set(Block(block.ins, loop.args, block.depth).order())


def _values_to_keep(block: Block, loop: Node) -> list[Node]:
    """Nodes computed before the loop and read in it or after it, without the states, which have their own variables."""
    before = _nodes_before(block, loop)
    inside = (*loop.value.test.captures(), *loop.value.body.captures())
    after = [a for n in block.order() if n not in before and n is not loop for a in n.args]
    read = dict.fromkeys((*inside, *after, *block.outs))
    return [n for n in read if n in before and n not in block.ins and not is_constant_table(n)]


class IndependentSteps:
    """Writes the statements of a rollout with independent steps; states are the variables s0, s1, ..."""

    def __init__(self, writer: KernelWriter, graph: Graph, loop: Node) -> None:
        self.writer, self.block, self.loop = writer, graph.block, loop
        self.carried = loop.value.body.ins
        self.before, self.kept = _nodes_before(graph.block, loop), _values_to_keep(graph.block, loop)

    def statements(self, result_lines: Callable[[Sequence[str]], list[str]]) -> None:
        """Write all rounds; ``result_lines`` returns the statements for the results of a step."""
        put, w = self.writer.add_line, self.writer
        for n in self.kept:
            put(f"{TYPES[n.dtype]} p{n.id};")
        for j, n in enumerate(self.carried):
            put(f"{TYPES[n.dtype]} c{self.loop.id}_{j};")
        put("bool more;")
        self._begin_step()
        put("for (;;) {")
        w.indent += 1
        self._next_step(result_lines)
        put("if (!more) break;")
        put("WARP_TOGETHER")
        put("{")
        body = self.loop.value.body
        whole = Block((*body.ins, *body.captures()), body.outs, body.depth)
        for j, value in enumerate(w.loop_body(self.loop, whole, self.carried)):
            put(f"c{self.loop.id}_{j} = {value};")
        w.close()
        w.close()

    def _next_step(self, result_lines: Callable[[Sequence[str]], list[str]]) -> None:
        """Write the end of a step whose loop has ended and the begin of the next; a loop may have no round at all."""
        put, w = self.writer.add_line, self.writer
        put("for (;;) {")
        w.indent += 1
        w.names.update({n: f"c{self.loop.id}_{j}" for j, n in enumerate(self.carried)})
        put(f"more = {w.plain_block(self.loop.value.test)[0]};")
        put("if (more) break;")
        self._end_step(result_lines)
        put("if (++step == steps) break;")
        self._begin_step()
        w.close()

    def _begin_step(self) -> None:
        """Write what a step computes before its loop."""
        w = self.writer
        w.add_line("{")
        w.indent += 1
        w.plain_block(Block(self.block.ins, (*self.kept, *self.loop.args), self.block.depth))
        for j in range(len(self.carried)):
            w.add_line(f"c{self.loop.id}_{j} = {w.reference(self.loop.args[j])};")
        for n in self.kept:
            w.add_line(f"p{n.id} = {w.reference(n)};")
            w.names[n] = f"p{n.id}"
        w.close()

    def _end_step(self, result_lines: Callable[[Sequence[str]], list[str]]) -> None:
        """Write what follows the loop of a step."""
        w = self.writer
        w.add_line("{")
        w.indent += 1
        for line in result_lines(w.plain_block(self.block, at_hand={*self.before, self.loop})):
            w.add_line(line)
        w.close()
