"""Elementary functions written once for scalars and vectors, so that both give the same bits.

Errors against the exact value, found by test: sin and cos below 1.6 ulp, exp and log below 1, atan2 below 2.
"""

from __future__ import annotations

import math

from freefloat.engine.graph.polynomials import (
    ARCTANGENT,
    COSINE,
    HALF_PI,
    LARGE_ANGLE,
    LOG2_HIGH,
    LOG2_LOW,
    LOGARITHM,
    ROUND,
    SINE,
    TAYLOR,
)

from .text import Function, Module


def horner(f: Function, x: str, coefficients: tuple[float, ...]) -> str:
    """Value of the polynomial c0 + c1 x + c2 x^2 + ..."""
    result = f.splat(coefficients[-1])
    for c in coefficients[-2::-1]:
        result = f.multiply_add(result, x, f.splat(c))
    return result


def sines_cosines(f: Function, angles: list[str]) -> list[tuple[str, str]]:
    """Sine and cosine of several angles [rad], with one branch to the C library if any of them is very large."""
    kind = f.type("f64")
    pairs = [_small_sine_cosine(f, x) for x in angles]
    large = [f.emit_value(f"fcmp ogt {kind} {f.intrinsic('fabs', 'f64', x)}, {f.splat(LARGE_ANGLE)}") for x in angles]
    combined = large[0]
    for condition in large[1:]:
        combined = f.binary("or", combined, condition, "bool")
    before, rare, after = f.label, f.new_label("large"), f.new_label("angles")
    f.emit_statement(f"br i1 {f.any(combined)}, label %{rare}, label %{after}, !prof !0")
    f.start(rare)
    exact: list[list[str]] = []
    for x, condition, pair in zip(angles, large, pairs, strict=True):
        called = [
            f.emit_value(f"call {kind} @{_large_function(f.module, name)}({kind} {x})") for name in ("sin", "cos")
        ]
        exact.append([f.select(condition, a, b) for a, b in zip(called, pair, strict=True)])
    f.jump(after)
    f.start(after)

    def merge(usual: str, corrected: str) -> str:
        return f.emit_value(f"phi {kind} [{usual}, %{before}], [{corrected}, %{rare}]")

    return [(merge(p[0], e[0]), merge(p[1], e[1])) for p, e in zip(pairs, exact, strict=True)]


def _small_sine_cosine(f: Function, x: str) -> tuple[str, str]:
    turns = f.multiply_add(x, f.splat(2 / math.pi), f.splat(ROUND))
    quadrant = f.cast("bitcast", turns, "f64", "i64")
    minus_n = f.binary("fsub", f.splat(ROUND), turns)
    r = x
    for part in HALF_PI:
        r = f.multiply_add(minus_n, f.splat(part), r)
    z = f.binary("fmul", r, r)
    sine = f.multiply_add(f.binary("fmul", z, r), horner(f, z, SINE), r)
    head = f.multiply_add(z, f.splat(-0.5), f.splat(1.0))
    cosine = f.multiply_add(f.binary("fmul", z, z), horner(f, z, COSINE), head)
    odd = f.emit_value(f"trunc {f.type('i64')} {quadrant} to {f.type('bool')}")
    next_quadrant = f.binary("add", quadrant, f.splat(1, "i64"), "i64")
    return (
        _flip_sign(f, f.select(odd, cosine, sine), quadrant),
        _flip_sign(f, f.select(odd, sine, cosine), next_quadrant),
    )


def _flip_sign(f: Function, value: str, quadrant: str) -> str:
    """Value, negated in the third and fourth quadrant: bit 1 of the quadrant becomes the sign."""
    bit = f.binary("and", quadrant, f.splat(2, "i64"), "i64")
    sign = f.binary("shl", bit, f.splat(62, "i64"), "i64")
    flipped = f.binary("xor", f.cast("bitcast", value, "f64", "i64"), sign, "i64")
    return f.cast("bitcast", flipped, "i64", "f64")


def _helper(module: Module, name: str, arguments: int) -> Function | None:
    """New function of the module; None if it is written already."""
    if name in module.helpers:
        return None
    module.helpers.add(name)
    kind = "double" if module.width == 1 else f"<{module.width} x double>"
    names = ("%x", "%y")[:arguments]
    return Function(module, name, ", ".join(f"{kind} {n}" for n in names), kind)


def _large_function(module: Module, name: str) -> str:
    f = _helper(module, f"large_{name}", 1)
    if f is not None:
        f.emit_statement(f"ret {f.type('f64')} {f.lanes(name, 'f64', '%x')}")
        f.head += " cold noinline"
        f.finish()
    return f"large_{name}"


def call_function(f: Function, name: str, *args: str) -> str:
    """Value of exp, log or atan2 by a call of the module's own function."""
    writers = {"exp": _exponential, "log": _logarithm, "atan2": _arctangent}
    body = _helper(f.module, f"own_{name}", len(args))
    if body is not None:
        body.emit_statement(f"ret {body.type('f64')} {writers[name](body)}")
        body.finish()
    kind = f.type("f64")
    return f.emit_value(f"call {kind} @own_{name}({', '.join(f'{kind} {a}' for a in args)})")


def _exponential(f: Function) -> str:
    """Value of exp(x) = 2^n exp(r), |r| <= log(2)/2, by the Taylor series to r^13."""
    kind = f.type("f64")
    low, high = f.splat(-746.0), f.splat(710.0)
    x = f.select(f.emit_value(f"fcmp olt {kind} %x, {low}"), low, "%x")
    x = f.select(f.emit_value(f"fcmp ogt {kind} {x}, {high}"), high, x)
    shifted = f.multiply_add(x, f.splat(1 / math.log(2.0)), f.splat(ROUND))
    n = f.binary("fsub", shifted, f.splat(ROUND))
    minus_n = f.fneg(n)
    r = f.multiply_add(minus_n, f.splat(LOG2_HIGH), x)
    r = f.multiply_add(minus_n, f.splat(LOG2_LOW), r)
    tail = horner(f, r, TAYLOR)
    fraction = f.multiply_add(f.binary("fmul", r, r), tail, r)
    result = f.binary("fadd", fraction, f.splat(1.0))
    whole = f.cast("bitcast", shifted, "f64", "i64")
    whole = f.binary("shl", whole, f.splat(12, "i64"), "i64")
    whole = f.binary("ashr", whole, f.splat(12, "i64"), "i64")
    half = f.binary("ashr", whole, f.splat(1, "i64"), "i64")
    rest = f.binary("sub", whole, half, "i64")
    return f.binary("fmul", f.binary("fmul", result, _power_of_two(f, half)), _power_of_two(f, rest))


def _power_of_two(f: Function, exponent: str) -> str:
    biased = f.binary("add", exponent, f.splat(1023, "i64"), "i64")
    return f.cast("bitcast", f.binary("shl", biased, f.splat(52, "i64"), "i64"), "i64", "f64")


def _logarithm(f: Function) -> str:
    """Value of log(2^k (1+f)) = k log 2 + log(1+f), sqrt(1/2) < 1+f < sqrt(2)."""
    kind = f.type("f64")
    tiny = f.emit_value(f"fcmp olt {kind} %x, {f.splat(2.0**-1022)}")
    x = f.select(tiny, f.binary("fmul", "%x", f.splat(2.0**54)), "%x")
    bits = f.cast("bitcast", x, "f64", "i64")
    # Shift the mantissa so that numbers above sqrt(2) count as half of the next power.
    moved = f.binary("add", bits, f.splat(0x3FF0000000000000 - 0x3FE6A09E667F3BCD, "i64"), "i64")
    k = f.binary("sub", f.binary("lshr", moved, f.splat(52, "i64"), "i64"), f.splat(1023, "i64"), "i64")
    mantissa = f.binary("sub", bits, f.binary("shl", k, f.splat(52, "i64"), "i64"), "i64")
    k = f.select(tiny, f.binary("sub", k, f.splat(54, "i64"), "i64"), k, "i64")
    power = f.cast("sitofp", k, "i64", "f64")
    fraction = f.binary("fsub", f.cast("bitcast", mantissa, "i64", "f64"), f.splat(1.0))
    s = f.binary("fdiv", fraction, f.binary("fadd", fraction, f.splat(2.0)))
    z = f.binary("fmul", s, s)
    series = f.binary("fmul", z, horner(f, z, LOGARITHM))
    half_square = f.binary("fmul", f.binary("fmul", fraction, fraction), f.splat(0.5))
    inner = f.multiply_add(s, f.binary("fadd", half_square, series), f.binary("fmul", power, f.splat(LOG2_LOW)))
    small = f.binary("fsub", f.binary("fsub", half_square, inner), fraction)
    result = f.binary("fsub", f.binary("fmul", power, f.splat(LOG2_HIGH)), small)
    return _logarithm_limits(f, result)


def _logarithm_limits(f: Function, result: str) -> str:
    kind = f.type("f64")
    zero, infinity = f.splat(0.0), f.splat(math.inf)
    result = f.select(f.emit_value(f"fcmp oeq {kind} %x, {zero}"), f.splat(-math.inf), result)
    result = f.select(f.emit_value(f"fcmp oeq {kind} %x, {infinity}"), infinity, result)
    return f.select(f.emit_value(f"fcmp uge {kind} %x, {zero}"), _keep_nan(f, result), f.splat(math.nan))


def _keep_nan(f: Function, result: str) -> str:
    """Result, or x itself where x is NaN."""
    return f.select(f.emit_value(f"fcmp uno {f.type('f64')} %x, %x"), "%x", result)


def _arctangent(f: Function) -> str:
    """Angle atan2(x, y) of the point (y, x) [rad], from t = small/large reduced to |t| < tan(pi/8)."""
    kind = f.type("f64")
    up, right = f.intrinsic("fabs", "f64", "%x"), f.intrinsic("fabs", "f64", "%y")
    steep = f.emit_value(f"fcmp ogt {kind} {up}, {right}")
    small, large = _scaled_pair(f, f.select(steep, right, up), f.select(steep, up, right))
    middle = f.emit_value(f"fcmp ogt {kind} {small}, {f.binary('fmul', large, f.splat(math.tan(math.pi / 8)))}")
    top = f.select(middle, f.binary("fsub", small, large), small)
    bottom = f.select(middle, f.binary("fadd", small, large), large)
    t = f.binary("fdiv", top, bottom)
    z = f.binary("fmul", t, t)
    series = f.binary("fmul", z, horner(f, z, ARCTANGENT))
    tail = f.select(middle, f.splat(HALF_PI[1] / 2), f.splat(0.0))
    angle = f.binary("fsub", t, f.binary("fsub", f.binary("fmul", t, series), tail))
    angle = f.binary("fadd", f.select(middle, f.splat(math.pi / 4), f.splat(0.0)), angle)
    turned = f.binary("fsub", f.splat(HALF_PI[0]), f.binary("fsub", angle, f.splat(HALF_PI[1])))
    angle = f.select(steep, turned, angle)
    behind = f.emit_value(f"icmp slt {f.type('i64')} {f.cast('bitcast', '%y', 'f64', 'i64')}, {f.splat(0, 'i64')}")
    reflected = f.binary("fsub", f.splat(math.pi), f.binary("fsub", angle, f.splat(2 * HALF_PI[1])))
    angle = f.intrinsic("copysign", "f64", f.select(behind, reflected, angle), "%x")
    unordered = f.emit_value(f"fcmp uno {kind} %x, %y")
    return f.select(unordered, f.binary("fadd", "%x", "%y"), angle)


def _scaled_pair(f: Function, small: str, large: str) -> tuple[str, str]:
    """Two numbers with the ratio small/large whose sum neither underflows nor overflows."""
    kind = f.type("f64")
    infinite = f.emit_value(f"fcmp oeq {kind} {large}, {f.splat(math.inf)}")
    both = f.emit_value(f"fcmp oeq {kind} {small}, {f.splat(math.inf)}")
    huge = f.emit_value(f"fcmp ogt {kind} {large}, {f.splat(2.0**1000)}")
    factor = f.select(huge, f.splat(2.0**-30), f.splat(1.0))
    small, large = f.binary("fmul", small, factor), f.binary("fmul", large, factor)
    small = f.select(infinite, f.select(both, f.splat(1.0), f.splat(0.0)), small)
    zero = f.emit_value(f"fcmp oeq {kind} {large}, {f.splat(0.0)}")
    any_edge = f.emit_value(f"or {f.type('bool')} {infinite}, {zero}")
    return small, f.select(any_edge, f.splat(1.0), large)
