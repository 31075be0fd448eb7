"""Simplification of double-precision arithmetic."""

from __future__ import annotations

import math

from .booleans import Booleans
from .node import Node
from .scalars import BOOL, FLOAT

# Functions of one argument that the host's C library computes, in every target under these names.
LIBM = ("asinh", "acosh", "atanh", "cbrt", "cosh", "erf", "erfc", "expm1", "lgamma", "log1p", "sinh", "tanh")
ROUNDING = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round}


def _const(a: Node) -> bool:
    return a.op == "const"


def _is_negative(value: float) -> bool:
    """Whether the sign bit is set, as it is for -0.0."""
    return math.copysign(1.0, value) < 0


def _power(a: float, b: float) -> float:
    """Number a**b; where Python raises an error, what IEEE arithmetic returns."""
    try:
        return math.pow(a, b)
    except OverflowError:
        pass
    except ValueError:
        if a != 0:
            return math.nan  # a negative number to a fractional power; otherwise a pole at zero
    return math.copysign(math.inf, a) if b % 2 == 1 else math.inf


def _is_product(result: Node, factor: Node) -> bool:
    """Whether a result is a product with this factor, up to its sign; it may have cancelled to an older node."""
    result, factor = (n.args[0] if n.op == "neg" else n for n in (result, factor))
    if factor.op == "const":
        return result.op != "const"
    return result is factor or (result.op == "mul" and factor in result.args)


class Floats(Booleans):
    """Makes and simplifies nodes of double-precision arithmetic."""

    def __init__(self, *, strict_nan: bool = False) -> None:
        super().__init__(strict_nan=strict_nan)
        self.quotients: dict[Node, tuple[Node, Node]] = {}

    def neg(self, a: Node) -> Node:
        """Node of -a."""
        if _const(a):
            return self.constant(-a.value)
        if a.op == "neg":
            return a.args[0]
        if a.op == "mul" and _const(a.args[1]):
            return self.mul(a.args[0], self.constant(-a.args[1].value))
        return self.node("neg", FLOAT, a)

    def add(self, a: Node, b: Node) -> Node:
        """Node of a + b; a constant, if any, goes to the right."""
        if _const(a):
            a, b = b, a
        if _const(b):
            return self._add_constant(a, b)
        if a.op == "neg":
            return self.sub(b, a.args[0])
        if b.op == "neg":
            return self.sub(a, b.args[0])
        if a is b:
            return self.mul(a, self.constant(2.0))
        return self.node("add", FLOAT, a, b) if a.id < b.id else self.node("add", FLOAT, b, a)

    def _add_constant(self, a: Node, b: Node) -> Node:
        if _const(a):
            return self.constant(a.value + b.value)
        if b.value == 0 and (_is_negative(b.value) or not self.strict_nan):
            return a  # x + 0.0 is 0.0 for x = -0.0, x - 0.0 is x
        if a.op == "neg":
            return self.sub(b, a.args[0])
        if a.op == "add" and _const(a.args[1]):
            return self.add(a.args[0], self.constant(a.args[1].value + b.value))
        if a.op == "sub" and _const(a.args[0]):
            return self.sub(self.constant(a.args[0].value + b.value), a.args[1])
        return self.node("add", FLOAT, a, b)

    def sub(self, a: Node, b: Node) -> Node:
        """Node of a - b."""
        if _const(b):
            return self.add(a, self.constant(-b.value))
        if _const(a):
            return self._sub_from_constant(a, b)
        if b.op == "neg":
            return self.add(a, b.args[0])
        if self.strict_nan:
            return self.node("sub", FLOAT, a, b)
        if a is b:
            return self.zero
        if a.op == "neg":
            return self.neg(self.add(a.args[0], b))
        reverse = self.existing("sub", FLOAT, b, a)
        return self.neg(reverse) if reverse is not None else self.node("sub", FLOAT, a, b)

    def _sub_from_constant(self, a: Node, b: Node) -> Node:
        if a.value == 0 and (_is_negative(a.value) or not self.strict_nan):
            return self.neg(b)
        if b.op == "neg":
            return self.add(b.args[0], a)
        if b.op == "sub" and _const(b.args[0]):
            return self.add(b.args[1], self.constant(a.value - b.args[0].value))
        if b.op == "add" and _const(b.args[1]):
            return self.sub(self.constant(a.value - b.args[1].value), b.args[0])
        return self.node("sub", FLOAT, a, b)

    def mul(self, a: Node, b: Node) -> Node:
        """Node of a * b; a constant, if any, goes to the right."""
        if _const(a):
            a, b = b, a
        if _const(b):
            return self._mul_constant(a, b)
        if a.op == "neg":
            return self.neg(self.mul(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.mul(a, b.args[0]))
        if not self.strict_nan:
            cancelled = self._cancel(a, b) or self._cancel(b, a)
            if cancelled is not None:
                return cancelled
        return self.node("mul", FLOAT, a, b) if a.id < b.id else self.node("mul", FLOAT, b, a)

    def _mul_constant(self, a: Node, b: Node) -> Node:
        if _const(a):
            return self.constant(a.value * b.value)
        if b.value == 0 and not self.strict_nan:
            return self.zero
        if b.value == 1:
            return a
        if b.value == -1:
            return self.neg(a)
        if a.op == "neg":
            return self.mul(a.args[0], self.constant(-b.value))
        if a.op == "mul" and _const(a.args[1]):
            return self.mul(a.args[0], self.constant(a.args[1].value * b.value))
        return self.node("mul", FLOAT, a, b)

    def _cancel(self, a: Node, b: Node) -> Node | None:
        """Simplify a*b that contains a*(1/a); else None. Makes the deflated row of an articulated inertia zero."""
        if b.op == "rcp":
            if b.args[0] is a:
                return self.one
            if a.op == "mul" and b.args[0] in a.args:
                return a.args[0] if a.args[1] is b.args[0] else a.args[1]
        if b.op == "mul":
            for inverse, other in (b.args, b.args[::-1]):
                if inverse.op == "rcp" and inverse.args[0] is a:
                    return other
        if b.op == "sqrt" and a is b:
            return a.args[0]
        return None

    def rcp(self, a: Node) -> Node:
        """Node of 1 / a."""
        if _const(a):
            return self.constant(1.0 / a.value if a.value else math.copysign(math.inf, a.value))
        if a.op == "neg":
            return self.neg(self.rcp(a.args[0]))
        if a.op == "rcp" and not self.strict_nan:
            return a.args[0]
        return self.node("rcp", FLOAT, a)

    def div(self, a: Node, b: Node) -> Node:
        """Node of a / b as a product, so that one reciprocal per pivot is shared; within 1 ulp of the quotient."""
        if self.strict_nan and not (_const(a) and _const(b)):
            return self.quotient(a, b)
        inverse = self.rcp(b)
        result = self.mul(a, inverse)
        if _is_product(result, inverse) and result is not a:
            self.quotients[result] = (a, b)
        return result

    def correctly_rounded(self, a: Node) -> Node:
        """Node of the value of a, correctly rounded if it is a quotient: needed before a discontinuous function."""
        numerator, denominator = self.quotients.get(a, (a, self.one))
        return a if denominator is self.one else self.quotient(numerator, denominator)

    def quotient(self, a: Node, b: Node) -> Node:
        """Node of a / b, correctly rounded."""
        if _const(a) and _const(b) and b.value:
            return self.constant(a.value / b.value)
        if _const(a) and not a.value and not self.strict_nan:
            return self.mul(a, b)
        return self.node("div", FLOAT, a, b)

    def rounded(self, op: str, a: Node) -> Node:
        """Node of floor, ceil, trunc, or rint (to nearest, ties to even); a result of zero keeps the sign of a."""
        if _const(a):
            finite = math.isfinite(a.value)
            return self.constant(math.copysign(ROUNDING[op](a.value), a.value) if finite else a.value)
        return a if a.op in ROUNDING else self.node(op, FLOAT, self.correctly_rounded(a))

    def absolute(self, a: Node) -> Node:
        """Node of |a|."""
        if _const(a):
            return self.constant(abs(a.value))
        if a.op == "neg":
            return self.absolute(a.args[0])
        return a if a.op in ("abs", "exp") else self.node("abs", FLOAT, a)

    def sin(self, a: Node) -> Node:
        """Node of sin(a), with a in rad."""
        return self.neg(self.sin(a.args[0])) if a.op == "neg" else self.function("sin", a)

    def cos(self, a: Node) -> Node:
        """Node of cos(a), with a in rad."""
        return self.cos(a.args[0]) if a.op == "neg" else self.function("cos", a)

    def tan(self, a: Node) -> Node:
        """Node of tan(a), from sine and cosine, which the function usually needs too."""
        return self.div(self.sin(a), self.cos(a))

    def asin(self, a: Node) -> Node:
        """Node of asin(a) = atan2(a, sqrt((1-a)(1+a))), accurate up to a = 1 and a = -1."""
        return self.atan2(a, self._cosine_of_sine(a))

    def acos(self, a: Node) -> Node:
        """Node of acos(a) = atan2(sqrt((1-a)(1+a)), a), accurate up to a = 1 and a = -1."""
        return self.atan2(self._cosine_of_sine(a), a)

    def _cosine_of_sine(self, a: Node) -> Node:
        product = self.mul(self.sub(self.one, a), self.add(self.one, a))
        return self.function("sqrt", product)

    def atan2(self, a: Node, b: Node) -> Node:
        """Node of atan2(a, b), the angle of the point (x, y) = (b, a) [rad]."""
        if _const(a) and _const(b):
            return self.constant(math.atan2(a.value, b.value))
        return self.node("atan2", FLOAT, a, b)

    def function(self, op: str, a: Node) -> Node:
        """Node of sqrt, exp, log, sin, cos or one of the C library's functions of one argument."""
        if not _const(a):
            return self.node(op, FLOAT, a)
        try:
            return self.constant(getattr(math, op)(a.value))
        except (ValueError, OverflowError):
            return self._outside_domain(op, a.value)

    def _outside_domain(self, op: str, value: float) -> Node:
        """Constant that IEEE arithmetic returns where Python's math module raises an error."""
        infinite = {"log": -math.inf, "log1p": -math.inf, "exp": math.inf, "expm1": math.inf, "lgamma": math.inf}
        at_pole = (op == "log" and value == 0) or (op == "log1p" and value == -1) or op in ("exp", "expm1", "lgamma")
        if op in ("sinh", "cosh", "atanh") and not math.isinf(value) and abs(value) >= 1:
            grows = op != "atanh" or abs(value) == 1
            sign = 1.0 if op == "cosh" else math.copysign(1.0, value)
            return self.constant(sign * math.inf if grows else math.nan)
        return self.constant(infinite[op] if at_pole else math.nan)

    def fmod(self, a: Node, b: Node) -> Node:
        """Node of the exact remainder of a/b, with the sign of a."""
        if _const(a) and _const(b):
            defined = b.value and not math.isinf(a.value)
            return self.constant(math.fmod(a.value, b.value) if defined else math.nan)
        return self.node("fmod", FLOAT, a, b)

    def power(self, a: Node, b: Node) -> Node:
        """Node of a**b; small whole and half powers use multiplication and square root."""
        if _const(a) and _const(b):
            return self.constant(_power(a.value, b.value))
        if _const(b) and abs(b.value) <= 64 and float(2 * b.value).is_integer():
            whole = math.floor(abs(b.value))
            result = self.integer_power(a, whole)
            if whole != abs(b.value):
                result = self.mul(result, self.function("sqrt", a))
            return self.rcp(result) if b.value < 0 else result
        return self.node("pow", FLOAT, a, b)

    def integer_power(self, a: Node, exponent: int) -> Node:
        """Node of a**exponent for a whole exponent, by squaring."""
        if exponent < 0:
            return self.rcp(self.integer_power(a, -exponent))
        result = self.one
        while exponent:
            if exponent & 1:
                result = self.mul(result, a)
            exponent >>= 1
            if exponent:
                a = self.mul(a, a)
        return result

    def extreme(self, op: str, a: Node, b: Node) -> Node:
        """Node of max or min; NaN if either is NaN; -0.0 is smaller than 0.0."""
        if a is b:
            return a
        if _const(a) and _const(b):
            if a.value != a.value or b.value != b.value:
                return self.constant(math.nan)
            choose = max if op == "max" else min
            return self.constant(choose(a.value, b.value, key=lambda x: (x, not _is_negative(x))))
        return self.node(op, FLOAT, a, b)

    def sign(self, a: Node) -> Node:
        """Node of the sign of a: -1, 0, 1, or NaN for NaN."""
        positive = self.select(self.compare("lt", self.zero, a), self.one, a)
        return self.select(self.compare("lt", a, self.zero), self.constant(-1.0), positive)

    def is_finite(self, a: Node) -> Node:
        """Node that tells whether a is neither infinite nor NaN."""
        if _const(a):
            return self.constant(math.isfinite(a.value), BOOL)
        return self.compare("lt", self.absolute(a), self.constant(math.inf))
