"""One node as a C expression, and the few helper functions such expressions call."""

from __future__ import annotations

import math
from collections.abc import Sequence

from freefloat.engine.graph.floats import LIBM
from freefloat.engine.graph.node import Node
from freefloat.engine.graph.scalars import BITS, BOOL, FLOAT, is_signed

TYPES = {FLOAT: "double", "i32": "int32_t", "i64": "int64_t", "u32": "uint32_t", "u64": "uint64_t", BOOL: "bool"}
UNSIGNED = {"i32": "uint32_t", "i64": "uint64_t", "u32": "uint32_t", "u64": "uint64_t"}
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "=="}
WRAPPING = {"iadd": "+", "isub": "-", "imul": "*", "iand": "&", "ior": "|", "ixor": "^"}
LOGIC = {"and": "&&", "or": "||", "xor": "!="}
FUNCTIONS = {"abs": "fabs", "rint": "rint", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "sqrt": "sqrt"}
SAME_NAME = frozenset({"sin", "cos", "exp", "log", "atan2", "fmod", "pow", *LIBM})


def literal(value: float | int, dtype: str) -> str:
    """A constant that reads back as the same bits."""
    if dtype == BOOL:
        return "true" if value else "false"
    if dtype != FLOAT:
        return _integer_literal(int(value), dtype)
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    if math.isnan(value):
        return "NAN"
    return repr(float(value)) if value >= 0 and math.copysign(1, value) > 0 else f"({float(value)!r})"


def _integer_literal(value: int, dtype: str) -> str:
    if not is_signed(dtype):
        return f"UINT{BITS[dtype]}_C({value})"
    lowest = -(1 << (BITS[dtype] - 1))
    return f"INT{BITS[dtype]}_MIN" if value == lowest else f"INT{BITS[dtype]}_C({value})"


def expression(node: Node, a: Sequence[str]) -> str:
    """C expression of a node whose operands are written as ``a``."""
    op, dtype = node.op, node.dtype
    if op in INFIX:
        return f"{a[0]} {INFIX[op]} {a[1]}"
    if op in WRAPPING:
        word = UNSIGNED[dtype]
        return f"({TYPES[dtype]})(({word}){a[0]} {WRAPPING[op]} ({word}){a[1]})"
    if op in LOGIC:
        return f"{a[0]} {LOGIC[op]} {a[1]}"
    if op in FUNCTIONS:
        return f"{FUNCTIONS[op]}({a[0]})"
    if op in SAME_NAME:
        return f"{op}({', '.join(a)})"
    if op in ("imax", "imin"):
        return f"{a[0]} {'>' if op == 'imax' else '<'} {a[1]} ? {a[0]} : {a[1]}"
    return _other(node, a)


def _other(node: Node, a: Sequence[str]) -> str:
    op, dtype = node.op, node.dtype
    simple = {"neg": "-{0}", "rcp": "1.0 / {0}", "not": "!{0}", "select": "{0} ? {1} : {2}"}
    if op in simple:
        return simple[op].format(*a)
    if op == "convert":
        source = node.args[0].dtype
        return f"{helper_name(node)}({a[0]})" if source == FLOAT else f"({TYPES[dtype]}){a[0]}"
    return f"{helper_name(node)}({', '.join(a)})"


def helper_name(node: Node) -> str:
    """Name of the helper function that a node needs; empty if it needs none."""
    if node.op in ("max", "min", "idiv", "irem", "shl", "lshr", "ashr", "popcount", "clz"):
        return f"{node.op}_{node.dtype}"
    if node.op == "bitcast" or (node.op == "convert" and node.args[0].dtype == FLOAT):
        return f"{node.op}_{node.args[0].dtype}_{node.dtype}"
    return ""


def helper_text(name: str) -> str:
    """C definition of the helper function with this name."""
    op, *types = name.split("_")
    kind = TYPES[types[-1]]
    word, bits = UNSIGNED.get(types[-1], ""), BITS.get(types[-1], 64)
    if op == "bitcast":
        body = f"{kind} y; memcpy(&y, &x, sizeof y); return y;"
        return f"static inline {kind} {name}({TYPES[types[0]]} x) {{ {body} }}"
    if op == "convert":
        return _saturating(name, types[-1])
    if op in ("max", "min"):
        return _extreme(name, op)
    if op in ("popcount", "clz"):
        count = {
            "popcount": f"{kind} n = 0; for ({word} w = ({word})x; w; w &= w - 1) ++n; return n;",
            "clz": f"{kind} n = {bits}; for ({word} w = ({word})x; w; w >>= 1) --n; return n;",
        }
        return f"static inline {kind} {name}({kind} x) {{ {count[op]} }}"
    outside = f"({word})b >= {bits}"
    highest = f"({word})a >> {bits - 1}"
    bodies = {
        "shl": f"{outside} ? 0 : ({kind})(({word})a << b)",
        "lshr": f"{outside} ? 0 : ({kind})(({word})a >> b)",
        "ashr": f"{highest} ? ({outside} ? ({kind})~({word})0 : ({kind})~(~({word})a >> b)) "
        f": ({outside} ? 0 : ({kind})(({word})a >> b))",
        "idiv": f"b == 0 ? ({kind})-1 : {_guard(types[-1], f'({kind})(0 - ({word})a)')}a / b",
        "irem": f"b == 0 ? a : {_guard(types[-1], '0')}a % b",
    }
    return f"static inline {kind} {name}({kind} a, {kind} b) {{ return {bodies[op]}; }}"


def _extreme(name: str, op: str) -> str:
    """C definition of max or min: NaN if an operand is NaN; the sum of two zeros has the sign of the larger one."""
    sign, at_zero = (">", "a + b") if op == "max" else ("<", "-(-a - b)")
    body = f"a {sign} b ? a : b {sign} a ? b : a == b && a != 0.0 ? a : {at_zero}"
    return f"static inline double {name}(double a, double b) {{ return {body}; }}"


def _guard(dtype: str, result: str) -> str:
    """C condition before a signed division: dividing the lowest integer by -1 overflows."""
    return f"b == -1 ? {result} : " if is_signed(dtype) else ""


def _saturating(name: str, dtype: str) -> str:
    kind, bits = TYPES[dtype], BITS[dtype]
    low, high = (f"INT{bits}_MIN", f"INT{bits}_MAX") if is_signed(dtype) else ("0", f"UINT{bits}_MAX")
    top = f"{2.0 ** (bits - 1 if is_signed(dtype) else bits)!r}"
    bottom = f"-{top}" if is_signed(dtype) else "0.0"
    body = f"x != x ? 0 : x >= {top} ? {high} : x <= {bottom} ? {low} : ({kind})x"
    return f"static inline {kind} {name}(double x) {{ return {body}; }}"
