"""Kernels of steps that are one loop: every instance keeps its own pace, and finds what it would find alone."""

import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from freefloat import engine
from freefloat.engine.cuda import independent_steps as own_pace
from freefloat.engine.cuda import parking
from freefloat.engine.cuda.shape import KernelShape

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
HALVES = np.array([1.0, 0.5, 0.25])


def halving(state, least):
    """Goes on by a third, then halves itself as often as it must, which may be never; all types of rows occur."""
    grown, table = 4.0 * state["x"] / 3.0 + 0.1, jnp.asarray(HALVES)

    def halve(s):
        x, rounds = s
        waves = x
        for k in range(12):
            waves = waves + 1e-3 * jnp.minimum(grown, k) / (1.0 + waves * waves)
        return waves * table[1 + rounds % 2], rounds + 1

    x, rounds = lax.while_loop(lambda s: s[0] > least, halve, (grown, jnp.zeros((), jnp.int32)))
    return {"x": x, "last": state["x"], "rounds": state["rounds"] + rounds, "often": rounds > 1}


def start(n):
    x = np.exp(np.random.default_rng(3).uniform(-2.0, 30.0, n))
    return {"x": x, "last": 0.0 * x, "rounds": np.zeros(n, np.int32), "often": np.zeros(n, bool)}


EXAMPLE = {k: v[0] for k, v in start(1).items()}


@pytest.fixture(scope="module")
def graph():
    return engine.trace(halving, EXAMPLE, 1.0)


@pytest.mark.parametrize("registers", [0, 4])
def test_every_instance_finds_what_it_finds_alone(graph, registers, monkeypatch):
    monkeypatch.setattr(parking, "LARGE", 3 if registers else 400)
    shape = KernelShape(block=8, registers=registers, near=3 if registers else 0, again=2)
    kernel = engine.compile(graph, target="gpu", emulate=True, shape=shape, cache=False)
    many = start(100)
    found = kernel.rollout_batch(many, 1.3, steps=30, in_axes=(0, None), record_every=7)
    expected = engine.compile(graph).rollout_batch(many, 1.3, steps=30, in_axes=(0, None), record_every=7)
    assert len(np.unique(expected.state["rounds"])) > 10  # they do go at different paces
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), found, expected)


def test_which_steps_are_one_loop(graph):
    def with_branch(state, least):
        far = lax.cond(state["rounds"] % 5 == 0, lambda x: jnp.sin(jnp.cos(jnp.tan(x)) * x), lambda x: x, state["x"])
        return halving({**state, "x": far}, least)

    assert own_pace.main_loop(graph.block) is not None
    assert own_pace.main_loop(engine.trace(with_branch, EXAMPLE, 1.0, branch=0).block) is None
    assert "bool more" in engine.compile(graph, target="gpu", emulate=True).source
