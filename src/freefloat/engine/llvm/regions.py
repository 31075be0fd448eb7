"""Blocks as code: straight lines, loops, branches and tables in memory."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from freefloat.engine.graph.node import Block, Node
from freefloat.engine.graph.scalars import ELEMENT_BYTES, FLOAT

from . import mathematics
from .operations import emit
from .plan import Plan
from .schedule import TRIGONOMETRIC
from .text import ELEMENT, Function, Module

PARAMETERS = "ptr noalias %state, ptr noalias %held, ptr noalias %out, ptr noalias %frame"
ARGUMENTS = "ptr %state, ptr %held, ptr %out, ptr %frame"


@dataclass(frozen=True)
class Place:
    """Where a table lies: in slots of all lanes, or as single elements of a constant."""

    pointer: str
    first: int
    per_lane: bool
    owned: bool  # whether an update may overwrite it


class Emitter:
    """What all functions of one module share."""

    def __init__(self, plan: Plan, module: Module) -> None:
        self.plan, self.module = plan, module
        self.places: dict[Node, Place] = {}
        self.carried: dict[Node, int] = {}  # first slot of what a loop carries
        self.passes: dict[Node, int] = {}  # first slot of what a loop's passes leave behind
        self.inputs: dict[Node, tuple[str, int]] = {}
        self.outputs: dict[Node, list[int]] = {}
        self._place_inputs()

    def _place_inputs(self) -> None:
        block, state = self.plan.graph.block, self.plan.graph.signature.state_size
        for k, node in enumerate(block.ins):
            self.inputs[node] = ("%state", k) if k < state else ("%held", k - state)
        for k, node in enumerate(block.outs):
            self.outputs.setdefault(node, []).append(k)

    def function(self, name: str) -> Writer:
        """Begin one of the module's functions."""
        return Writer(self, Function(self.module, name, PARAMETERS))


class Writer:
    """Writes nodes into one function."""

    def __init__(self, emitter: Emitter, f: Function) -> None:
        self.e, self.plan, self.f = emitter, emitter.plan, f
        self.values: dict[object, str] = {}
        self.scalars: dict[Node, str] = {}

    def finish(self) -> None:
        """End the function."""
        self.f.do("ret void")
        self.f.finish()

    # ---- reading
    def get(self, node: Node) -> str:
        """The value of a node, loaded if it is not at hand."""
        node = self.plan.resolve(node)
        if node.op == "const":
            return self.f.splat(node.value, node.dtype)
        value = self.values.get(node)
        if value is None:
            value = self.values[node] = self._fetch(node)
        return value

    def _fetch(self, node: Node) -> str:
        if node in self.scalars:
            return self.f.everywhere(self.scalars[node], node.dtype)
        pointer, slot = self.e.inputs.get(node) or ("%frame", self.plan.slots[node])
        return self.f.load(pointer, slot, node.dtype)

    def scalar(self, node: Node) -> str:
        """The value of a node that is the same in every lane, as one number."""
        if node.op == "const":
            return str(node.value)
        if node not in self.scalars:
            self.scalars[node] = self.f.extract(self.get(node), 0, node.dtype)
        return self.scalars[node]

    # ---- writing
    def block(self, key: object) -> None:
        """A block's nodes here, or calls of the functions it was split into."""
        parts = self.plan.parts.get(key)
        if parts is None:
            self.nodes(self.plan.orders[key])
            return
        for part in parts:
            writer = self.e.function(part.name)
            writer.nodes(part.nodes)
            writer.finish()
            self.f.do(f"call void @{part.name}({ARGUMENTS})")

    def nodes(self, nodes: list[Node]) -> None:
        """Every node in turn."""
        for trigonometric, run in groupby(nodes, key=lambda n: n.op in TRIGONOMETRIC):
            if trigonometric:
                self._trigonometry(list(run))
            else:
                self._others(run)

    def _others(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node.op == "in" or node in self.plan.skipped:
                continue
            handler = getattr(self, f"_{node.op}", None)
            if handler is not None:
                handler(node)
            else:
                self._operation(node)
            self._keep(node)

    def _keep(self, node: Node) -> None:
        """Store what another function or the caller needs."""
        slot = self.plan.slots.get(node)
        if slot is not None:
            self.f.store(self.get(node), "%frame", slot, node.dtype)
        for k in self.e.outputs.get(node, ()):
            self.f.store(self.get(node), "%out", k, node.dtype)

    def _operation(self, node: Node) -> None:
        if node in self.plan.uniform:
            single = copy.copy(self.f)
            single.width = 1
            self.scalars[node] = emit(single, node, tuple(self.scalar(a) for a in node.args))
        elif node in self.plan.fused:
            self.values[node] = self._multiply_add(node)
        else:
            self.values[node] = emit(self.f, node, tuple(self.get(a) for a in node.args))

    def _multiply_add(self, node: Node) -> str:
        fused = self.plan.fused[node]
        a, b, other = self.get(fused.a), self.get(fused.b), self.get(fused.other)
        if fused.negate_product:
            a = self.f.fneg(a)
        if fused.negate_other:
            other = self.f.fneg(other)
        return self.f.multiply_add(a, b, other)

    def _trigonometry(self, nodes: list[Node]) -> None:
        """Sines and cosines in a row: both of every angle, with one check for very large ones."""
        angles = dict.fromkeys(self.plan.resolve(n.args[0]) for n in nodes)
        new = [a for a in angles if ("sin", a) not in self.values]
        if new:
            pairs = mathematics.sines_cosines(self.f, [self.get(a) for a in new])
            for angle, (sine, cosine) in zip(new, pairs, strict=True):
                self.values["sin", angle], self.values["cos", angle] = sine, cosine
        for node in nodes:
            self.values[node] = self.values[node.op, self.plan.resolve(node.args[0])]
            self._keep(node)

    # ---- tables
    def _table(self, node: Node) -> None:
        self.e.places[node] = self._existing(node) or self._built(node)

    def _existing(self, node: Node) -> Place | None:
        """Inputs that already lie side by side need no copy."""
        places = [self.e.inputs.get(a) for a in node.args]
        first = places[0]
        if first is None or any(p != (first[0], first[1] + k) for k, p in enumerate(places)):
            return None
        return Place(first[0], first[1], per_lane=True, owned=False)

    def _built(self, node: Node) -> Place:
        if all(a.op == "const" for a in node.args):
            name = self.e.module.constant_table([a.value for a in node.args], node.value)
            return Place(name, 0, per_lane=False, owned=False)
        first = self.plan.reserve(len(node.args))
        for k, a in enumerate(node.args):
            self.f.store(self.get(a), "%frame", first + k, a.dtype)
        return Place("%frame", first, per_lane=True, owned=True)

    def _lookup(self, node: Node) -> None:
        table, index = node.args
        place = self.e.places[table]
        if place.per_lane and (index in self.plan.uniform or index.op == "const"):
            slot = self._offset(self.scalar(index), place.first)
            self.values[node] = self.f.load(place.pointer, slot, node.dtype)
        elif index in self.plan.uniform:
            self.values[node] = self.f.everywhere(self._element(place, self.scalar(index), 0, node.dtype), node.dtype)
        else:
            self.values[node] = self._gathered(place, self.get(index), node.dtype)

    def _gathered(self, place: Place, index: str, dtype: str) -> str:
        result = "poison"
        for lane in range(self.f.width):
            element = self._element(place, self.f.extract(index, lane, "i64"), lane, dtype)
            result = self.f.insert(result, element, lane, dtype)
        return result

    def _offset(self, index: str, first: int) -> str:
        return index if first == 0 else self.f.put(f"add i64 {index}, {first}")

    def _element_address(self, place: Place, index: str, lane: int) -> str:
        """The eight bytes of one lane of one element."""
        if not place.per_lane:
            return self.f.put(f"getelementptr inbounds i64, ptr {place.pointer}, i64 {index}")
        slot = self._offset(index, place.first)
        row = f"[{self.f.width} x i64]"
        return self.f.put(f"getelementptr inbounds {row}, ptr {place.pointer}, i64 {slot}, i64 {lane}")

    def _element(self, place: Place, index: str, lane: int, dtype: str) -> str:
        address = self._element_address(place, index, lane)
        if dtype == FLOAT:
            return self.f.put(f"load double, ptr {address}, align 8")
        word = self.f.put(f"load i64, ptr {address}, align 8")
        return word if ELEMENT[dtype] == "i64" else self.f.put(f"trunc i64 {word} to {ELEMENT[dtype]}")

    def _update(self, node: Node) -> None:
        table, index, element = node.args
        place = self.e.places[node] = self._writable(node, table)
        if index in self.plan.uniform or index.op == "const":
            slot = self._offset(self.scalar(index), place.first)
            self.f.store(self.get(element), place.pointer, slot, element.dtype)
            return
        value, where = self.get(element), self.get(index)
        single = copy.copy(self.f)
        single.width = 1
        for lane in range(self.f.width):
            address = self._element_address(place, self.f.extract(where, lane, "i64"), lane)
            single.store(self.f.extract(value, lane, element.dtype), address, 0, element.dtype)

    def _writable(self, node: Node, table: Node) -> Place:
        """The table itself if nobody else looks at it any more, else a copy."""
        place = self.e.places[table]
        if place.owned and self.plan.uses[table] == 1 and table.depth == node.depth:
            return place
        length = _table_length(table)
        first = self.plan.reserve(length)
        if place.per_lane:
            source, target = self.f.address(place.pointer, place.first), self.f.address("%frame", first)
            self._copy(target, source, length)
        else:
            for k in range(length):
                element = self._element(place, str(k), 0, node.value)
                self.f.store(self.f.everywhere(element, node.value), "%frame", first + k, node.value)
        return Place("%frame", first, per_lane=True, owned=True)

    def _copy(self, target: str, source: str, slots: int) -> None:
        name, size = "@llvm.memcpy.p0.p0.i64", slots * self.f.width * ELEMENT_BYTES
        self.e.module.declarations.add(f"declare void {name}(ptr, ptr, i64, i1)")
        self.f.do(f"call void {name}(ptr align 8 {target}, ptr align 8 {source}, i64 {size}, i1 false)")

    # ---- control flow
    def _loop(self, node: Node) -> None:
        loop, f = node.value, self.f
        carried = self._carry_in(node, loop.body.ins[1:])
        counter_slot = self.plan.reserve(1)
        self.e.passes[node] = self.plan.reserve(loop.results * loop.length)
        counter = loop.body.ins[0]
        self.e.inputs[counter] = ("%frame", counter_slot)
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
        first = self.e.carried[node] = self.plan.reserve(len(ins))
        for k, inner in enumerate(ins):
            self.e.inputs[inner] = ("%frame", first + k)
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
        base = self._offset(row, self.e.passes[node])
        for k, (value, n) in enumerate(zip(outs[loop.carries :], loop.body.outs[loop.carries :], strict=True)):
            self.f.store(value, "%frame", self._offset(base, k), n.dtype)

    def _proj(self, node: Node) -> None:
        source, k = node.args[0], node.value
        if source.op == "loop" and k >= source.value.carries:
            first = self.e.passes[source] + k - source.value.carries
            self.values[node] = self.f.load("%frame", first, node.dtype)
        else:
            self.values[node] = self.f.load("%frame", self.e.carried[source] + k, node.dtype)

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
        first = self.e.carried[node] = self.plan.reserve(len(results))
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


def _table_length(table: Node) -> int:
    while table.op == "update":
        table = table.args[0]
    return len(table.args)
