"""A piece of graph: the nodes that a function computes from its inputs, stored independently of their builder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .file import node_of_row, row_of_node
from .memory import Memory
from .node import Node, nodes_behind
from .replay import ForeignNodes, replay_foreign

Quotients = Mapping[Node, tuple[Node, Node]]


@dataclass(frozen=True, eq=False)
class Piece:
    """Input nodes, result nodes, and numerator and denominator of nodes that are quotients."""

    ins: tuple[Node, ...]
    outs: tuple[Node, ...]
    quotients: Quotients

    @classmethod
    def of(cls, ins: Sequence[Node], outs: Sequence[Node], quotients: Quotients) -> Piece:
        """Piece that holds only the nodes that its results depend on."""
        whole = cls(tuple(ins), tuple(outs), quotients)
        return cls(whole.ins, whole.outs, {node: quotients[node] for node in whole._nodes if node in quotients})

    @cached_property
    def _nodes(self) -> tuple[Node, ...]:
        """Every node that the results depend on, inner blocks included, in the order in which they were made."""
        return tuple(sorted(nodes_behind(self.outs, self.quotients), key=lambda n: n.id))

    @cached_property
    def needed_inputs(self) -> frozenset[int]:
        """Numbers of the inputs that the results depend on."""
        found = set(self._nodes)
        return frozenset(number for number, node in enumerate(self.ins) if node in found)

    @cached_property
    def _foreign_nodes(self) -> ForeignNodes:
        return ForeignNodes(self.quotients)

    def insert_into(self, b: Memory, inputs: Sequence[Node | None]) -> list[Node]:
        """Rebuild the results with another builder from other input nodes; an input that is not needed may be None."""
        known = {old: new for old, new in zip(self.ins, inputs, strict=True) if new is not None}
        return replay_foreign(b, self.outs, known, self._foreign_nodes)

    def as_rows(self) -> tuple[Any, ...]:
        """Piece as plain lists and numbers, for storing."""
        needed = sorted(self.needed_inputs)
        nodes = {node: number for number, node in enumerate(self._nodes)}
        quotients = [(nodes[n], *(nodes[part] for part in self.quotients[n])) for n in nodes if n in self.quotients]
        ins = [(number, nodes[self.ins[number]]) for number in needed]
        rows = [row_of_node(node, nodes) for node in nodes]
        return rows, len(self.ins), ins, [nodes[node] for node in self.outs], quotients

    @classmethod
    def of_rows(cls, written: tuple[Any, ...]) -> Piece:
        """Piece from the lists and numbers of `as_rows`."""
        rows, count, numbered, outs, quotients = written
        nodes: list[Node] = []
        for number, row in enumerate(rows):
            nodes.append(node_of_row(row, nodes, number))
        ins = [Node("in", "f64", (), number, -1, 0) for number in range(count)]
        for number, place in numbered:
            ins[number] = nodes[place]
        over = {nodes[a]: (nodes[b], nodes[c]) for a, b, c in quotients}
        return cls(tuple(ins), tuple(nodes[k] for k in outs), over)
