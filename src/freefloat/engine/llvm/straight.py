"""Straight-line code: reading values, computing nodes, storing what others need."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from freefloat.engine.graph.node import Node

from . import mathematics
from .operations import emit
from .plan import Plan
from .schedule import TRIGONOMETRIC
from .text import Function, Module


@dataclass(frozen=True)
class Place:
    """Where a table lies: in slots of all lanes, or as single elements of a constant."""

    pointer: str
    first: int
    per_lane: bool
    owned: bool  # whether an update may overwrite it


class Memory:
    """Where things lie, for all functions of one module."""

    def __init__(self, plan: Plan, module: Module) -> None:
        self.plan, self.module = plan, module
        self.places: dict[Node, Place] = {}
        self.carried: dict[Node, int] = {}  # first slot of what a loop carries, or a branch returns
        self.passes: dict[Node, int] = {}  # first slot of what a loop's passes leave behind
        self.inputs: dict[Node, tuple[str, int]] = {}
        self.outputs: dict[Node, list[int]] = {}
        block, state = plan.graph.block, plan.graph.signature.state_size
        for k, node in enumerate(block.ins):
            self.inputs[node] = ("%state", k) if k < state else ("%held", k - state)
        for k, node in enumerate(block.outs):
            self.outputs.setdefault(node, []).append(k)


class Straight:
    """Writes straight-line nodes into one function."""

    def __init__(self, memory: Memory, f: Function) -> None:
        self.memory, self.plan, self.f = memory, memory.plan, f
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
        pointer, slot = self.memory.inputs.get(node) or ("%frame", self.plan.slots[node])
        return self.f.load(pointer, slot, node.dtype)

    def scalar(self, node: Node) -> str:
        """The value of a node that is the same in every lane, as one number."""
        if node.op == "const":
            return str(node.value)
        if node not in self.scalars:
            self.scalars[node] = self.f.extract(self.get(node), 0, node.dtype)
        return self.scalars[node]

    # ---- writing
    def nodes(self, nodes: list[Node]) -> None:
        """Every node in turn."""
        for trigonometric, run in groupby(nodes, key=lambda n: n.op in TRIGONOMETRIC):
            if trigonometric:
                self._trigonometry(list(run))
            else:
                self._others(run)

    def _others(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node.op == "in" or node in self.plan.skipped or node in self.values:
                continue  # given, part of another node, or at hand from a loop's test
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
        for k in self.memory.outputs.get(node, ()):
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
