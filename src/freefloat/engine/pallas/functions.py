"""Every operation on lane arrays, in JAX.

JAX's double-precision sine on a GPU carries the reduction of huge angles with it, slow and hungry
for registers. Sine and cosine are therefore polynomials here too; pi/2 is split into parts of 33
bits, whose products with a 20-bit integer are exact with or without fused multiply-add.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from freefloat.engine.graph.floats import LIBM
from freefloat.engine.graph.node import Node

DTYPES = {"f64": "float64", "i32": "int32", "i64": "int64", "u32": "uint32", "u64": "uint64", "bool": "bool"}
HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
SINE = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
COSINE = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)
HIGH_TURNS = 2.0**20  # quadrants beyond this are counted in two exact parts


def sine_cosine(x: Any) -> tuple[Any, Any]:
    """sin x and cos x, 1 ulp up to |x| of 1e6, absolute error below 1e-15 up to 1e11."""
    n = jnp.floor(x * (2 / math.pi) + 0.5)
    high = jnp.floor(n * (1 / HIGH_TURNS) + 0.5) * HIGH_TURNS
    low = n - high
    r = x
    for part in HALF_PI:
        r = (r - high * part) - low * part
    z = r * r
    sine = r + (z * r) * _horner(z, SINE)
    cosine = (1 - 0.5 * z) + (z * z) * _horner(z, COSINE)
    quadrant = n - 4 * jnp.floor(n * 0.25)
    odd = (quadrant == 1) | (quadrant == 3)
    sine, cosine = jnp.where(odd, cosine, sine), jnp.where(odd, sine, cosine)
    return jnp.where(quadrant >= 2, -sine, sine), jnp.where((quadrant == 1) | (quadrant == 2), -cosine, cosine)


def _horner(z: Any, coefficients: tuple[float, ...]) -> Any:
    result = coefficients[0] * z + coefficients[1]
    for c in coefficients[2:]:
        result = result * z + c
    return result


def evaluate(node: Node, a: list[Any]) -> Any:
    """The value of a node other than sine, cosine, memory and control flow."""
    if node.op == "convert":
        return _converted(a[0], node)
    if node.op == "bitcast":
        return lax.bitcast_convert_type(a[0], DTYPES[node.dtype])
    return OPERATIONS[node.op](*a)


def _converted(a: Any, node: Node) -> Any:
    dtype = DTYPES[node.dtype]
    if node.args[0].dtype != "f64":
        return a.astype(dtype)
    info = jnp.iinfo(dtype)
    low, high = float(info.min), float(info.max)
    inside = jnp.where(a != a, jnp.zeros_like(a), jnp.clip(a, low, high))
    top = jnp.full(a.shape, info.max, dtype)
    return jnp.where(inside >= high, top, jnp.where(inside >= high, jnp.zeros_like(inside), inside).astype(dtype))


def _shift(function: Callable[..., Any], fill: bool) -> Callable[..., Any]:
    """Shifts by the width or more move every bit out."""

    def apply(a: Any, amount: Any) -> Any:
        bits = jnp.iinfo(a.dtype).bits
        fits = (amount >= 0) & (amount < bits)
        last = jnp.full(a.shape, bits - 1, a.dtype)
        shifted = function(a, jnp.where(fits, amount, last))
        return shifted if fill else jnp.where(fits, shifted, jnp.zeros_like(shifted))

    return apply


def _divide(a: Any, b: Any) -> Any:
    return jnp.where(
        b == 0, jnp.full_like(a, -1 if a.dtype.kind == "i" else jnp.iinfo(a.dtype).max), lax.div(a, _safe(b))
    )


def _remainder(a: Any, b: Any) -> Any:
    return jnp.where(b == 0, a, lax.rem(a, _safe(b)))


def _safe(b: Any) -> Any:
    return jnp.where(b == 0, jnp.ones_like(b), b)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "rcp": lambda a: 1.0 / a,
    "abs": jnp.abs,
    "sqrt": jnp.sqrt,
    "exp": jnp.exp,
    "log": jnp.log,
    "pow": jnp.power,
    "fmod": jnp.fmod,
    "atan2": jnp.arctan2,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "trunc": jnp.trunc,
    "rint": jnp.round,
    "max": jnp.maximum,
    "min": jnp.minimum,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "select": jnp.where,
    "iadd": lambda a, b: a + b,
    "isub": lambda a, b: a - b,
    "imul": lambda a, b: a * b,
    "iand": lambda a, b: a & b,
    "ior": lambda a, b: a | b,
    "ixor": lambda a, b: a ^ b,
    "imax": jnp.maximum,
    "imin": jnp.minimum,
    "idiv": _divide,
    "irem": _remainder,
    "shl": _shift(lax.shift_left, fill=False),
    "lshr": _shift(lax.shift_right_logical, fill=False),
    "ashr": _shift(lax.shift_right_arithmetic, fill=True),
    "popcount": lax.population_count,
    "clz": lax.clz,
    "asinh": jnp.arcsinh,
    "acosh": jnp.arccosh,
    "atanh": jnp.arctanh,
    "cbrt": jnp.cbrt,
    "cosh": jnp.cosh,
    "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc,
    "expm1": jnp.expm1,
    "lgamma": jax.scipy.special.gammaln,
    "log1p": jnp.log1p,
    "sinh": jnp.sinh,
    "tanh": jnp.tanh,
}
assert set(LIBM) <= set(OPERATIONS)
