"""Errors of the engine's own functions in units of the last place (ulp), and their special values.

Exact values come from numpy's 80-bit long double, whose own error is below 0.001 ulp of a double.
"""

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="needs an 80-bit long double as the reference"
)
SEED, COUNT = 17, 40_000
RANGES = {
    "sin": [(-1, 1), (-10, 10), (-1e4, 1e4), (-1e13, 1e13), (-1e300, 1e300)],
    "cos": [(-1, 1), (-10, 10), (-1e4, 1e4), (-1e13, 1e13), (-1e300, 1e300)],
    "exp": [(-1, 1), (-700, 700), (-745, -708)],
    "log": [(0.5, 2.0), (1e-300, 1e300), (0, 1e-307), (0.99, 1.01)],
}
NUMPY = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log}
# sin, cos: reduced argument rounded once (0.5), then the polynomial's last two roundings. exp: sum 0.5,
# polynomial 0.3. log: as fdlibm, below 1. The C library, which takes very large angles, is below 1 as well.
LIMIT = {"sin": 1.6, "cos": 1.6, "exp": 1.0, "log": 1.0}


def ulps(found, exact):
    return np.abs((found.astype(np.longdouble) - exact) / np.spacing(np.abs(exact).astype(float)).astype(np.longdouble))


@pytest.fixture(scope="module")
def programs():
    functions = {"sin": jnp.sin, "cos": jnp.cos, "exp": jnp.exp, "log": jnp.log}
    built = {name: engine.compile(f, 1.0) for name, f in functions.items()}
    built["atan2"] = engine.compile(jnp.arctan2, 1.0, 1.0)
    return built


@pytest.mark.parametrize(("name", "span"), [(n, s) for n, spans in RANGES.items() for s in spans])
def test_accuracy(name, span, programs):
    x = np.random.default_rng(SEED).uniform(*span, COUNT)
    error = ulps(programs[name].batch(x), NUMPY[name](x.astype(np.longdouble)))
    if (
        name in ("sin", "cos") and span[1] > 1e12
    ):  # the long double's own pi is too short here: compare with the C library
        np.testing.assert_allclose(programs[name].batch(x), NUMPY[name](x), rtol=4e-16)
    else:
        assert error.max() < LIMIT[name]


def test_arguments_near_multiples_of_half_pi(programs):
    """Where sine or cosine almost vanishes the reduction must keep every bit."""
    n = np.arange(1, 200_000, 7, dtype=np.float64)
    x = n * (np.pi / 2)
    found_sin, found_cos = programs["sin"].batch(x), programs["cos"].batch(x)
    # 4e-16: 1.6 ulp of ours and 0.6 of the C library's
    np.testing.assert_allclose(found_sin, np.sin(x), rtol=4e-16)
    np.testing.assert_allclose(found_cos, np.cos(x), rtol=4e-16)


def test_atan2_accuracy(programs):
    rng = np.random.default_rng(SEED)
    size = 10.0 ** rng.uniform(-5, 5, (2, COUNT))
    y, x = size * rng.choice([-1, 1], (2, COUNT))
    error = ulps(programs["atan2"].batch(y, x), np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble)))
    assert error.max() < 2.0  # quotient 0.5, polynomial 0.5, two additions of 0.5


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, 2.0**45, 2.0**60, -1e22, 710.0, -746.0]


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log"])
def test_special_values(name, programs):
    with np.errstate(all="ignore"):
        expected = NUMPY[name](np.array(SPECIAL))
    # The sign of a zero result is not kept: sin(-0) is 0.
    np.testing.assert_allclose(programs[name].batch(np.array(SPECIAL)), expected, rtol=4e-16)


def test_atan2_special_values(programs):
    y, x = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    expected = np.arctan2(y, x)
    found = programs["atan2"].batch(y, x)
    # 5e-324: a quotient of tiny numbers may lose its last bits
    np.testing.assert_allclose(found, expected, rtol=4e-16, atol=5e-324)
    np.testing.assert_array_equal(np.signbit(found)[~np.isnan(expected)], np.signbit(expected)[~np.isnan(expected)])


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_same_bits_scalar_and_vector(width):
    """One lane with a huge angle, an infinity or NaN must not disturb its neighbours."""

    def functions(x):
        return jnp.stack([jnp.sin(x), jnp.cos(x), jnp.exp(x), jnp.log(jnp.abs(x)), jnp.arctan2(x, 1 - x), jnp.tanh(x)])

    x = np.concatenate([SPECIAL, np.random.default_rng(SEED).normal(size=50) * 100])
    compiled = engine.compile(functions, 1.0, width=width)
    np.testing.assert_array_equal(compiled.batch(x), np.stack([compiled(value) for value in x]))


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctan", "tan"])
def test_composed_functions(name):
    x = np.concatenate([np.random.default_rng(SEED).uniform(-1, 1, 2000), [1.0, -1.0, 0.0, 1 - 1e-12]])
    found = engine.compile(getattr(jnp, name), 1.0).batch(x)
    # 4 ulp: a square root, a product and an arc tangent (or a quotient) one after another
    np.testing.assert_allclose(found, getattr(np, name)(x), rtol=9e-16, atol=1e-300)
