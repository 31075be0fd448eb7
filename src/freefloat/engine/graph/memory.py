"""Arrays in memory, for an index that is known only when the code runs."""

from __future__ import annotations

from .integers import Integers
from .node import Block, Branch, Loop, Node, While, table_length
from .scalars import TABLE


class Memory(Integers):
    """Makes and simplifies nodes of tables, loops and branches."""

    def table(self, elements: tuple[Node, ...]) -> Node:
        """Table node of scalars of one type, side by side in memory; its value is that type."""
        first = elements[0]
        if first.op == "lookup" and first.args[0].op == "update":
            source = first.args[0]
            if list(elements) == self._table_elements(source):
                return source
        return self.node("table", TABLE, *elements, value=first.dtype)

    def _table_elements(self, table: Node) -> list[Node]:
        """Every element of an updated table as separate scalars."""
        return [self.lookup(table, self.constant(k, "i64")) for k in range(table_length(table))]

    def lookup(self, table: Node, index: Node) -> Node:
        """Node of one scalar of a table; the index (i64) must lie inside."""
        if index.op == "const" and table.op == "table":
            return table.args[index.value]
        return self.node("lookup", table.value, table, index)

    def update(self, table: Node, index: Node, element: Node) -> Node:
        """Node of a table with one scalar replaced; the index (i64) must lie inside."""
        return self.node("update", TABLE, table, index, element, value=table.value)

    def loop(self, loop: Loop, start: tuple[Node, ...]) -> list[Node]:
        """Result nodes of a loop: what it carries at the end, then the results of every pass."""
        node = self.node("loop", TABLE, *start, *loop.body.captures(), value=loop)
        dtypes = [n.dtype for n in loop.body.outs]
        per_pass = dtypes[loop.carries :] * loop.length
        return self._projections(node, dtypes[: loop.carries] + per_pass)

    def while_loop(self, loop: While, start: tuple[Node, ...]) -> list[Node]:
        """Nodes of what a while loop carries at the end."""
        captured = dict.fromkeys(loop.test.captures() + loop.body.captures())
        node = self.node("while", TABLE, *start, *captured, value=loop)
        return self._projections(node, [n.dtype for n in loop.body.outs])

    def branch(self, branch: Branch, index: Node, operands: tuple[Node, ...]) -> list[Node]:
        """Result nodes of the block that the index chooses (a true condition chooses the second)."""
        captured = dict.fromkeys(c for b in branch.blocks for c in b.captures())
        node = self.node("branch", TABLE, index, *operands, *captured, value=branch)
        return self._projections(node, [n.dtype for n in branch.blocks[0].outs])

    def _projections(self, node: Node, dtypes: list[str]) -> list[Node]:
        return [self.node("proj", dtype, node, value=k) for k, dtype in enumerate(dtypes)]

    def block(self, ins: list[Node], outs: list[Node]) -> Block:
        """Block of the code between new inputs of the present level and what was computed from them."""
        return Block(tuple(ins), tuple(outs), self.level)
