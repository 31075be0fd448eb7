"""Comparisons, logic and selection."""

from __future__ import annotations

import operator

from .interner import Interner
from .node import Node
from .scalars import BOOL, FLOAT

COMPARE = {"lt": operator.lt, "le": operator.le, "eq": operator.eq}


class Booleans(Interner):
    """Makes and simplifies nodes of comparisons, logic and selection."""

    def compare(self, op: str, a: Node, b: Node) -> Node:
        """Node of a < b, a <= b or a == b for numbers of one type; false if either is NaN."""
        if a.op == "const" and b.op == "const":
            return self.constant(COMPARE[op](a.value, b.value), BOOL)
        if a.dtype == BOOL:
            return self._compare_bools(op, a, b)
        if a is b and a.dtype != FLOAT:
            return self.constant(op != "lt", BOOL)
        return self.node(op, BOOL, a, b)

    def _compare_bools(self, op: str, a: Node, b: Node) -> Node:
        if op == "eq":
            return self.invert(self.exclusive_or(a, b))
        if op == "lt":
            return self.both(self.invert(a), b)
        return self.either(self.invert(a), b)

    def invert(self, a: Node) -> Node:
        """Node of the negation `not a`."""
        if a.op == "const":
            return self.constant(not a.value, BOOL)
        return a.args[0] if a.op == "not" else self.node("not", BOOL, a)

    def both(self, a: Node, b: Node) -> Node:
        """Node of `a and b`."""
        if a.op == "const":
            return b if a.value else self.false
        if b.op == "const":
            return a if b.value else self.false
        return a if a is b else self.node("and", BOOL, a, b)

    def either(self, a: Node, b: Node) -> Node:
        """Node of `a or b`."""
        if a.op == "const":
            return self.true if a.value else b
        if b.op == "const":
            return self.true if b.value else a
        return a if a is b else self.node("or", BOOL, a, b)

    def exclusive_or(self, a: Node, b: Node) -> Node:
        """Node of `a or b, not both`."""
        if a.op == "const":
            return self.invert(b) if a.value else b
        if b.op == "const":
            return self.invert(a) if b.value else a
        return self.false if a is b else self.node("xor", BOOL, a, b)

    def select(self, condition: Node, on_true: Node, on_false: Node) -> Node:
        """Node that selects one of two values; both are computed."""
        if condition.op == "const":
            return on_true if condition.value else on_false
        if on_true is on_false:
            return on_true
        if condition.op == "not":
            return self.select(condition.args[0], on_false, on_true)
        if on_true.dtype == BOOL and on_true.op == "const":
            return self.either(condition, on_false) if on_true.value else self.both(self.invert(condition), on_false)
        if on_false.dtype == BOOL and on_false.op == "const":
            return self.either(self.invert(condition), on_true) if on_false.value else self.both(condition, on_true)
        return self.node("select", on_true.dtype, condition, on_true, on_false)
