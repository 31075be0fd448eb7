"""Writes tables in memory: look-ups and updates with an index computed at run time."""

from __future__ import annotations

import copy

from freefloat.engine.graph.node import Node, table_length
from freefloat.engine.graph.scalars import ELEMENT_BYTES, FLOAT

from .straight import Straight, TablePlace
from .text import ELEMENT


class Tables(Straight):
    """Adds tables to straight-line code."""

    def _table(self, node: Node) -> None:
        self.memory.places[node] = self._existing(node) or self._new_table(node)

    def _existing(self, node: Node) -> TablePlace | None:
        """Place of inputs that already lie side by side and need no copy; else None."""
        places = [self.memory.inputs.get(a) for a in node.args]
        first = places[0]
        if first is None or any(p != (first[0], first[1] + k) for k, p in enumerate(places)):
            return None
        return TablePlace(first[0], first[1], per_lane=True, owned=False)

    def _new_table(self, node: Node) -> TablePlace:
        """Place of a new table: a constant of the module, or slots of the frame."""
        if all(a.op == "const" for a in node.args):
            name = self.memory.module.constant_table([a.value for a in node.args], node.value)
            return TablePlace(name, 0, per_lane=False, owned=False)
        first = self.plan.reserve(len(node.args))
        for k, a in enumerate(node.args):
            self.f.store(self.value_of(a), "%frame", first + k, a.dtype)
        return TablePlace("%frame", first, per_lane=True, owned=True)

    def _lookup(self, node: Node) -> None:
        table, index = node.args
        place = self.memory.places[table]
        if place.per_lane and (index in self.plan.uniform or index.op == "const"):
            slot = self._offset(self.scalar(index), place.first)
            self.values[node] = self.f.load(place.pointer, slot, node.dtype)
        elif index in self.plan.uniform:
            self.values[node] = self.f.everywhere(self._element(place, self.scalar(index), 0, node.dtype), node.dtype)
        else:
            self.values[node] = self._gather_lanes(place, self.value_of(index), node.dtype)

    def _gather_lanes(self, place: TablePlace, index: str, dtype: str) -> str:
        """Vector of one element per lane, each with its own index."""
        result = "poison"
        for lane in range(self.f.width):
            element = self._element(place, self.f.extract(index, lane, "i64"), lane, dtype)
            result = self.f.insert(result, element, lane, dtype)
        return result

    def _offset(self, index: str, first: int) -> str:
        return index if first == 0 else self.f.emit_value(f"add i64 {index}, {first}")

    def _element_address(self, place: TablePlace, index: str, lane: int) -> str:
        """Address of one element in one lane."""
        if not place.per_lane:
            return self.f.emit_value(f"getelementptr inbounds i64, ptr {place.pointer}, i64 {index}")
        slot = self._offset(index, place.first)
        row = f"[{self.f.width} x i64]"
        return self.f.emit_value(f"getelementptr inbounds {row}, ptr {place.pointer}, i64 {slot}, i64 {lane}")

    def _element(self, place: TablePlace, index: str, lane: int, dtype: str) -> str:
        address = self._element_address(place, index, lane)
        if dtype == FLOAT:
            return self.f.emit_value(f"load double, ptr {address}, align 8")
        word = self.f.emit_value(f"load i64, ptr {address}, align 8")
        return word if ELEMENT[dtype] == "i64" else self.f.emit_value(f"trunc i64 {word} to {ELEMENT[dtype]}")

    def _update(self, node: Node) -> None:
        table, index, element = node.args
        place = self.memory.places[node] = self._writable(node, table)
        if index in self.plan.uniform or index.op == "const":
            slot = self._offset(self.scalar(index), place.first)
            self.f.store(self.value_of(element), place.pointer, slot, element.dtype)
            return
        value, where = self.value_of(element), self.value_of(index)
        single = copy.copy(self.f)
        single.width = 1
        for lane in range(self.f.width):
            address = self._element_address(place, self.f.extract(where, lane, "i64"), lane)
            single.store(self.f.extract(value, lane, element.dtype), address, 0, element.dtype)

    def _writable(self, node: Node, table: Node) -> TablePlace:
        """Place of a table that may be overwritten: the table itself if it is not read later, else a copy."""
        place = self.memory.places[table]
        if place.owned and self.plan.uses[table] == 1 and table.depth == node.depth:
            return place
        length = table_length(table)
        first = self.plan.reserve(length)
        if place.per_lane:
            source, target = self.f.address(place.pointer, place.first), self.f.address("%frame", first)
            self._copy(target, source, length)
        else:
            for k in range(length):
                element = self._element(place, str(k), 0, node.value)
                self.f.store(self.f.everywhere(element, node.value), "%frame", first + k, node.value)
        return TablePlace("%frame", first, per_lane=True, owned=True)

    def _copy(self, target: str, source: str, slots: int) -> None:
        name, size = "@llvm.memcpy.p0.p0.i64", slots * self.f.width * ELEMENT_BYTES
        self.memory.module.declarations.add(f"declare void {name}(ptr, ptr, i64, i1)")
        self.f.emit_statement(f"call void {name}(ptr align 8 {target}, ptr align 8 {source}, i64 {size}, i1 false)")
