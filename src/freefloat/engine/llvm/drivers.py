"""The functions that Python calls: one call, a further call with the same held arguments, a batch, a rollout.

Their loops over instances and steps are compiled code.

Arrays of the caller are described by *rows*: pairs of (address, bytes from one instance to the
next), one per leaf. Lanes past the end of a batch repeat its last instance.
"""

from __future__ import annotations

from collections.abc import Iterator

from freefloat.engine.graph.program import Graph, Leaf

from .text import Function, Module

STORAGE = {"f64": "double", "i64": "i64", "u64": "i64", "i32": "i32", "u32": "i32", "bool": "i8"}


def emit_drivers(graph: Graph, module: Module) -> None:
    """Write every driver of a module whose ``prepare`` and ``step`` exist."""
    _emit_calls(module, "call", ("prepare", "step"))
    _emit_batch(graph, module)
    if graph.signature.is_step:
        # A call on the frame of an earlier call with equal held arguments, which are not prepared again.
        _emit_calls(module, "again", ("step",))
        _emit_rollout(graph, module)


def _public_function(module: Module, name: str, parameters: str) -> Function:
    f = Function(module, name, parameters)
    f.head = f"define void @{name}({parameters})"
    return f


def _emit_calls(module: Module, name: str, parts: tuple[str, ...]) -> None:
    """Write a driver that calls these functions, one after the other."""
    parameters = "ptr %state, ptr %held, ptr %out, ptr %frame"
    f = _public_function(module, name, parameters)
    for part in parts:
        f.emit_statement(f"call void @{part}({parameters})")
    f.emit_statement("ret void")
    f.finish()


class _CountingLoop:
    """A counting loop ``for k in range(start, end, stride)`` in a driver."""

    def __init__(self, f: Function, start: str, end: str, stride: int = 1) -> None:
        self.f, self.end, self.stride = f, end, stride
        before, self.name = f.label, f.new_label("for")
        f.jump(self.name)
        f.start(self.name)
        self.k = f"%{self.name}.k"
        f.emit_statement(f"{self.k} = phi i64 [{start}, %{before}], [{self.k}.next, %{self.name}.end]")
        more = f.emit_value(f"icmp slt i64 {self.k}, {end}")
        f.emit_statement(f"br i1 {more}, label %{self.name}.body, label %{self.name}.done")
        f.start(f"{self.name}.body")

    def close(self) -> None:
        """Write the end of the loop."""
        self.f.jump(f"{self.name}.end")
        self.f.start(f"{self.name}.end")
        self.f.emit_statement(f"{self.k}.next = add i64 {self.k}, {self.stride}")
        self.f.jump(self.name)
        self.f.start(f"{self.name}.done")


def _emit_batch(graph: Graph, module: Module) -> None:
    """Write `batch`: instances [first, end) of a batch of ``total``, a register's width at a time."""
    f = _public_function(module, "batch", "ptr %rows, ptr %results, i64 %first, i64 %end, i64 %total, ptr %work")
    state, held, out, frame = _area_addresses(f, graph)
    group = _CountingLoop(f, "%first", "%end", module.width)
    _gather(f, graph.signature.leaves, "%rows", state, group.k)
    f.emit_statement(f"call void @call(ptr {state}, ptr {held}, ptr {out}, ptr {frame})")
    _scatter(f, graph.signature.results, "%results", out, group.k)
    group.close()
    f.emit_statement("ret void")
    f.finish()


def _emit_rollout(graph: Graph, module: Module) -> None:
    """Write `rollout`: ``steps`` steps of instances [first, end); records after ``due`` steps, then each ``every``."""
    parameters = "ptr %rows, ptr %results, i64 %first, i64 %end, i64 %total, ptr %work"
    f = _public_function(module, "rollout", f"{parameters}, i64 %steps, i64 %every, i64 %due, i64 %count, ptr %records")
    state, held, out, frame = _area_addresses(f, graph)
    group = _CountingLoop(f, "%first", "%end", module.width)
    _gather(f, graph.signature.leaves, "%rows", state, group.k)
    f.emit_statement(f"call void @prepare(ptr {state}, ptr {held}, ptr {out}, ptr {frame})")
    before, name = f.label, f.new_label("steps")
    f.jump(name)
    f.start(name)
    f.emit_statement(f"%{name}.now = phi ptr [{state}, %{before}], [%{name}.then, %{name}.end]")
    f.emit_statement(f"%{name}.then = phi ptr [{out}, %{before}], [%{name}.now, %{name}.end]")
    f.emit_statement(f"%{name}.k = phi i64 [0, %{before}], [%{name}.next, %{name}.end]")
    f.emit_statement(f"%{name}.row = phi i64 [0, %{before}], [%{name}.row2, %{name}.end]")
    f.emit_statement(f"%{name}.left = phi i64 [%due, %{before}], [%{name}.left2, %{name}.end]")
    more = f.emit_value(f"icmp slt i64 %{name}.k, %steps")
    f.emit_statement(f"br i1 {more}, label %{name}.body, label %{name}.done")
    f.start(f"{name}.body")
    f.emit_statement(f"call void @step(ptr %{name}.now, ptr {held}, ptr %{name}.then, ptr {frame})")
    _emit_record(f, graph, name, group.k)
    f.start(f"{name}.end")
    f.emit_statement(f"%{name}.next = add i64 %{name}.k, 1")
    f.jump(name)
    f.start(f"{name}.done")
    _scatter(f, graph.signature.results, "%results", f"%{name}.now", group.k)
    group.close()
    f.emit_statement("ret void")
    f.finish()


def _emit_record(f: Function, graph: Graph, name: str, first: str) -> None:
    """Write the copy of the new state into its row when the countdown ends."""
    f.emit_statement(f"%{name}.count = sub i64 %{name}.left, 1")
    due = f.emit_value(f"icmp eq i64 %{name}.count, 0")
    plain = f.label
    f.emit_statement(f"br i1 {due}, label %{name}.record, label %{name}.join")
    f.start(f"{name}.record")
    size = graph.signature.state_size
    for lane in range(f.width):
        instance = _instance(f, first, lane)
        row = f.emit_value(f"mul i64 {instance}, %count")
        row = f.emit_value(f"add i64 {row}, %{name}.row")
        row = f.emit_value(f"mul i64 {row}, {size}")
        target = f.emit_value(f"getelementptr inbounds i64, ptr %records, i64 {row}")
        element = _CountingLoop(f, "0", str(size))
        source = f.emit_value(
            f"getelementptr inbounds [{f.width} x i64], ptr %{name}.then, i64 {element.k}, i64 {lane}"
        )
        value = f.emit_value(f"load i64, ptr {source}, align 8")
        place = f.emit_value(f"getelementptr inbounds i64, ptr {target}, i64 {element.k}")
        f.emit_statement(f"store i64 {value}, ptr {place}, align 8")
        element.close()
    f.emit_statement(f"%{name}.row1 = add i64 %{name}.row, 1")
    recorded = f.label
    f.jump(f"{name}.join")
    f.start(f"{name}.join")
    f.emit_statement(f"%{name}.row2 = phi i64 [%{name}.row, %{plain}], [%{name}.row1, %{recorded}]")
    f.emit_statement(f"%{name}.left2 = phi i64 [%{name}.count, %{plain}], [%every, %{recorded}]")
    f.jump(f"{name}.end")


def _area_addresses(f: Function, graph: Graph) -> tuple[str, str, str, str]:
    """Addresses of state, held arguments, results and frame in the work space."""
    state, inputs, outputs = graph.signature.state_size, len(graph.block.ins), len(graph.block.outs)
    return "%work", f.address("%work", state), f.address("%work", inputs), f.address("%work", inputs + outputs)


def _instance(f: Function, first: str, lane: int) -> str:
    """Number of the instance of a lane; past the end, that of the last instance."""
    mine = f.emit_value(f"add i64 {first}, {lane}") if lane else first
    last = f.emit_value("sub i64 %total, 1")
    inside = f.emit_value(f"icmp slt i64 {mine}, %total")
    return f.emit_value(f"select i1 {inside}, i64 {mine}, i64 {last}")


def _leaf_address(f: Function, rows: str, number: int, instance: str) -> str:
    """Address of one instance's part of a leaf."""
    base = f.emit_value(f"load ptr, ptr {f.emit_value(f'getelementptr i64, ptr {rows}, i64 {2 * number}')}")
    stride = f.emit_value(f"load i64, ptr {f.emit_value(f'getelementptr i64, ptr {rows}, i64 {2 * number + 1}')}")
    return f.emit_value(f"getelementptr i8, ptr {base}, i64 {f.emit_value(f'mul i64 {stride}, {instance}')}")


def _gather(f: Function, leaves: tuple[Leaf, ...], rows: str, area: str, first: str) -> None:
    """Write the copy of the caller's arrays into slots."""
    for leaf, kind, source, element, slot, lane in _elements(f, leaves, rows, first):
        place = f.emit_value(f"getelementptr {kind}, ptr {source}, i64 {element}")
        value = f.emit_value(f"load {kind}, ptr {place}, align 1")
        if kind in ("i32", "i8"):
            value = f.emit_value(f"{'sext' if leaf.dtype == 'i32' else 'zext'} {kind} {value} to i64")
        target = _lane_address(f, area, slot, element, lane)
        f.emit_statement(f"store {kind if kind == 'double' else 'i64'} {value}, ptr {target}, align 8")


def _scatter(f: Function, leaves: tuple[Leaf, ...], rows: str, area: str, first: str) -> None:
    """Write the copy of slots into the caller's arrays."""
    for _, kind, target, element, slot, lane in _elements(f, leaves, rows, first):
        value = f.emit_value(f"load i64, ptr {_lane_address(f, area, slot, element, lane)}, align 8")
        if kind in ("i32", "i8"):
            value = f.emit_value(f"trunc i64 {value} to {kind}")
        kept = "i64" if kind == "double" else kind
        place = f.emit_value(f"getelementptr {kept}, ptr {target}, i64 {element}")
        f.emit_statement(f"store {kept} {value}, ptr {place}, align 1")


def _elements(
    f: Function, leaves: tuple[Leaf, ...], rows: str, first: str
) -> Iterator[tuple[Leaf, str, str, str, int, int]]:
    """Inside loops over the elements of all leaves: leaf, type, address in the caller's array, element, slot, lane."""
    slot = 0
    for number, leaf in enumerate(leaves):
        for lane in range(f.width) if leaf.size else ():
            address = _leaf_address(f, rows, number, _instance(f, first, lane))
            element = _CountingLoop(f, "0", str(leaf.size))
            yield leaf, STORAGE[leaf.dtype], address, element.k, slot, lane
            element.close()
        slot += leaf.size


def _lane_address(f: Function, area: str, slot: int, element: str, lane: int) -> str:
    place = f.emit_value(f"add i64 {element}, {slot}") if slot else element
    return f.emit_value(f"getelementptr [{f.width} x i64], ptr {area}, i64 {place}, i64 {lane}")
