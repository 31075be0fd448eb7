"""Writes the instructions of one node."""

from __future__ import annotations

from collections.abc import Callable

from freefloat.engine.graph.floats import LIBM
from freefloat.engine.graph.node import Node
from freefloat.engine.graph.scalars import BITS, BOOL, FLOAT, is_signed

from . import mathematics
from .text import Function

Operands = tuple[str, ...]
FLOAT_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INTEGER_BINARY = {"iadd": "add", "isub": "sub", "imul": "mul", "iand": "and", "ior": "or", "ixor": "xor"}
BOOLEAN = {"and": "and", "or": "or", "xor": "xor"}
INTRINSIC = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "abs": "fabs",
    "max": "maximum",  # NaN if either is; -0 before 0
    "min": "minimum",
}


def emit_node(f: Function, node: Node, args: Operands) -> str:
    """Value of a node that needs neither memory nor control flow."""
    op = node.op
    if op in FLOAT_BINARY:
        return f.binary(FLOAT_BINARY[op], args[0], args[1])
    if op in INTEGER_BINARY:
        return f.binary(INTEGER_BINARY[op], args[0], args[1], node.dtype)
    if op in BOOLEAN:
        return f.binary(BOOLEAN[op], args[0], args[1], BOOL)
    if op in INTRINSIC:
        return f.intrinsic(INTRINSIC[op], FLOAT, *args)
    if op in ("exp", "log", "atan2"):
        return mathematics.call_function(f, op, *args)
    if op in LIBM or op in ("fmod", "pow"):
        return f.lanes(op, FLOAT, *args)
    return OTHERS[op](f, node, args)


def _integer_extreme(f: Function, node: Node, args: Operands) -> str:
    return f.intrinsic(("s" if is_signed(node.dtype) else "u") + node.op[1:], node.dtype, *args)


def _compare(f: Function, node: Node, args: Operands) -> str:
    dtype = node.args[0].dtype
    if dtype == FLOAT:
        return f.emit_value(f"fcmp o{node.op} {f.type(dtype)} {args[0]}, {args[1]}")
    sign = "" if node.op == "eq" else ("s" if is_signed(dtype) else "u")
    return f.emit_value(f"icmp {sign}{node.op} {f.type(dtype)} {args[0]}, {args[1]}")


def _divide(f: Function, node: Node, args: Operands) -> str:
    """Integer quotient or remainder, without dividing by zero or with overflow, which the processor does not allow."""
    dtype, (a, b) = node.dtype, args
    kind, sign = f.type(dtype), "s" if is_signed(node.dtype) else "u"
    by_zero = f.emit_value(f"icmp eq {kind} {b}, {f.splat(0, dtype)}")
    # Division by -1 (or the largest unsigned number) is done apart: the lowest integer would overflow.
    by_ones = f.emit_value(f"icmp eq {kind} {b}, {f.splat(-1, dtype)}")
    unsafe = by_zero if sign == "u" else f.binary("or", by_zero, by_ones, BOOL)
    safe = f.select(unsafe, f.splat(1, dtype), b, dtype)
    if node.op == "irem":
        return f.select(by_zero, a, f.binary(sign + "rem", a, safe, dtype), dtype)
    result = f.binary(sign + "div", a, safe, dtype)
    if sign == "s":
        result = f.select(by_ones, f.binary("sub", f.splat(0, dtype), a, dtype), result, dtype)
    return f.select(by_zero, f.splat(-1, dtype), result, dtype)


def _shift(f: Function, node: Node, args: Operands) -> str:
    """Shifted integer; a shift by the width or more moves every bit out."""
    dtype, (a, amount) = node.dtype, args
    bits, kind = BITS[node.dtype], f.type(node.dtype)
    if node.args[1].op == "const":
        return f.binary(node.op, a, amount, dtype)
    fits = f.emit_value(f"icmp ult {kind} {amount}, {f.splat(bits, dtype)}")
    safe = f.select(fits, amount, f.splat(bits - 1 if node.op == "ashr" else 0, dtype), dtype)
    shifted = f.binary(node.op, a, safe, dtype)
    return shifted if node.op == "ashr" else f.select(fits, shifted, f.splat(0, dtype), dtype)


def _leading_zeros(f: Function, node: Node, args: Operands) -> str:
    kind, name = f.type(node.dtype), f"@llvm.ctlz.{f.suffix(node.dtype)}"
    f.module.declarations.add(f"declare {kind} {name}({kind}, i1)")
    return f.emit_value(f"call {kind} {name}({kind} {args[0]}, i1 false)")


def _convert(f: Function, node: Node, args: Operands) -> str:
    source, target = node.args[0].dtype, node.dtype
    if target == FLOAT:
        return f.cast("sitofp" if is_signed(source) else "uitofp", args[0], source, target)
    if source == FLOAT:
        return _saturate(f, args[0], target)
    if BITS[source] == BITS[target]:
        return args[0]
    if BITS[source] > BITS[target]:
        return f.cast("trunc", args[0], source, target)
    return f.cast("sext" if is_signed(source) else "zext", args[0], source, target)


def _saturate(f: Function, a: str, target: str) -> str:
    """Double cut to an integer and limited to its range; NaN becomes 0."""
    name = "fptosi" if is_signed(target) else "fptoui"
    full = f"@llvm.{name}.sat.{f.suffix(target)}.{f.suffix(FLOAT)}"
    f.module.declarations.add(f"declare {f.type(target)} {full}({f.type(FLOAT)})")
    return f.emit_value(f"call {f.type(target)} {full}({f.type(FLOAT)} {a})")


def _bitcast(f: Function, node: Node, args: Operands) -> str:
    source, target = node.args[0].dtype, node.dtype
    return args[0] if f.type(source) == f.type(target) else f.cast("bitcast", args[0], source, target)


OTHERS: dict[str, Callable[[Function, Node, Operands], str]] = {
    "neg": lambda f, node, args: f.fneg(args[0]),
    "rcp": lambda f, node, args: f.binary("fdiv", f.splat(1.0), args[0]),
    "imax": _integer_extreme,
    "imin": _integer_extreme,
    "lt": _compare,
    "le": _compare,
    "eq": _compare,
    "not": lambda f, node, args: f.binary("xor", args[0], f.splat(True, BOOL), BOOL),
    "select": lambda f, node, args: f.select(args[0], args[1], args[2], node.dtype),
    "idiv": _divide,
    "irem": _divide,
    "shl": _shift,
    "lshr": _shift,
    "ashr": _shift,
    "popcount": lambda f, node, args: f.intrinsic("ctpop", node.dtype, args[0]),
    "clz": _leading_zeros,
    "convert": _convert,
    "bitcast": _bitcast,
}
