"""Constants of the elementary functions: polynomials and splittings of fdlibm (Sun Microsystems, freely distributable).

Native code and kernels for graphics cards use the same numbers, so that both give the same bits.
"""

import math

ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to nearest and leaves the integer in the low bits
LARGE_ANGLE = 2.0**45  # beyond this the quadrant is no longer exact: the C library takes over

# pi/2 in three positive parts of 53 bits. With fused multiply-add x - n*first is exact, the rest rounds once.
HALF_PI = (1.5707963267948966, 6.123233995736765e-17, 1.082856673921914e-32)
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LOGARITHM = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
ARCTANGENT = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)
TAYLOR = tuple(1 / math.factorial(k) for k in range(2, 14))  # of (exp(r) - 1 - r) / r^2; the next term is 4e-18
