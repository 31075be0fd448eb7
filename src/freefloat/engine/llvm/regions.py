"""Blocks as code: loops, branches, and calls of the functions a large block was split into."""

from __future__ import annotations

from freefloat.engine.graph.node import Block, Node

from .straight import Memory
from .tables import Tables
from .text import Function

PARAMETERS = "ptr noalias %state, ptr noalias %held, ptr noalias %out, ptr noalias %frame"
ARGUMENTS = "ptr %state, ptr %held, ptr %out, ptr %frame"


class Writer(Tables):
    """Writes any block into one function."""

    @classmethod
    def begin(cls, memory: Memory, name: str) -> Writer:
        """Begin one of the module's functions."""
        return cls(memory, Function(memory.module, name, PARAMETERS))

    def block(self, key: object) -> None:
        """A block's nodes here, or calls of the functions it was split into."""
        parts = self.plan.parts.get(key)
        if parts is None:
            self.nodes(self.plan.orders[key])
            return
        for part in parts:
            writer = Writer.begin(self.memory, part.name)
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
            test = self.get(loop.test.outs[0])
        f.do(f"br i1 {test}, label %{body}, label %{done}")
        f.start(body)
        with _Scope(self):
            self.block(loop.body)
            outs = [self.get(n) for n in loop.body.outs]
        for k, (value, n) in enumerate(zip(outs, loop.body.outs, strict=True)):
            f.store(value, "%frame", carried + k, n.dtype)
        f.jump(head)
        f.start(done)

    def _branch(self, node: Node) -> None:
        results = self._taken(node) if self.f.width == 1 else self._selected(node)
        first = self.memory.carried[node] = self.plan.reserve(len(results))
        for k, (value, n) in enumerate(zip(results, node.value.blocks[0].outs, strict=True)):
            self.f.store(value, "%frame", first + k, n.dtype)

    def _taken(self, node: Node) -> list[str]:
        """Scalar code goes one way only."""
        f, blocks = self.f, node.value.blocks
        done = f.fresh("join")
        arrivals: list[tuple[str, list[str]]] = []
        for k, block in enumerate(blocks):
            here, after = f.fresh("way"), f.fresh("way")
            if k < len(blocks) - 1:
                chosen = self._is_chosen(node.args[0], k)
                f.do(f"br i1 {chosen}, label %{here}, label %{after}")
            else:
                f.jump(here)
            f.start(here)
            values = self._way(block)
            arrivals.append((f.label, values))
            f.jump(done)
            if k < len(blocks) - 1:
                f.start(after)
        f.start(done)
        return [self._merged(n, k, arrivals) for k, n in enumerate(blocks[0].outs)]

    def _way(self, block: Block) -> list[str]:
        with _Scope(self):
            self.block(block)
            return [self.get(n) for n in block.outs]

    def _merged(self, n: Node, k: int, arrivals: list[tuple[str, list[str]]]) -> str:
        incoming = ", ".join(f"[{values[k]}, %{label}]" for label, values in arrivals)
        return self.f.put(f"phi {self.f.type(n.dtype)} {incoming}")

    def _selected(self, node: Node) -> list[str]:
        """Vector code computes every way and picks, lane by lane."""
        blocks = node.value.blocks
        ways = [self._way(block) for block in blocks]
        results = ways[-1]
        for k in range(len(blocks) - 2, -1, -1):
            chosen = self._is_chosen(node.args[0], k)
            pairs = zip(ways[k], results, blocks[0].outs, strict=True)
            results = [self.f.select(chosen, a, b, n.dtype) for a, b, n in pairs]
        return results

    def _is_chosen(self, which: Node, k: int) -> str:
        value = self.get(which)
        if which.dtype == "bool":
            return self.f.binary("xor", value, self.f.splat(True, "bool"), "bool")
        return self.f.put(f"icmp sle {self.f.type(which.dtype)} {value}, {self.f.splat(k, which.dtype)}")


class _Scope:
    """Values found inside a block are not known after it."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def __enter__(self) -> None:
        self.values, self.scalars = self.writer.values, self.writer.scalars
        self.writer.values, self.writer.scalars = dict(self.values), dict(self.scalars)

    def __exit__(self, *_: object) -> None:
        self.writer.values, self.writer.scalars = self.values, self.scalars
