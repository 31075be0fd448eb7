"""A rollout that is asked for step by step: the same bits, on memory of its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine


def turn(state, held, gain):
    """A step with floats, an integer and a truth value, and work that depends on held values alone."""
    matrix = jnp.linalg.inv(held["matrix"] + 3.0 * jnp.eye(3))
    count = state["count"] + jnp.int32(1)
    x = matrix @ state["x"] * gain + jnp.sin(state["x"]) * jnp.where(state["odd"], 1.0, 0.5)
    return {"count": count, "odd": count % 2 == 1, "x": x}


START = {"count": np.int32(-2), "odd": np.bool_(False), "x": np.array([0.3, -0.2, 0.9])}
HELD = {"matrix": np.arange(9.0).reshape(3, 3) / 7.0}


@pytest.fixture(scope="module")
def program():
    return engine.compile(turn, START, HELD, 1.25)


def same(a, b):
    """The same bits and types."""
    jax.tree_util.tree_map(np.testing.assert_array_equal, a, b)
    assert [x.dtype for x in jax.tree_util.tree_leaves(a)] == [x.dtype for x in jax.tree_util.tree_leaves(b)]


def test_steps_are_those_of_a_rollout_also_when_better_code_takes_over(program):
    steps = program.stepping(START, HELD, 1.25)
    record = program.rollout(START, HELD, 1.25, steps=12, record_every=1).record
    for k in range(12):
        if k == 6:
            program._scalar.final_code()
        steps.step()
        same(steps.state, jax.tree_util.tree_map(lambda rows, k=k: rows[k], record))


def test_two_of_them_do_not_share_anything_and_other_held_values_give_other_steps(program):
    one, other = program.stepping(START, HELD, 1.25), program.stepping(START, HELD, 1.5)
    for _ in range(3):
        one.step()
        other.step()
    for steps, gain in ((one, 1.25), (other, 1.5)):
        same(steps.state, program.rollout(START, HELD, gain, steps=3).state)
    assert not np.array_equal(one.state["x"], other.state["x"])


def test_a_state_is_a_copy_and_can_be_put_back(program):
    steps = program.stepping(START, HELD, 1.25)
    steps.step()
    kept = steps.state
    before = kept["x"].copy()
    steps.step()
    steps.step()
    np.testing.assert_array_equal(kept["x"], before)
    steps.set_state(kept)
    steps.step()
    same(steps.state, program.rollout(START, HELD, 1.25, steps=2).state)


def test_leaves_can_be_written_to_before_a_step(program):
    steps = program.stepping(START, HELD, 1.25)
    for scale in (1.0, 2.0, 3.0):
        x = scale * START["x"]
        count = int(steps.leaves[0])
        steps.leaves[2][...] = x
        steps.step()
        same(
            steps.state,
            program.rollout(
                {"count": np.int32(count), "odd": np.bool_(count % 2 == 1), "x": x}, HELD, 1.25, steps=1
            ).state,
        )


def test_another_function_sees_the_state_where_it_lies(program):
    seen = engine.compile(lambda s, k: (k * s["x"][::-1], s["count"]), START, 2.0)
    steps = program.stepping(START, HELD, 1.25)
    watch = seen.watching(steps, 2.0)
    for _ in range(3):
        same(watch(), list(seen(steps.state, 2.0)))
        steps.step()
    first = watch()
    steps.step()
    assert not np.array_equal(first[0], watch()[0])


def test_what_does_not_fit_is_refused(program):
    steps = program.stepping(START, HELD, 1.25)
    with pytest.raises(engine.SignatureError, match=r"leaf .*x.*, has shape \(2,\); expected \(3,\)"):
        program.stepping({**START, "x": np.zeros(2)}, HELD, 1.25)
    with pytest.raises(engine.SignatureError, match="The state has 2 leaves"):
        steps.set_state({"count": np.int32(0), "x": np.zeros(3)})
    with pytest.raises(engine.SignatureError, match=r"has shape \(4,\)"):
        steps.set_state({**START, "x": np.zeros(4)})
    same(steps.state, {name: np.asarray(value) for name, value in START.items()})
    other = engine.compile(lambda x: jnp.sum(x), np.zeros(3))
    with pytest.raises(engine.SignatureError, match=r"Only f\(state"):
        other.stepping(np.zeros(3))
    with pytest.raises(engine.SignatureError, match="other leaves than the state"):
        other.watching(steps)
