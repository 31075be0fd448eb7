"""Elementary functions of a kernel, with the same operations as native code (`llvm/mathematics`).

CUDA's own functions round differently and include the reduction of huge angles, and a call in the middle of a large
kernel costs registers. So sine and cosine of angles beyond 2^45 are NaN here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from freefloat.engine.graph import polynomials as c

REST = c.HALF_PI[1]  # of pi/2, below its nearest number


def _horner(x: str, coefficients: Sequence[float]) -> str:
    text = repr(coefficients[-1])
    for number in coefficients[-2::-1]:
        text = f"fma({text}, {x}, {number!r})"
    return text


# The quadrant is in the last bits of the shifted number.
SINE_COSINE = f"""
INLINE void sine_cosine(double x, double *s, double *c) {{
  const double turns = fma(x, {2 / math.pi!r}, {c.ROUND!r}), minus_n = {c.ROUND!r} - turns;
  double r = fabs(x) <= {c.LARGE_ANGLE!r} ? fma(minus_n, {c.HALF_PI[0]!r}, x) : NAN;
  r = fma(minus_n, {c.HALF_PI[1]!r}, r);
  r = fma(minus_n, {c.HALF_PI[2]!r}, r);
  const double z = r * r;
  const double sine = fma(z * r, {_horner("z", c.SINE)}, r);
  const double cosine = fma(z * z, {_horner("z", c.COSINE)}, fma(z, -0.5, 1.0));
  const int quadrant = (int)(bits_of(turns) & 3);
  const double a = quadrant & 1 ? cosine : sine, b = quadrant & 1 ? sine : cosine;
  *s = quadrant & 2 ? -a : a;
  *c = (quadrant + 1) & 2 ? -b : b;
}}
"""

EXPONENTIAL = f"""
INLINE double power_of_two(int64_t n) {{ return number_of((int64_t)((uint64_t)(n + 1023) << 52)); }}
INLINE double exponential(double x) {{
  double y = x < -746.0 ? -746.0 : x;
  y = y > 710.0 ? 710.0 : y;
  const double shifted = fma(y, {1 / math.log(2.0)!r}, {c.ROUND!r}), n = shifted - {c.ROUND!r};
  double r = fma(-n, {c.LOG2_HIGH!r}, y);
  r = fma(-n, {c.LOG2_LOW!r}, r);
  const double result = fma(r * r, {_horner("r", c.TAYLOR)}, r) + 1.0;
  const int64_t whole = (int64_t)((uint64_t)bits_of(shifted) << 12) >> 12, half = whole >> 1;
  return result * power_of_two(half) * power_of_two(whole - half);
}}
"""

# The mantissa is shifted so that numbers above sqrt(2) count as half of the next power.
LOGARITHM = f"""
INLINE double logarithm(double x) {{
  const bool tiny = x < {2.0**-1022!r};
  const uint64_t bits = (uint64_t)bits_of(tiny ? x * {2.0**54!r} : x);
  int64_t k = (int64_t)((bits + UINT64_C({0x3FF0000000000000 - 0x3FE6A09E667F3BCD})) >> 52) - 1023;
  const double fraction = number_of((int64_t)(bits - ((uint64_t)k << 52))) - 1.0;
  const double power = (double)(tiny ? k - 54 : k);
  const double s = fraction / (fraction + 2.0), z = s * s;
  const double series = z * {_horner("z", c.LOGARITHM)};
  const double half_square = fraction * fraction * 0.5;
  const double inner = fma(s, half_square + series, power * {c.LOG2_LOW!r});
  const double result = power * {c.LOG2_HIGH!r} - (half_square - inner - fraction);
  return x == 0.0 ? -INFINITY : x == INFINITY || x != x ? x : x < 0.0 ? NAN : result;
}}
"""

# Angle of the point (x, y): from small/large reduced to |t| < tan(pi/8). Numbers that vanish or overflow are scaled.
ARCTANGENT = f"""
INLINE double arctangent(double y, double x) {{
  const double up = fabs(y), right = fabs(x);
  const bool steep = up > right;
  double small = steep ? right : up, large = steep ? up : right;
  const bool infinite = large == INFINITY, both = small == INFINITY;
  const double factor = large > {2.0**1000!r} ? {2.0**-30!r} : 1.0;
  small = infinite ? (both ? 1.0 : 0.0) : small * factor;
  large = infinite || large * factor == 0.0 ? 1.0 : large * factor;
  const bool middle = small > large * {math.tan(math.pi / 8)!r};
  const double t = (middle ? small - large : small) / (middle ? small + large : large), z = t * t;
  const double series = z * {_horner("z", c.ARCTANGENT)};
  double angle = t - (t * series - (middle ? {REST / 2!r} : 0.0));
  angle = (middle ? {math.pi / 4!r} : 0.0) + angle;
  angle = steep ? {c.HALF_PI[0]!r} - (angle - {REST!r}) : angle;
  angle = bits_of(x) < 0 ? {math.pi!r} - (angle - {2 * REST!r}) : angle;
  return y != y || x != x ? y + x : copysign(angle, y);
}}
"""

TEXT = "\n".join(part.strip() for part in (SINE_COSINE, EXPONENTIAL, LOGARITHM, ARCTANGENT))
