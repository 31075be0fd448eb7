"""Every primitive on special values in the emulated kernel; what differs from JAX is counted."""

import shutil

import jax
import numpy as np
import pytest
from test_special_values import CASES, EXCEPTIONS, differences

from freefloat import engine

HUGE = "angles beyond 2^45 are not a number, because the reduction of huge angles costs a large kernel its registers"
# Beside what the C text differs in: how many results, and why.
MORE = {"sin": (6, f"sin(-0.0) is 0.0; {HUGE}"), "cos": (5, HUGE), "tan": (6, f"sin(-0.0) is 0.0; {HUGE}")}


@pytest.fixture(scope="module")
def results():
    """All cases in one kernel: operands are repeated until they are equally many."""
    most = max(len(operands[0]) for _, operands in CASES.values())
    repeated = {n: tuple(np.resize(x, (most, *x.shape[1:])) for x in ops) for n, (_, ops) in CASES.items()}

    def everything(operands):
        return {name: CASES[name][0](*operands[name]) for name in CASES}

    one = jax.tree.map(lambda x: x[0], repeated)
    return engine.compile(everything, one, target="gpu", emulate=True).batch(repeated)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("name", CASES)
def test_emulated_kernel(name, results):
    wrong = differences(name, results[name][: len(CASES[name][1][0])])
    targets, count, _ = EXCEPTIONS.get(name, ("", 0, ""))
    allowed = count if "c" in targets.split() else 0
    assert len(wrong) == allowed + MORE.get(name, (0, ""))[0], wrong[:8]
