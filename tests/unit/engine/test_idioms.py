"""Every idiom against plain JAX: scalar and SIMD, loops unrolled and kept."""

import idioms
import numpy as np
import pytest

from freefloat import engine

pytestmark = pytest.mark.slow  # run them after every change of the engine

KEPT = {"unroll": 0, "branch": 0}  # every scan a loop, every cond a branch


@pytest.mark.parametrize("name", idioms.IDIOMS)
def test_agrees_with_jax_unrolled(name):
    agrees_with_jax(name, {})


@pytest.mark.parametrize("name", idioms.REPEATED)
def test_agrees_with_jax_looped(name):
    agrees_with_jax(name, KEPT)


def agrees_with_jax(name, options):
    compiled = engine.compile(idioms.IDIOMS[name], idioms.X[0], **options)
    one_by_one = np.stack([compiled(row) for row in idioms.X])
    idioms.check(name, one_by_one)
    np.testing.assert_array_equal(compiled.batch(idioms.X), one_by_one)  # bitwise: SIMD does what scalar code does
