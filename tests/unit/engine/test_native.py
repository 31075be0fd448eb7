"""Native code on a function as large as real dynamics: accuracy, identical bits, rollouts."""

import threading

import chain
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.runtime.structure import NUMPY


@pytest.fixture(scope="module")
def program():
    state, tau = chain.start(1)
    return engine.compile(chain.step, chain.one(state), tau[0])


def same(a, b):
    """Bitwise equal pytrees."""
    jax.tree_util.tree_map(np.testing.assert_array_equal, a, b)


def test_forward_dynamics_agrees_with_jax():
    rng = np.random.default_rng(4)
    q, v, tau = rng.normal(size=(3, 20, chain.JOINTS))
    compiled = engine.compile(chain.forward_dynamics, q[0], v[0], tau[0])
    expected = np.asarray(jax.vmap(chain.forward_dynamics)(q, v, tau))
    # 1e-12 of the largest: both sum some thousand rounded terms in different orders
    np.testing.assert_allclose(compiled.batch(q, v, tau), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_thousand_steps_agree_with_jax(program):
    state, tau = chain.start(1)
    reference = engine.compile(chain.step, chain.one(state), tau[0], target="jax")
    found = program.rollout(chain.one(state), tau[0], steps=1000, record_every=100)
    expected = reference.rollout(chain.one(state), tau[0], steps=1000, record_every=100)
    assert found.record["q"].shape == (10, chain.JOINTS)
    np.testing.assert_array_equal(found.record["tick"], np.arange(100, 1001, 100))
    np.testing.assert_array_equal(found.state["q"], found.record["q"][-1])
    # 1e-10: rounding grows with the motion's own instability over one second
    np.testing.assert_allclose(found.record["q"], expected.record["q"], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_bits_do_not_depend_on_width_threads_or_batch(width, program):
    state, tau = chain.start(21)
    other = engine.compile(chain.step, chain.one(state), tau[0], width=width)
    expected = [program.rollout(chain.one(state, k), tau[k], steps=7, record_every=2) for k in range(21)]
    for batch in (1, 3, 21):
        for threads in (1, 3):
            part, torque = {k: v[:batch] for k, v in state.items()}, tau[:batch]
            found = other.rollout_batch(part, torque, steps=7, record_every=2, threads=threads)
            for k in range(batch):
                same(jax.tree_util.tree_map(lambda leaf, k=k: leaf[k], found), expected[k])


def test_batch_is_many_calls(program):
    state, tau = chain.start(11)
    found = program.batch(state, tau)
    for k in range(11):
        same(chain.one(found, k), program(chain.one(state, k), tau[k]))


def test_shared_argument(program):
    state, tau = chain.start(5)
    same(program.batch(state, tau[0], in_axes=(0, None)), program.batch(state, np.repeat(tau[:1], 5, 0)))
    rolled = program.rollout_batch(state, tau[0], steps=3, in_axes=(0, None))
    same(rolled.state, program.rollout_batch(state, np.repeat(tau[:1], 5, 0), steps=3).state)
    same(rolled.state["q"][1], program.rollout(chain.one(state, 1), tau[0], steps=3).state["q"])


def test_shared_state(program):
    state, tau = chain.start(4)
    found = program.rollout_batch(chain.one(state), tau, steps=3, in_axes=(None, 0))
    same(found.state["q"][2], program.rollout(chain.one(state), tau[2], steps=3).state["q"])


@pytest.mark.parametrize("chunk", [1, 7, 10, 64])
def test_chunks_change_nothing(chunk, program):
    state, tau = chain.start(1)
    whole = program.rollout(chain.one(state), tau[0], steps=50, record_every=10)
    chunks = list(program.rollout_chunks(chain.one(state), tau[0], steps=50, chunk=chunk, record_every=10))
    assert [c.done for c in chunks][-1] == 50
    same(chunks[-1].state, whole.state)
    same(np.concatenate([c.record["q"] for c in chunks]), whole.record["q"])


@pytest.mark.parametrize("target", ["native", "jax"])
@pytest.mark.parametrize(("chunk", "every"), [(1, 3), (4, 3), (5, 3), (7, 4), (3, 6)])
def test_records_come_in_time_whatever_the_chunk(target, chunk, every):
    """A chunk need be no multiple of the records' distance: record k is the state after k times that distance."""
    count = engine.compile(lambda n: n + 1, np.int32(0), target=target)
    chunks = list(count.rollout_chunks(np.int32(0), steps=20, chunk=chunk, record_every=every))
    np.testing.assert_array_equal(np.concatenate([c.record for c in chunks]), np.arange(every, 21, every))
    assert (chunks[-1].done, int(chunks[-1].state)) == (20, 20)


def test_rollout_can_be_left_and_taken_up_again(program):
    state, tau = chain.start(1)
    first = next(program.rollout_chunks(chain.one(state), tau[0], steps=50, chunk=20))
    rest = program.rollout(first.state, tau[0], steps=30)
    same(rest.state, program.rollout(chain.one(state), tau[0], steps=50).state)


def test_arguments_are_not_changed(program):
    state, tau = chain.start(3)
    before = jax.tree_util.tree_map(np.copy, (state, tau))
    program.rollout_batch(state, tau, steps=2)
    same(before, (state, tau))


def test_two_threads_may_call_at_once(program):
    state, tau = chain.start(2)
    expected = [program(chain.one(state, k), tau[k]) for k in range(2)]
    wrong = []

    def work(k):
        for _ in range(300):
            found = program(chain.one(state, k), tau[k])
            wrong.extend(name for name in found if not np.array_equal(found[name], expected[k][name]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("options", [{}, {"unroll": 0, "branch": 0}], ids=["unrolled", "looped"])
def test_split_functions_give_the_same_bits(options):
    """Code above the straight-line budget is cut into functions that share a frame."""
    state, tau = chain.start(5)
    whole = engine.compile(chain.step, chain.one(state), tau[0], cache=False, **options)
    cut = engine.compile(chain.step, chain.one(state), tau[0], cache=False, part_size=100, **options)
    same(cut.rollout_batch(state, tau, steps=3), whole.rollout_batch(state, tau, steps=3))
    same(cut(chain.one(state), tau[0]), whole(chain.one(state), tau[0]))


def test_held_arguments_are_prepared_once():
    """What depends on held arguments alone is computed before a rollout, with the same result."""

    def decay(x, rate):
        return x * jnp.exp(-rate) + jnp.sin(rate)

    compiled = engine.compile(decay, 1.0, 0.1)
    x = 1.0
    for _ in range(5):
        x = compiled(x, 0.1)
    np.testing.assert_array_equal(compiled.rollout(1.0, 0.1, steps=5).state, x)


def test_bound_call(program):
    state, tau = chain.start(1)
    bound = program.bind()
    for view, leaf in zip(bound.inputs, jax.tree_util.tree_leaves((chain.one(state), tau[0])), strict=True):
        view[...] = leaf
    bound()
    expected = program(chain.one(state), tau[0])
    for view, leaf in zip(bound.outputs, jax.tree_util.tree_leaves(expected), strict=True):
        np.testing.assert_array_equal(view, leaf)


def test_a_bound_step_goes_on_from_its_result(program):
    state, tau = chain.start(1)
    bound = program.bind()
    for view, leaf in zip(bound.inputs, jax.tree_util.tree_leaves((chain.one(state), tau[0])), strict=True):
        view[...] = leaf
    for _ in range(3):
        bound()
        bound.feed_back()
    expected = program.rollout(chain.one(state), tau[0], steps=3).state
    for view, leaf in zip(bound.outputs, jax.tree_util.tree_leaves(expected), strict=True):
        np.testing.assert_array_equal(view, leaf)


def test_no_steps_and_no_records(program):
    state, tau = chain.start(1)
    same(program.rollout(chain.one(state), tau[0], steps=0).state, chain.one(state))
    assert program.rollout(chain.one(state), tau[0], steps=3).record is None


def test_operations_are_counted(program):
    count = program.operations
    assert count["total"] == sum(n for kind, n in count.items() if kind != "total")
    # Four stages; the first joint turns about an axis at rest, so its angle does not matter.
    assert count["sin"] == 4 * (chain.JOINTS - 1)


def test_every_type_passes_through():
    def swap(tree):
        return {"b": ~tree["b"], "x": -tree["x"], **{k: tree[k] + 1 for k in ("i32", "i64", "u32", "u64")}}

    names = {"b": "bool", "x": "f64", "i32": "i32", "i64": "i64", "u32": "u32", "u64": "u64"}
    tree = {k: np.array([0, 1, 0], NUMPY[d]) for k, d in names.items()}
    compiled = engine.compile(swap, tree)
    same(compiled(tree), jax.tree_util.tree_map(np.asarray, swap(jax.tree_util.tree_map(jnp.asarray, tree))))
    batched = {k: np.stack([v] * 3) for k, v in tree.items()}
    same(chain.one(compiled.batch(batched), 2), compiled(tree))
    record = compiled.rollout(tree, steps=2, record_every=1).record
    assert {k: v.dtype for k, v in record.items()} == {k: v.dtype for k, v in tree.items()}
    np.testing.assert_array_equal(record["i32"], [[1, 2, 1], [2, 3, 2]])


def test_constants_are_baked_in():
    weights = np.zeros((3, 3))
    weights[0, 1] = 2.0
    compiled = engine.compile(lambda x: jnp.asarray(weights) @ x, np.zeros(3))
    assert compiled.operations["total"] == 1  # every product with a zero is gone


def test_strict_nan_keeps_what_only_nan_can_see():
    def zero(x):
        return x * 0 + (x - x)

    assert engine.compile(zero, 1.0).operations["total"] == 0
    assert engine.compile(zero, 1.0)(np.nan) == 0
    assert np.isnan(engine.compile(zero, 1.0, strict_nan=True)(np.nan))
