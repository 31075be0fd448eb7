"""Writes blocks as code: loops, branches, and calls of the functions that a large block was split into.

Instances side by side may take different ways. A way of a branch is run if any lane takes it, and a while
loop continues as long as any lane does; a lane that does not take it computes too, but keeps its old values.
Lanes that agree (on a tick that is the same for all) therefore run one way only, without any declaration.
"""

from __future__ import annotations

from freefloat.engine.graph.node import Node
from freefloat.engine.graph.scalars import BOOL

from .straight import MemoryMap
from .tables import Tables
from .text import Function

PARAMETERS = "ptr noalias %state, ptr noalias %held, ptr noalias %out, ptr noalias %frame"
ARGUMENTS = "ptr %state, ptr %held, ptr %out, ptr %frame"


class RegionWriter(Tables):
    """Writes any block into one function."""

    asking: int | None = None  # slot with the mask of lanes for which code is being written; None: all

    @classmethod
    def begin_function(cls, memory: MemoryMap, name: str, asking: int | None = None) -> RegionWriter:
        """Begin a function of the module; returns its writer."""
        writer = cls(memory, Function(memory.module, name, PARAMETERS))
        writer.asking = asking
        return writer

    def block(self, key: object) -> None:
        """Write a block's nodes here, or calls of the functions that it was split into."""
        parts = self.plan.parts.get(key)
        if parts is None:
            self.write_nodes(self.plan.orders[key])
            return
        for part in parts:
            writer = RegionWriter.begin_function(self.memory, part.name, self.asking)
            writer.write_nodes(part.nodes)
            writer.finish()
            self.f.emit_statement(f"call void @{part.name}({ARGUMENTS})")

    def _loop(self, node: Node) -> None:
        loop, f = node.value, self.f
        carried = self._store_carried(node, loop.body.ins[1:])
        counter_slot = self.plan.reserve(1)
        self.memory.passes[node] = self.plan.reserve(loop.results * loop.length)
        counter = loop.body.ins[0]
        self.memory.inputs[counter] = ("%frame", counter_slot)
        before, head, done = f.label, f.new_label("loop"), f.new_label("done")
        f.jump(head)
        f.start(head)
        f.emit_statement(f"%{head}.k = phi i64 [0, %{before}], [%{head}.next, %{head}.end]")
        place = f.emit_value(f"sub i64 {loop.length - 1}, %{head}.k") if loop.reverse else f"%{head}.k"
        f.store(f.everywhere(place, "i64"), "%frame", counter_slot, "i64")
        with _BlockScope(self):
            self.scalars[counter] = place
            self.block(loop.body)
            outs = [self.value_of(n) for n in loop.body.outs]
        self._store_pass(node, place, outs, carried)
        f.jump(f"{head}.end")
        f.start(f"{head}.end")
        f.emit_statement(f"%{head}.next = add i64 %{head}.k, 1")
        f.emit_statement(f"%{head}.more = icmp slt i64 %{head}.next, {loop.length}")
        f.emit_statement(f"br i1 %{head}.more, label %{head}, label %{done}")
        f.start(done)

    def _store_carried(self, node: Node, ins: tuple[Node, ...]) -> int:
        """Store the starting values of what a loop carries; returns their first slot."""
        first = self.memory.carried[node] = self.plan.reserve(len(ins))
        for k, inner in enumerate(ins):
            self.memory.inputs[inner] = ("%frame", first + k)
            self.f.store(self.value_of(node.args[k]), "%frame", first + k, inner.dtype)
        return first

    def _store_pass(self, node: Node, place: str, outs: list[str], carried: int) -> None:
        """Store the carried values and the results of one pass."""
        loop = node.value
        for k, (value, n) in enumerate(zip(outs[: loop.carries], loop.body.outs, strict=False)):
            self.f.store(value, "%frame", carried + k, n.dtype)
        if not loop.results:
            return
        row = self.f.emit_value(f"mul i64 {place}, {loop.results}")
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
        carried = self._store_carried(node, loop.body.ins)
        head, body, done = f.new_label("while"), f.new_label("body"), f.new_label("done")
        f.jump(head)
        f.start(head)
        with _BlockScope(self):
            self.block(loop.test)
            going = self._active_lanes(self.value_of(loop.test.outs[0]))
            f.emit_statement(f"br i1 {f.any(going)}, label %{body}, label %{done}")
            f.start(body)
            self._restrict_lanes(going)
            self.block(loop.body)
            self._store_masked(going, [self.value_of(n) for n in loop.body.outs], loop.body.outs, carried)
        f.jump(head)
        f.start(done)

    def _branch(self, node: Node) -> None:
        f, blocks = self.f, node.value.blocks
        first = self.memory.carried[node] = self.plan.reserve(len(blocks[0].outs))
        for k, block in enumerate(blocks):
            chosen = self._is_chosen(node.args[0], k, len(blocks) - 1)
            wanted = self._active_lanes(chosen)
            way, after = f.new_label("way"), f.new_label("after")
            f.emit_statement(f"br i1 {f.any(wanted)}, label %{way}, label %{after}")
            f.start(way)
            with _BlockScope(self):
                self._restrict_lanes(wanted)
                self.block(block)
                # The first way may write every lane: those it is not meant for are written again later.
                self._store_masked(chosen if k else None, [self.value_of(n) for n in block.outs], block.outs, first)
            f.jump(after)
            f.start(after)

    def _active_lanes(self, mask: str) -> str:
        """Mask of lanes that also run the code around the present one."""
        if self.asking is None:
            return mask
        return self.f.binary("and", mask, self.f.load("%frame", self.asking, BOOL), BOOL)

    def _restrict_lanes(self, mask: str) -> None:
        """Restrict the code up to the end of the scope to the lanes of a mask."""
        if self.f.width > 1:
            self.asking = self.plan.reserve(1)
            self.f.store(mask, "%frame", self.asking, BOOL)

    def _store_masked(self, mask: str | None, values: list[str], nodes: tuple[Node, ...], first: int) -> None:
        """Store values in the lanes of a mask only."""
        for k, (value, n) in enumerate(zip(values, nodes, strict=True)):
            if self.f.width > 1 and mask is not None:
                value = self.f.select(mask, value, self.f.load("%frame", first + k, n.dtype), n.dtype)
            self.f.store(value, "%frame", first + k, n.dtype)

    def _is_chosen(self, which: Node, k: int, last: int) -> str:
        """Mask of the lanes that take way k; an index outside the range means the nearest way."""
        value = self.value_of(which)
        if which.dtype == BOOL:
            return value if k else self.f.binary("xor", value, self.f.splat(True, BOOL), BOOL)
        order = "sle" if k == 0 else "sge" if k == last else "eq"
        return self.f.emit_value(f"icmp {order} {self.f.type(which.dtype)} {value}, {self.f.splat(k, which.dtype)}")


class _BlockScope:
    """A context after which values computed inside it are forgotten."""

    def __init__(self, writer: RegionWriter) -> None:
        self.writer = writer

    def __enter__(self) -> None:
        self.values, self.scalars, self.asking = self.writer.values, self.writer.scalars, self.writer.asking
        self.writer.values, self.writer.scalars = dict(self.values), dict(self.scalars)

    def __exit__(self, *_: object) -> None:
        self.writer.values, self.writer.scalars, self.writer.asking = self.values, self.scalars, self.asking
