"""Integer arithmetic that wraps around, bit operations, and conversions between types."""

from __future__ import annotations

import math
import struct

from .floats import Floats
from .node import Node
from .scalars import BITS, BOOL, FLOAT, is_integer, limits, wrap


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


FOLD = {
    "iadd": lambda a, b: a + b,
    "isub": lambda a, b: a - b,
    "imul": lambda a, b: a * b,
    "iand": lambda a, b: a & b,
    "ior": lambda a, b: a | b,
    "ixor": lambda a, b: a ^ b,
    "imax": max,
    "imin": min,
    "idiv": lambda a, b: _quotient(a, b) if b else -1,
    "irem": lambda a, b: a - b * _quotient(a, b) if b else a,
}
NEUTRAL_RIGHT = {"iadd": 0, "isub": 0, "imul": 1, "ior": 0, "ixor": 0, "idiv": 1, "shl": 0, "lshr": 0, "ashr": 0}
COMMUTATIVE = frozenset({"iadd", "imul", "iand", "ior", "ixor", "imax", "imin"})


class Integers(Floats):
    """Makes and simplifies nodes of 32- and 64-bit integer arithmetic and of conversions."""

    def integer(self, op: str, a: Node, b: Node) -> Node:
        """Node of a two-operand operation; division by zero gives -1 and the remainder a, as in JAX."""
        if op in COMMUTATIVE and (a.op == "const" or (b.op != "const" and b.id < a.id)):
            a, b = b, a
        if b.op == "const":
            if a.op == "const":
                return self.constant(FOLD[op](a.value, b.value), a.dtype)
            if NEUTRAL_RIGHT.get(op) == b.value:
                return a
            if op in ("iadd", "isub") and a.op == "iadd" and a.args[1].op == "const":
                offset = b.value if op == "iadd" else -b.value
                return self.integer("iadd", a.args[0], self.constant(a.args[1].value + offset, a.dtype))
            if op in ("imul", "iand") and b.value == 0:
                return b
            if op == "irem" and b.value in (1, -1):
                return self.constant(0, a.dtype)
        if a is b and op in ("isub", "ixor"):
            return self.constant(0, a.dtype)
        return self.node(op, a.dtype, a, b)

    def shift(self, op: str, a: Node, amount: Node) -> Node:
        """Node of shl, lshr or ashr; shifting by the width or more moves every bit out, as in JAX."""
        bits = BITS[a.dtype]
        if amount.op != "const":
            return self.node(op, a.dtype, a, amount)
        count = amount.value if 0 <= amount.value < bits else bits
        if count == bits:
            zero = self.constant(0, a.dtype)
            return self.shift("ashr", a, self.constant(bits - 1, a.dtype)) if op == "ashr" else zero
        if a.op == "const":
            return self.constant(self._shift_constant(op, a, count), a.dtype)
        return a if count == 0 else self.node(op, a.dtype, a, amount)

    @staticmethod
    def _shift_constant(op: str, a: Node, count: int) -> int:
        if op == "shl":
            return a.value << count
        if op == "ashr":  # copies the highest bit, also of an unsigned number
            return wrap(a.value, f"i{BITS[a.dtype]}") >> count
        return (a.value & ((1 << BITS[a.dtype]) - 1)) >> count

    def bit_count(self, op: str, a: Node) -> Node:
        """Node of popcount (number of one bits) or clz (number of leading zero bits)."""
        if a.op != "const":
            return self.node(op, a.dtype, a)
        unsigned = a.value & ((1 << BITS[a.dtype]) - 1)
        count = unsigned.bit_count() if op == "popcount" else BITS[a.dtype] - unsigned.bit_length()
        return self.constant(count, a.dtype)

    def convert(self, a: Node, dtype: str) -> Node:
        """Node of a number converted to another type; doubles are cut towards zero and to the range, NaN becomes 0."""
        if a.dtype == dtype:
            return a
        if dtype == BOOL:
            return self.invert(self.compare("eq", a, self.constant(0, a.dtype)))
        if a.op == "const":
            return self.constant(self._convert_constant(a, dtype), dtype)
        if a.dtype == BOOL:
            return self.select(a, self.constant(1, dtype), self.constant(0, dtype))
        if a.dtype == FLOAT:
            return self.node("convert", dtype, self.correctly_rounded(a))
        if a.op == "convert" and a.args[0].dtype == dtype and self._widens(dtype, a.dtype):
            return a.args[0]
        return self.node("convert", dtype, a)

    @staticmethod
    def _widens(narrow: str, wide: str) -> bool:
        return is_integer(narrow) and is_integer(wide) and BITS[wide] >= BITS[narrow]

    @staticmethod
    def _convert_constant(a: Node, dtype: str) -> float | int:
        if dtype == FLOAT or a.dtype != FLOAT:
            return a.value
        low, high = limits(dtype)
        if a.value != a.value:
            return 0
        return (high if a.value > 0 else low) if math.isinf(a.value) else min(max(int(a.value), low), high)

    def bitcast(self, a: Node, dtype: str) -> Node:
        """Node of the bits of a number, read as another type of the same width."""
        if a.dtype == dtype:
            return a
        if a.op == "const":
            codes = {FLOAT: "d", "i64": "q", "u64": "Q", "i32": "i", "u32": "I"}
            return self.constant(struct.unpack(codes[dtype], struct.pack(codes[a.dtype], a.value))[0], dtype)
        return self.node("bitcast", dtype, a)
