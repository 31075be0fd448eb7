"""Blocks as C statements: straight lines, loops, branches and tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from freefloat.engine.graph.fusion import count_uses
from freefloat.engine.graph.node import Block, Node, table_length

from .expressions import TYPES, expression, helper_name, literal


class Writer:
    """Writes the body of one C function."""

    def __init__(self, block: Block, inputs: dict[Node, str]) -> None:
        self.lines: list[str] = []
        self.names = dict(inputs)
        self.helpers: set[str] = set()
        self.tables: dict[str, str] = {}  # declarations of constant tables, by name
        self.uses = count_uses(block)
        self.indent = 1

    def add_line(self, line: str) -> None:
        """Append one line at the present indentation."""
        self.lines.append("  " * self.indent + line)

    def reference(self, node: Node) -> str:
        """C text by which an expression refers to a node."""
        return literal(node.value, node.dtype) if node.op == "const" else self.names[node]

    def block(self, block: Block, at_hand: Collection[Node] = ()) -> list[str]:
        """Write the statements of a block except the nodes in `at_hand`; return the C text of its outputs."""
        for node in block.order():
            if node.op != "in" and node not in at_hand:
                getattr(self, f"_{node.op}", self._operation)(node)
        return [self.reference(n) for n in block.outs]

    def _operation(self, node: Node) -> None:
        name = helper_name(node)
        if name:
            self.helpers.add(name)
        self._define(node, expression(node, [self.reference(a) for a in node.args]))

    def _define(self, node: Node, value: str) -> None:
        self.names[node] = f"v{node.id}"
        self.add_line(f"const {TYPES[node.dtype]} v{node.id} = {value};")

    # ---- tables
    def _table(self, node: Node) -> None:
        elements = ", ".join(self.reference(a) for a in node.args)
        kind = TYPES[node.value]
        name = self.names[node] = f"t{node.id}"
        if is_constant_table(node):
            self.tables[name] = f"static const {kind} {name}[{len(node.args)}] = {{{elements}}};"
        else:
            self.add_line(f"{kind} {name}[{len(node.args)}] = {{{elements}}};")

    def _lookup(self, node: Node) -> None:
        table, index = node.args
        self._define(node, f"{self.names[table]}[{self.reference(index)}]")

    def _update(self, node: Node) -> None:
        table, index, element = node.args
        name = self.names[table]
        if is_constant_table(table) or self.uses[table] > 1 or table.depth != node.depth:
            length = table_length(table)
            self.add_line(f"{TYPES[node.value]} t{node.id}[{length}];")
            self.add_line(f"memcpy(t{node.id}, {name}, sizeof t{node.id});")
            name = f"t{node.id}"
        self.names[node] = name
        self.add_line(f"{name}[{self.reference(index)}] = {self.reference(element)};")

    # ---- control flow
    def _loop(self, node: Node) -> None:
        loop, k = node.value, f"k{node.id}"
        counter, *ins = loop.body.ins
        self._declare_carried(node, ins)
        if loop.results:
            self._declare_passes(node)
        down, up = f"int64_t {k} = {loop.length - 1}; {k} >= 0; --{k}", f"int64_t {k} = 0; {k} < {loop.length}; ++{k}"
        self.add_line(f"for ({down if loop.reverse else up}) {{")
        self.names[counter] = k
        outs = self.loop_body(node, loop.body, ins)
        for j, value in enumerate(outs[: loop.carries]):
            self._assign(f"c{node.id}_{j}", value)
        for j, value in enumerate(outs[loop.carries :]):
            self._assign(f"y{node.id}_{j}[{k}]", value)
        self.close()

    def _declare_carried(self, node: Node, ins: Iterable[Node]) -> None:
        """Declare the variables that a loop carries, with their starting values."""
        for j, inner in enumerate(ins):
            self.add_line(f"{TYPES[inner.dtype]} c{node.id}_{j} = {self.reference(node.args[j])};")

    def _declare_passes(self, node: Node) -> None:
        loop = node.value
        for j, n in enumerate(loop.body.outs[loop.carries :]):
            self.add_line(f"{TYPES[n.dtype]} y{node.id}_{j}[{loop.length}];")

    def loop_body(self, node: Node, block: Block, ins: Iterable[Node]) -> list[str]:
        """Write a loop body on copies of the carried variables, so that the order of assignments does not matter."""
        self.indent += 1
        for j, inner in enumerate(ins):
            self.add_line(f"const {TYPES[inner.dtype]} v{inner.id} = c{node.id}_{j};")
            self.names[inner] = f"v{inner.id}"
        return self.block(block)

    def _assign(self, target: str, value: str) -> None:
        self.add_line(f"{target} = {value};")

    def close(self) -> None:
        """Close the braces of a loop, a branch or a scope."""
        self.indent -= 1
        self.add_line("}")

    def _while(self, node: Node) -> None:
        loop = node.value
        self._declare_carried(node, loop.body.ins)
        self.add_line("for (;;) {")
        test = self.loop_body(node, loop.test, loop.body.ins)[0]
        self.add_line(f"if (!({test})) break;")
        for j, value in enumerate(self.block(loop.body, at_hand=set(loop.test.order()))):
            self._assign(f"c{node.id}_{j}", value)
        self.close()

    def _branch(self, node: Node) -> None:
        blocks, which = node.value.blocks, node.args[0]
        for j, n in enumerate(blocks[0].outs):
            self.add_line(f"{TYPES[n.dtype]} c{node.id}_{j};")
        for k, block in enumerate(blocks):
            last = k == len(blocks) - 1
            chosen = f"!({self.reference(which)})" if which.dtype == "bool" else f"{self.reference(which)} <= {k}"
            self.add_line("else {" if last else f"{'else ' if k else ''}if ({chosen}) {{")
            self.indent += 1
            self.names.update(zip(block.ins, (self.reference(a) for a in node.args[1:]), strict=False))
            for j, value in enumerate(self.block(block)):
                self._assign(f"c{node.id}_{j}", value)
            self.close()

    def _proj(self, node: Node) -> None:
        source, k = node.args[0], node.value
        if source.op == "loop" and k >= source.value.carries:
            row, column = divmod(k - source.value.carries, source.value.results)
            self.names[node] = f"y{source.id}_{column}[{row}]"
        else:
            self.names[node] = f"c{source.id}_{k}"


def is_constant_table(node: Node) -> bool:
    """Whether a table holds constants only, and so is declared outside the function."""
    return node.op == "table" and all(a.op == "const" for a in node.args)
