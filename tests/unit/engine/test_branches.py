"""Branches and while loops: what runs side by side behaves as it does alone, and what nobody asks for costs nothing."""

import idioms
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from freefloat import engine

KEPT = {"unroll": 0, "branch": 0, "cache": False}
BRANCHING = ("large_cond", "switch", "while", "rare_search", "switch_in_loop", "tick", "search_rounds")


@pytest.mark.parametrize("name", BRANCHING)
@pytest.mark.parametrize("part_size", [3000, 7])
def test_same_bits_for_every_width_and_batch(name, part_size):
    """Also where the ways are cut into functions, which learn from memory whom they work for."""
    x = np.random.default_rng(8).normal(size=(19, 16))
    graph = engine.trace(idioms.IDIOMS[name], x[0], unroll=0, branch=0)
    alone = jax.tree.leaves(engine.compile(graph, width=1, cache=False).batch(x))[0]
    for width in (2, 4, 8):
        compiled = engine.compile(graph, width=width, cache=False, part_size=part_size)
        for count in (1, 5, 19):
            (found,) = jax.tree.leaves(compiled.batch(x[:count], threads=2))
            np.testing.assert_array_equal(found, alone[:count])


def guarded(x):
    """Halving that never ends for an infinite number, behind a guard that lets only finite ones in."""
    halve = lambda a: lax.while_loop(lambda c: c > 1.0, lambda c: 0.5 * c, a)  # noqa: E731
    return lax.cond(jnp.isfinite(x), halve, lambda a: a, x)


@pytest.mark.parametrize("part_size", [3000, 1])
def test_a_lane_that_did_not_ask_cannot_keep_a_loop_going(part_size):
    compiled = engine.compile(guarded, 1.0, width=4, part_size=part_size, **KEPT)
    x = np.array([3.0, np.inf, 0.25, 12.0, np.inf])
    np.testing.assert_array_equal(compiled.batch(x), [0.75, np.inf, 0.25, 0.75, np.inf])


def test_lanes_at_different_ticks_go_their_own_ways():
    def step(state):
        due = state["tick"] % 3 == 0
        x = lax.cond(due, lambda a: jnp.linalg.inv(idioms.spd(a))[0], lambda a: 1.5 * a[:4], state["x"])
        return {"tick": state["tick"] + 1, "x": jnp.tile(x, 4)}

    x = np.random.default_rng(9).normal(size=(11, 16))
    state = {"tick": np.arange(11, dtype=np.int32), "x": x}
    compiled = engine.compile(step, {"tick": np.int32(0), "x": x[0]}, branch=0)
    together = compiled.rollout_batch(state, steps=5).state["x"]
    for k in range(11):
        single = compiled.rollout({"tick": state["tick"][k], "x": x[k]}, steps=5).state["x"]
        np.testing.assert_array_equal(together[k], single)


def test_only_what_a_way_needs_is_computed_for_it():
    def function(x):
        unused, used = jnp.exp(x[0]), jnp.sin(x[1])
        kept, _ = lax.cond(
            x[2] > 0, lambda u, v: (idioms.spd(x) @ v, v), lambda u, v: (idioms.spd(x)[0], v), unused, x[:4] * used
        )
        return kept

    operations = engine.trace(function, np.ones(16), branch=0).operations
    assert "exp" not in operations
    assert operations["sin"] == 1


def test_ways_that_agree_need_no_branch():
    graph = engine.trace(lambda x: lax.cond(x[0] > 0, lambda a: (a, 1.0), lambda a: (a, 1.0), x), np.ones(16), branch=0)
    assert graph.operations["total"] == 0


def test_a_loop_in_a_short_way_stays_behind_the_branch():
    """A search has few operations and many rounds: it is never computed for selection."""
    graph = engine.trace(guarded, 1.0)
    assert [n.op for n in graph.block.order() if n.op in ("branch", "while")] == ["branch"]


def test_what_a_while_loop_does_not_change_is_not_carried():
    def search(x):
        def halve(carry):
            low, fixed, zeros, rounds = carry
            return 0.5 * low + zeros[0] * fixed, fixed, zeros, rounds + 1

        return lax.while_loop(lambda c: (c[3] < 9) & (c[0] > c[1]), halve, (x[0], x[1], jnp.zeros(50), 0))

    graph = engine.trace(search, np.ones(2))
    (loop,) = [n for n in graph.block.order() if n.op == "while"]
    assert len(loop.value.body.ins) == 2  # the number that is halved, and the rounds
    expected = jax.jit(search)(np.array([5.0, 0.3]))
    found = engine.compile(search, np.ones(2))(np.array([5.0, 0.3]))
    jax.tree.map(np.testing.assert_array_equal, found, jax.tree.map(np.asarray, expected))


def test_ways_that_compute_the_same_do_not_share_it_across_functions():
    """Both ways need the same long chain, and each is split into functions: neither may look into the other's."""

    def f(x):
        def chain(start, count):
            for k in range(count):
                start = jnp.sin(start) * x[k % 4] + jnp.cos(start)
            return start

        def one():
            return chain(x[0], 30) + chain(x[1], 5)

        def other():
            return chain(x[1], 12) * chain(x[0], 30) + chain(x[2], 9)

        return jnp.stack([jax.lax.cond(x[0] > 0.0, one, other), x[3]])

    example = np.array([0.3, -0.2, 0.5, 0.7])
    for part_size in (10, 37, 3000):
        compiled = engine.compile(f, example, part_size=part_size, branch=0, cache=False)
        for sign in (1.0, -1.0):
            x = example * np.array([sign, 1.0, 1.0, 1.0])
            np.testing.assert_allclose(compiled(x), jax.jit(f)(x), rtol=1e-13)
