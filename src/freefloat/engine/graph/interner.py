"""Makes nodes so that equal expressions are the same node."""

from __future__ import annotations

import math
from typing import Any

from .node import Node
from .scalars import BOOL, FLOAT, wrap


class Interner:
    """All nodes of one traced function."""

    def __init__(self, *, strict_nan: bool = False) -> None:
        self.strict_nan = strict_nan
        self.level = 0  # number of loop bodies around the code being traced
        self._interned: dict[tuple, Node] = {}
        self._constants: dict[tuple, Node] = {}
        self._count = 0
        self.zero, self.one = self.constant(0.0), self.constant(1.0)
        self.true, self.false = self.constant(True, BOOL), self.constant(False, BOOL)

    def constant(self, value: Any, dtype: str = FLOAT) -> Node:
        """Constant node of a number; minus zero and zero are different numbers."""
        if dtype == FLOAT:
            value = float(value)
            key = dtype, value if value == value else "nan", math.copysign(1.0, value) if value == 0 else 0.0
        else:
            value = bool(value) if dtype == BOOL else wrap(int(value), dtype)
            key = (dtype, value, 0.0)
        node = self._constants.get(key)
        if node is None:
            node = self._constants[key] = self._new("const", dtype, (), value, 0)
        return node

    def input(self, number: int, dtype: str) -> Node:
        """New input node of the block being traced; it is never merged with another."""
        return self._new("in", dtype, (), number, self.level)

    def node(self, op: str, dtype: str, *args: Node, value: Any = None) -> Node:
        """Node of an operation; equal operations share one node."""
        key = (op, dtype, args, value)
        node = self._interned.get(key)
        if node is None:
            depth = 0
            for a in args:
                if a.depth > depth:
                    depth = a.depth
            node = self._interned[key] = self._new(op, dtype, args, value, depth)
        return node

    def existing(self, op: str, dtype: str, *args: Node) -> Node | None:
        """Node of an operation if it was made before, else None."""
        return self._interned.get((op, dtype, args, None))

    def _new(self, op: str, dtype: str, args: tuple[Node, ...], value: Any, depth: int) -> Node:
        self._count += 1
        return Node(op, dtype, args, value, self._count, depth)
