"""Blocks as code: loops, branches, and calls of the functions a large block was split into.

Side by side, instances may want different things. A way of a branch is run if any lane asks for it, and a
while loop goes on as long as any lane does; a lane that did not ask computes along and keeps what it had.
Lanes that agree (a tick that is the same for all) therefore run one way only, and nobody has to declare it.
"""

from __future__ import annotations

from freefloat.engine.graph.node import Node
from freefloat.engine.graph.scalars import BOOL

from .straight import Memory
from .tables import Tables
from .text import Function

PARAMETERS = "ptr noalias %state, ptr noalias %held, ptr noalias %out, ptr noalias %frame"
ARGUMENTS = "ptr %state, ptr %held, ptr %out, ptr %frame"


class Writer(Tables):
    """Writes any block into one function."""

    asking: int | None = None  # slot that tells which lanes ask for the code being written; None: all of them

    @classmethod
    def begin(cls, memory: Memory, name: str, asking: int | None = None) -> Writer:
        """Begin one of the module's functions."""
        writer = cls(memory, Function(memory.module, name, PARAMETERS))
        writer.asking = asking
        return writer

    def block(self, key: object) -> None:
        """A block's nodes here, or calls of the functions it was split into."""
        parts = self.plan.parts.get(key)
        if parts is None:
            self.nodes(self.plan.orders[key])
            return
        for part in parts:
            writer = Writer.begin(self.memory, part.name, self.asking)
            writer.nodes(part.nodes)
            writer.finish()
            self.f.do(f"call void @{part.name}({ARGUMENTS})")

    def _loop(self, node: Node) -> None:
        loop, f = node.value, self.f
        carried = self._carry_in(node, loop.body.ins[1:])
        counter_slot = self.plan.reserve(1)
        self.memory.passes[node] = self.plan.reserve(loop.results * loop.length)
        counter = loop.body.ins[0]
        self.memory.inputs[counter] = ("%frame", counter_slot)
        before, head, done = f.label, f.fresh("loop"), f.fresh("done")
        f.jump(head)
        f.start(head)
        f.do(f"%{head}.k = phi i64 [0, %{before}], [%{head}.next, %{head}.end]")
        place = f.put(f"sub i64 {loop.length - 1}, %{head}.k") if loop.reverse else f"%{head}.k"
        f.store(f.everywhere(place, "i64"), "%frame", counter_slot, "i64")
        with _Scope(self):
            self.scalars[counter] = place
            self.block(loop.body)
            outs = [self.get(n) for n in loop.body.outs]
        self._pass_out(node, place, outs, carried)
        f.jump(f"{head}.end")
        f.start(f"{head}.end")
        f.do(f"%{head}.next = add i64 %{head}.k, 1")
        f.do(f"%{head}.more = icmp slt i64 %{head}.next, {loop.length}")
        f.do(f"br i1 %{head}.more, label %{head}, label %{done}")
        f.start(done)

    def _carry_in(self, node: Node, ins: tuple[Node, ...]) -> int:
        """Put the starting values of what a loop carries into memory."""
        first = self.memory.carried[node] = self.plan.reserve(len(ins))
        for k, inner in enumerate(ins):
            self.memory.inputs[inner] = ("%frame", first + k)
            self.f.store(self.get(node.args[k]), "%frame", first + k, inner.dtype)
        return first

    def _pass_out(self, node: Node, place: str, outs: list[str], carried: int) -> None:
        """Store what one pass carries on and what it leaves behind."""
        loop = node.value
        for k, (value, n) in enumerate(zip(outs[: loop.carries], loop.body.outs, strict=False)):
            self.f.store(value, "%frame", carried + k, n.dtype)
        if not loop.results:
            return
        row = self.f.put(f"mul i64 {place}, {loop.results}")
        base = self._offset(row, self.memory.passes[node])
        for k, (value, n) in enumerate(zip(outs[loop.carries :], loop.body.outs[loop.carries :], strict=True)):
            self.f.store(value, "%frame", self._offset(base, k), n.dtype)

    def _proj(self, node: Node) -> None:
        source, k = node.args[0], node.value
        if source.op == "loop" and k >= source.value.carries:
            first = self.memory.passes[source] + k - source.value.carries
            self.values[node] = self.f.load("%frame", first, node.dtype)
        else:
            self.values[node] = self.f.load("%frame", self.memory.carried[source] + k, node.dtype)

    def _while(self, node: Node) -> None:
        loop, f = node.value, self.f
        carried = self._carry_in(node, loop.body.ins)
        head, body, done = f.fresh("while"), f.fresh("body"), f.fresh("done")
        f.jump(head)
        f.start(head)
        with _Scope(self):
            self.block(loop.test)
            going = self._of_those_asking(self.get(loop.test.outs[0]))
            f.do(f"br i1 {f.any(going)}, label %{body}, label %{done}")
            f.start(body)
            self._ask(going)
            self.block(loop.body)
            self._blend(going, [self.get(n) for n in loop.body.outs], loop.body.outs, carried)
        f.jump(head)
        f.start(done)

    def _branch(self, node: Node) -> None:
        f, blocks = self.f, node.value.blocks
        first = self.memory.carried[node] = self.plan.reserve(len(blocks[0].outs))
        for k, block in enumerate(blocks):
            chosen = self._is_chosen(node.args[0], k, len(blocks) - 1)
            wanted = self._of_those_asking(chosen)
            way, after = f.fresh("way"), f.fresh("after")
            f.do(f"br i1 {f.any(wanted)}, label %{way}, label %{after}")
            f.start(way)
            with _Scope(self):
                self._ask(wanted)
                self.block(block)
                # The first way may write every lane: those it is not meant for are written again later.
                self._blend(chosen if k else None, [self.get(n) for n in block.outs], block.outs, first)
            f.jump(after)
            f.start(after)

    def _of_those_asking(self, mask: str) -> str:
        """Lanes of a mask that also ask for the code around it."""
        if self.asking is None:
            return mask
        return self.f.binary("and", mask, self.f.load("%frame", self.asking, BOOL), BOOL)

    def _ask(self, mask: str) -> None:
        """From here to the end of the scope, code is for these lanes."""
        if self.f.width > 1:
            self.asking = self.plan.reserve(1)
            self.f.store(mask, "%frame", self.asking, BOOL)

    def _blend(self, mask: str | None, values: list[str], nodes: tuple[Node, ...], first: int) -> None:
        """Store values in the lanes of a mask only."""
        for k, (value, n) in enumerate(zip(values, nodes, strict=True)):
            if self.f.width > 1 and mask is not None:
                value = self.f.select(mask, value, self.f.load("%frame", first + k, n.dtype), n.dtype)
            self.f.store(value, "%frame", first + k, n.dtype)

    def _is_chosen(self, which: Node, k: int, last: int) -> str:
        """Whether way k is taken; an index outside means the nearest way."""
        value = self.get(which)
        if which.dtype == BOOL:
            return value if k else self.f.binary("xor", value, self.f.splat(True, BOOL), BOOL)
        order = "sle" if k == 0 else "sge" if k == last else "eq"
        return self.f.put(f"icmp {order} {self.f.type(which.dtype)} {value}, {self.f.splat(k, which.dtype)}")


class _Scope:
    """Values found inside a block are not known after it."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def __enter__(self) -> None:
        self.values, self.scalars, self.asking = self.writer.values, self.writer.scalars, self.writer.asking
        self.writer.values, self.writer.scalars = dict(self.values), dict(self.scalars)

    def __exit__(self, *_: object) -> None:
        self.writer.values, self.writer.scalars, self.writer.asking = self.values, self.scalars, self.asking
