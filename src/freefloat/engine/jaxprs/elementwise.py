"""Rules for arithmetic, comparison, logic and conversion, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Node
from freefloat.engine.graph.floats import LIBM

from .arrays import DTYPES, Array, is_symbolic
from .interpreter import Tracer
from .refusals import precision_error, unsupported_error
from .rules import RULES, rule

Scalar = Callable[..., Node]
DOUBLE = np.finfo(np.float64)


def _by_type(floats: str, integers: str | None, booleans: str | None = None) -> Callable[[Builder], Scalar]:
    """Two-operand operation whose builder method depends on the type of the operands."""

    def choose(b: Builder) -> Scalar:
        def apply(x: Node, y: Node) -> Node:
            if x.dtype == "f64":
                return getattr(b, floats)(x, y)
            if x.dtype == "bool" and booleans:
                return getattr(b, booleans)(x, y)
            return b.integer(integers or "", x, y)

        return apply

    return choose


def _bitwise(integers: str, booleans: str) -> Callable[[Builder], Scalar]:
    return lambda b: lambda x, y: getattr(b, booleans)(x, y) if x.dtype == "bool" else b.integer(integers, x, y)


def _extreme(op: str, boolean: str) -> Callable[[Builder], Scalar]:
    def apply(b: Builder, x: Node, y: Node) -> Node:
        if x.dtype == "f64":
            return b.extreme(op, x, y)
        return getattr(b, boolean)(x, y) if x.dtype == "bool" else b.integer("i" + op, x, y)

    return lambda b: lambda x, y: apply(b, x, y)


def _negative(b: Builder, x: Node) -> Node:
    return b.neg(x) if x.dtype == "f64" else b.integer("isub", b.constant(0, x.dtype), x)


def _absolute(b: Builder, x: Node) -> Node:
    if x.dtype == "f64":
        return b.absolute(x)
    return b.select(b.compare("lt", x, b.constant(0, x.dtype)), _negative(b, x), x)


def _sign(b: Builder, x: Node) -> Node:
    if x.dtype == "f64":
        return b.sign(x)
    zero, one = b.constant(0, x.dtype), b.constant(1, x.dtype)
    positive = b.select(b.compare("lt", zero, x), one, zero)
    return b.select(b.compare("lt", x, zero), b.constant(-1, x.dtype), positive)


def _invert(b: Builder, x: Node) -> Node:
    return b.invert(x) if x.dtype == "bool" else b.integer("ixor", x, b.constant(-1, x.dtype))


def _total_order(op: str) -> Callable[[Builder], Scalar]:
    """Comparison by the order of the bits, in which NaN is the largest number and -0 comes before 0."""

    def key(b: Builder, x: Node) -> Node:
        bits = b.bitcast(x, "i64")
        flipped = b.integer("ixor", bits, b.constant(2**63 - 1, "i64"))
        return b.select(b.compare("lt", bits, b.constant(0, "i64")), flipped, bits)

    def apply(b: Builder, x: Node, y: Node) -> Node:
        return b.compare(op, key(b, x), key(b, y)) if x.dtype == "f64" else b.compare(op, x, y)

    return lambda b: lambda x, y: apply(b, x, y)


TABLE: dict[str, Callable[[Builder], Scalar]] = {
    "add": _by_type("add", "iadd", "either"),
    "add_any": _by_type("add", "iadd", "either"),
    "sub": _by_type("sub", "isub"),
    "mul": _by_type("mul", "imul", "both"),
    "div": _by_type("div", "idiv"),
    "rem": _by_type("fmod", "irem"),
    "max": _extreme("max", "either"),
    "min": _extreme("min", "both"),
    "and": _bitwise("iand", "both"),
    "or": _bitwise("ior", "either"),
    "xor": _bitwise("ixor", "exclusive_or"),
    "not": lambda b: lambda x: _invert(b, x),
    "neg": lambda b: lambda x: _negative(b, x),
    "abs": lambda b: lambda x: _absolute(b, x),
    "sign": lambda b: lambda x: _sign(b, x),
    "square": lambda b: lambda x: b.mul(x, x) if x.dtype == "f64" else b.integer("imul", x, x),
    "pow": lambda b: lambda x, y: b.power(x, b.convert(y, "f64")),
    "sin": lambda b: b.sin,
    "cos": lambda b: b.cos,
    "tan": lambda b: b.tan,
    "asin": lambda b: b.asin,
    "acos": lambda b: b.acos,
    "atan": lambda b: lambda x: b.atan2(x, b.one),
    "atan2": lambda b: b.atan2,
    "sqrt": lambda b: lambda x: b.function("sqrt", x),
    "rsqrt": lambda b: lambda x: b.rcp(b.function("sqrt", x)),
    "exp": lambda b: lambda x: b.function("exp", x),
    "exp2": lambda b: lambda x: b.function("exp", b.mul(x, b.constant(np.log(2.0)))),
    "log": lambda b: lambda x: b.function("log", x),
    "log2": lambda b: lambda x: b.mul(b.function("log", x), b.constant(1.0 / np.log(2.0))),
    "logistic": lambda b: lambda x: b.rcp(b.add(b.function("exp", b.neg(x)), b.one)),
    "floor": lambda b: lambda x: b.rounded("floor", x),
    "ceil": lambda b: lambda x: b.rounded("ceil", x),
    "is_finite": lambda b: b.is_finite,
    "lt": lambda b: lambda x, y: b.compare("lt", x, y),
    "le": lambda b: lambda x, y: b.compare("le", x, y),
    "gt": lambda b: lambda x, y: b.compare("lt", y, x),
    "ge": lambda b: lambda x, y: b.compare("le", y, x),
    "eq": lambda b: lambda x, y: b.compare("eq", x, y),
    "ne": lambda b: lambda x, y: b.invert(b.compare("eq", x, y)),
    "lt_to": _total_order("lt"),
    "le_to": _total_order("le"),
    "eq_to": _total_order("eq"),
    "shift_left": lambda b: lambda x, y: b.shift("shl", x, y),
    "shift_right_logical": lambda b: lambda x, y: b.shift("lshr", x, y),
    "shift_right_arithmetic": lambda b: lambda x, y: b.shift("ashr", x, y),
    "population_count": lambda b: lambda x: b.bit_count("popcount", x),
    "clz": lambda b: lambda x: b.bit_count("clz", x),
}
TABLE.update({name: lambda b, name=name: lambda x: b.function(name, x) for name in LIBM})

# Known numbers are combined by numpy where it means the same; everything else folds node by node.
KNOWN: dict[str, Any] = {
    "add": np.add,
    "add_any": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "abs": np.abs,
    "square": np.square,
}


def _elementwise_rule(name: str) -> Callable[..., Array]:
    def apply(tracer: Tracer, eqn: Any, *args: Array) -> Array:
        if not any(is_symbolic(a) for a in args):
            if name in KNOWN:
                with np.errstate(all="ignore"):
                    return np.asarray(KNOWN[name](*args))
            if any(np.asarray(a).dtype not in DTYPES for a in args):
                return tracer._evaluate(eqn, list(args))[0]
        return tracer.map(TABLE[name](tracer.b), *args)

    return apply


RULES.update({name: _elementwise_rule(name) for name in TABLE})


@rule("integer_pow")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    exponent, b = eqn.params["y"], tracer.b
    if np.dtype(eqn.outvars[0].aval.dtype).kind == "f":
        return tracer.map(lambda a: b.integer_power(a, exponent), x)
    result = np.ones(x.shape, eqn.outvars[0].aval.dtype)
    for _ in range(exponent):
        result = tracer.map(lambda a, c: b.integer("imul", a, c), result, x)
    return result


@rule("round")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    from jax.lax import RoundingMethod

    b = tracer.b
    if eqn.params["rounding_method"] == RoundingMethod.TO_NEAREST_EVEN:
        return tracer.map(lambda a: b.rounded("rint", a), x)

    def away_from_zero(a: Node) -> Node:
        size = b.absolute(a)
        down = b.rounded("floor", size)
        up = b.compare("le", b.constant(0.5), b.sub(size, down))
        whole = b.select(up, b.add(down, b.one), down)
        signed = b.select(b.compare("lt", a, b.zero), b.neg(whole), whole)
        return b.select(b.compare("eq", a, b.zero), a, signed)  # -0.0 stays what it is

    return tracer.map(away_from_zero, x)


@rule("convert_element_type")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    dtype = np.dtype(eqn.params["new_dtype"])
    # Doubles are cut to the range of an integer, which numpy does not do.
    if not is_symbolic(x) and not (x.dtype.kind == "f" and dtype.kind in "iu"):
        with np.errstate(all="ignore"):
            return x.astype(dtype)
    if dtype not in DTYPES or (not is_symbolic(x) and x.dtype not in DTYPES):
        raise precision_error(tracer, eqn, dtype)
    return tracer.map(lambda a: tracer.b.convert(a, DTYPES[dtype]), x)


@rule("bitcast_convert_type")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    dtype = np.dtype(eqn.params["new_dtype"])
    if not is_symbolic(x):
        return np.asarray(x).view(dtype)
    if dtype not in DTYPES or eqn.outvars[0].aval.shape != x.shape:
        raise precision_error(tracer, eqn, dtype)
    return tracer.map(lambda a: tracer.b.bitcast(a, DTYPES[dtype]), x)


@rule("select_n")
def _(tracer: Tracer, eqn: Any, which: Array, *cases: Array) -> Array:
    b = tracer.b
    if not any(is_symbolic(a) for a in (which, *cases)):
        return np.choose(which.astype(np.int64), list(cases))

    def pick(index: Node, *values: Node) -> Node:
        if index.dtype == "bool":
            return b.select(index, values[1], values[0])
        result = values[-1]
        for k in range(len(values) - 2, -1, -1):
            result = b.select(b.compare("le", index, b.constant(k, index.dtype)), values[k], result)
        return result

    return tracer.map(pick, which, *cases)


@rule("clamp")
def _(tracer: Tracer, eqn: Any, low: Array, x: Array, high: Array) -> Array:
    def clamp(a: Node, b: Node, c: Node) -> Node:
        return smaller(larger(b, a), c)

    larger, smaller = TABLE["max"](tracer.b), TABLE["min"](tracer.b)
    return tracer.map(clamp, low, x, high)


@rule("copy", "copy_p", "stop_gradient", "optimization_barrier", "pvary", "mutable_array")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    return list(args)


@rule("reduce_precision")
def _(tracer: Tracer, eqn: Any, x: Array) -> Array:
    exponent, mantissa = eqn.params["exponent_bits"], eqn.params["mantissa_bits"]
    if not is_symbolic(x):
        return tracer._evaluate(eqn, [x])[0]
    if exponent < DOUBLE.nexp or mantissa < DOUBLE.nmant:
        what = f"A number reduced to {exponent} bits of exponent and {mantissa} of mantissa"
        raise unsupported_error(tracer, eqn, what, "Compiled code is double precision: leave reduce_precision out.")
    return x
