"""Straight-line code: reading values, computing nodes, storing what others need."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from freefloat.engine.graph.node import Node

from . import mathematics
from .operations import emit_node
from .plan import CodePlan
from .schedule import TRIGONOMETRIC
from .text import Function, Module


@dataclass(frozen=True)
class TablePlace:
    """Place of a table in memory: in slots of all lanes, or as single elements of a constant."""

    pointer: str
    first: int
    per_lane: bool
    owned: bool  # whether an update may overwrite it


class MemoryMap:
    """Places of inputs, outputs, tables and carried values, for all functions of one module."""

    def __init__(self, plan: CodePlan, module: Module) -> None:
        self.plan, self.module = plan, module
        self.places: dict[Node, TablePlace] = {}
        self.carried: dict[Node, int] = {}  # first slot of what a loop carries, or a branch returns
        self.passes: dict[Node, int] = {}  # first slot of the results of a loop's passes
        self.inputs: dict[Node, tuple[str, int]] = {}
        self.outputs: dict[Node, list[int]] = {}
        block, state = plan.graph.block, plan.graph.signature.state_size
        for k, node in enumerate(block.ins):
            self.inputs[node] = ("%state", k) if k < state else ("%held", k - state)
        for k, node in enumerate(block.outs):
            self.outputs.setdefault(node, []).append(k)


class Straight:
    """Writes straight-line nodes into one function."""

    def __init__(self, memory: MemoryMap, f: Function) -> None:
        self.memory, self.plan, self.f = memory, memory.plan, f
        self.values: dict[object, str] = {}
        self.scalars: dict[Node, str] = {}

    def finish(self) -> None:
        """Write the return and add the function to its module."""
        self.f.emit_statement("ret void")
        self.f.finish()

    # ---- reading
    def value_of(self, node: Node) -> str:
        """Value of a node, loaded from memory if it is not known here."""
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
        pointer, slot = self.memory.inputs.get(node) or ("%frame", self.plan.slots[node])
        return self.f.load(pointer, slot, node.dtype)

    def scalar(self, node: Node) -> str:
        """Value of a node that is equal in every lane, as one number."""
        if node.op == "const":
            return str(node.value)
        if node not in self.scalars:
            self.scalars[node] = self.f.extract(self.value_of(node), 0, node.dtype)
        return self.scalars[node]

    # ---- writing
    def write_nodes(self, nodes: list[Node]) -> None:
        """Write the nodes in their order, sines and cosines in groups."""
        for trigonometric, run in groupby(nodes, key=lambda n: n.op in TRIGONOMETRIC):
            if trigonometric:
                self._trigonometry(list(run))
            else:
                self._write_others(run)

    def _write_others(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node.op == "in" or node in self.plan.skipped or node in self.values:
                continue  # an input, part of another node, or known from a loop's test
            handler = getattr(self, f"_{node.op}", None)
            if handler is not None:
                handler(node)
            else:
                self._operation(node)
            self._store_outputs(node)

    def _store_outputs(self, node: Node) -> None:
        """Store the value of a node that another function or the caller needs."""
        slot = self.plan.slots.get(node)
        if slot is not None:
            self.f.store(self.value_of(node), "%frame", slot, node.dtype)
        for k in self.memory.outputs.get(node, ()):
            self.f.store(self.value_of(node), "%out", k, node.dtype)

    def _operation(self, node: Node) -> None:
        if node in self.plan.uniform:
            single = copy.copy(self.f)
            single.width = 1
            self.scalars[node] = emit_node(single, node, tuple(self.scalar(a) for a in node.args))
        elif node in self.plan.fused:
            self.values[node] = self._multiply_add(node)
        else:
            self.values[node] = emit_node(self.f, node, tuple(self.value_of(a) for a in node.args))

    def _multiply_add(self, node: Node) -> str:
        fused = self.plan.fused[node]
        a, b, other = self.value_of(fused.a), self.value_of(fused.b), self.value_of(fused.other)
        if fused.negate_product:
            a = self.f.fneg(a)
        if fused.negate_other:
            other = self.f.fneg(other)
        return self.f.multiply_add(a, b, other)

    def _trigonometry(self, nodes: list[Node]) -> None:
        """Write a group of sines and cosines: both of every angle, with one check for very large ones."""
        angles = dict.fromkeys(self.plan.resolve(n.args[0]) for n in nodes)
        new = [a for a in angles if ("sin", a) not in self.values]
        if new:
            pairs = mathematics.sines_cosines(self.f, [self.value_of(a) for a in new])
            for angle, (sine, cosine) in zip(new, pairs, strict=True):
                self.values["sin", angle], self.values["cos", angle] = sine, cosine
        for node in nodes:
            self.values[node] = self.values[node.op, self.plan.resolve(node.args[0])]
            self._store_outputs(node)
