"""The GPU target: lane code against plain JAX, and the rollout kernel in Pallas' interpreter."""

import idioms
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.pallas.functions import sine_cosine
from freefloat.engine.pallas.kernel import Shape, rollout_kernel

# Loops kept as loops; those whose chains of selects take XLA long to compile are left to the C test.
NAMES = [
    "functions", "where", "select_n", "floor_divide", "table", "computed_table", "traced_set", "dynamic_update",
    "rk4", "scan_reverse", "nested_loops", "integer_carry", "large_cond", "switch", "while", "philox", "shifts",
    "traced_shifts", "conversions", "integer_division", "bitcast", "argmax", "zero_pivot", "extremes",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_lanes_agree_with_jax(name):
    graph = engine.trace(idioms.IDIOMS[name], idioms.X[0], unroll=0, branch=0)
    (found,) = jax.tree_util.tree_leaves(engine.compile(graph, target="jax").batch(idioms.X))
    idioms.check(name, found)


def pendulum(state, length):
    """Semi-implicit pendulum with a counter and a flag, so that every type of row occurs."""
    rate = state["rate"] - 0.01 * 9.81 / length * jnp.sin(state["angle"])
    angle = state["angle"] + 0.01 * rate
    return {"angle": angle, "rate": rate, "step": state["step"] + 1, "up": jnp.abs(angle) > 1.0}


def start(n):
    rng = np.random.default_rng(11)
    return {
        "angle": rng.normal(size=n),
        "rate": rng.normal(size=n),
        "step": np.arange(n, dtype=np.int32),
        "up": np.zeros(n, bool),
    }


@pytest.mark.parametrize("every", [None, 4])
def test_rollout_kernel_agrees_with_jax(every):
    example = {k: v[0] for k, v in start(1).items()}
    kernel = engine.compile(pendulum, example, 1.0, target="gpu", lanes=8, interpret=True)
    reference = engine.compile(pendulum, example, 1.0, target="jax")
    n, length = 13, np.linspace(0.5, 2.0, 13)  # 13: the last block of lanes is not full
    found = kernel.rollout_batch(start(n), length, steps=10, record_every=every)
    expected = reference.rollout_batch(start(n), length, steps=10, record_every=every)
    assert jax.tree_util.tree_structure(found) == jax.tree_util.tree_structure(expected)
    # 1e-13: ten steps of a few roundings each
    jax.tree_util.tree_map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13), found, expected)


def test_shared_parameters_reach_every_lane():
    example = {k: v[0] for k, v in start(1).items()}
    kernel = engine.compile(pendulum, example, 1.0, target="gpu", lanes=8, interpret=True)
    shared = kernel.rollout_batch(start(3), 0.7, steps=3, in_axes=(0, None))
    own = kernel.rollout_batch(start(3), np.full(3, 0.7), steps=3)
    np.testing.assert_array_equal(shared.state["angle"], own.state["angle"])


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a GPU")
def test_without_gpu_plain_jax_runs_with_a_notice():
    example = {k: v[0] for k, v in start(1).items()}
    with pytest.warns(UserWarning, match="No GPU"):
        program = engine.compile(pendulum, example, 1.0, target="gpu")
    reference = engine.compile(pendulum, example, 1.0, target="jax")
    found = program.rollout_batch(start(3), np.ones(3), steps=5, record_every=2)
    expected = reference.rollout_batch(start(3), np.ones(3), steps=5, record_every=2)
    np.testing.assert_array_equal(found.record["angle"], expected.record["angle"])


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6, 1e10])
def test_polynomial_sine_and_cosine(scale):
    x = np.random.default_rng(2).uniform(-scale, scale, 5000)
    sine, cosine = jax.jit(sine_cosine)(x)
    # 2.3e-16: one unit in the last place of numbers just below one
    np.testing.assert_allclose(sine, np.sin(x), rtol=0, atol=2.3e-16)
    np.testing.assert_allclose(cosine, np.cos(x), rtol=0, atol=2.3e-16)


def test_lowers_for_a_gpu_that_is_not_here():
    """Triton code is generated without a GPU: what the kernel uses must exist there."""
    graph = engine.trace(pendulum, {k: v[0] for k, v in start(1).items()}, 1.0)
    kernel = jax.jit(rollout_kernel(graph, 10, 4, Shape()))
    rows = [("float64", 2), ("int32", 1), ("int32", 1)]
    states = [jax.ShapeDtypeStruct((n, 256), dtype) for dtype, n in rows]
    held = [jax.ShapeDtypeStruct((1, 256), "float64")]
    text = kernel.trace(states, held).lower(lowering_platforms=("cuda",)).as_text()
    assert "triton" in text
