"""Every idiom against plain JAX: scalar and SIMD, loops unrolled and kept."""

import idioms
import jax
import numpy as np
import pytest

from freefloat import engine

SEED = 3
INSTANCES = 5  # no multiple of any register width
KEPT = {"unroll": 0, "branch": 0}  # every scan a loop, every cond a branch


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(SEED).normal(size=(INSTANCES, 16))


@pytest.mark.parametrize("options", [{}, KEPT], ids=["unrolled", "looped"])
@pytest.mark.parametrize("name", idioms.IDIOMS)
def test_agrees_with_jax(name, options, x):
    function = idioms.IDIOMS[name]
    expected = np.asarray(jax.vmap(function)(x))
    compiled = engine.compile(function, x[0], **options)
    one_by_one = np.stack([compiled(row) for row in x])
    together = compiled.batch(x)
    assert one_by_one.dtype == expected.dtype
    np.testing.assert_array_equal(together, one_by_one)  # bitwise: SIMD computes what scalar code does
    if expected.dtype.kind in idioms.EXACT_KINDS:
        np.testing.assert_array_equal(one_by_one, expected)
    else:
        # 1e-13: a few ulp per function, products of two dozen terms; exceptions are named beside the table.
        np.testing.assert_allclose(one_by_one, expected, rtol=idioms.TOLERANCE.get(name, 1e-13), atol=1e-13)
