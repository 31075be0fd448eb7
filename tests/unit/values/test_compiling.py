"""Functions that run compiled when they are called with numbers, and stay JAX when they are traced."""

import dataclasses
import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics, engine
from freefloat.values import ModelError, record, static
from freefloat.values.compiling import compiled_on_call


@record
class Spring:
    """A record of the test's own."""

    stiffness: float
    offset: np.ndarray
    kind: str = static("soft")


@record
class Point:
    """Numbers that come as a record."""

    x: np.ndarray


@compiled_on_call
def pull(spring, x, scale=2.0, *, power=1, side="left", names=()):
    """A force."""
    if side not in ("left", "right"):
        raise ModelError(f"There is no side '{side}'.")
    x = jnp.asarray(x)
    sign = 1.0 if side == "left" else -1.0
    return sign * scale * spring.stiffness * (x + spring.offset) ** power + len(names)


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def spring():
    return Spring(2.5, np.array([0.25, 0.5]))


def plain(spring, x, scale=2.0, power=1, sign=1.0):
    return sign * scale * spring.stiffness * (np.asarray(x) + np.asarray(spring.offset)) ** power


def test_numbers_in_numbers_out_and_traced_once(spring, traces):
    for x in ([0.1, 0.2], [0.3, -0.4]):
        for given in (np.array(x), x, tuple(x)):
            result = pull(spring, given)
            assert type(result) is np.ndarray
            np.testing.assert_allclose(result, plain(spring, x), rtol=1e-15)
    assert len(traces) == 1
    assert pull.__name__ == "pull"
    assert pull.__doc__ == "A force."


def test_jax_in_jax_out(spring):
    for given in (jnp.array([0.1, 0.2]), [jnp.asarray(0.1), 0.2]):
        result = pull(spring, given)
        assert isinstance(result, jax.Array)
        np.testing.assert_allclose(result, plain(spring, [0.1, 0.2]), rtol=1e-15)


def test_whole_numbers_and_single_precision_are_numbers(spring):
    for given in (np.array([1, 2]), [1, 2], np.array([1, 2], np.float32)):
        np.testing.assert_allclose(pull(spring, given), plain(spring, [1.0, 2.0]), rtol=1e-15)


def test_arguments_by_name_defaults_and_words(spring):
    x = np.array([0.1, 0.2])
    np.testing.assert_allclose(pull(spring, x, 3.0), plain(spring, x, 3.0), rtol=1e-15)
    np.testing.assert_allclose(pull(spring, x, scale=3.0), plain(spring, x, 3.0), rtol=1e-15)
    np.testing.assert_allclose(pull(spring, x=x, scale=4.0), plain(spring, x, 4.0), rtol=1e-15)
    np.testing.assert_allclose(pull(spring=spring, x=x), plain(spring, x), rtol=1e-15)
    np.testing.assert_allclose(pull(spring, x, power=2), plain(spring, x, power=2), rtol=1e-15)
    np.testing.assert_allclose(pull(spring, x, power=3), plain(spring, x, power=3), rtol=1e-15)
    np.testing.assert_allclose(pull(spring, x, side="right"), plain(spring, x, sign=-1.0), rtol=1e-15)
    np.testing.assert_allclose(pull(spring, x, names=("a", "b")), plain(spring, x) + 2, rtol=1e-15)
    np.testing.assert_allclose(
        pull(spring, x, names=["a"]), plain(spring, x) + 1, rtol=1e-15
    )  # not compiled, but right


def test_traced_calls_stay_jax(spring):
    x = np.array([0.1, 0.2])
    expected = plain(spring, x)
    np.testing.assert_allclose(jax.jit(lambda x: pull(spring, x))(x), expected, rtol=1e-15)
    np.testing.assert_allclose(jax.jit(lambda a, b: pull(spring, [a, b]))(*x), expected, rtol=1e-15)
    np.testing.assert_allclose(jax.jit(lambda s: pull(s, x))(spring), expected, rtol=1e-15)
    np.testing.assert_allclose(jax.vmap(lambda x: pull(spring, x))(x[None])[0], expected, rtol=1e-15)
    np.testing.assert_allclose(jax.jacfwd(lambda x: pull(spring, x))(x), 5.0 * np.eye(2), rtol=1e-15)
    slope = jax.jacfwd(lambda s: pull(s, x))(spring)
    np.testing.assert_allclose(slope.stiffness, expected / 2.5, rtol=1e-15)


def test_errors_are_the_function_s_own(spring):
    for _ in range(2):
        with pytest.raises(ModelError, match="no side 'top'"):
            pull(spring, np.zeros(2), side="top")
    with pytest.raises(TypeError, match="unexpected keyword"):
        pull(spring, np.zeros(2), wrong=1.0)
    with pytest.raises((TypeError, ValueError)):
        pull(spring, np.zeros(3))
    with pytest.raises((TypeError, ValueError)):
        pull(spring, [[1.0], [1.0, 2.0]])


def test_records_with_other_numbers_share_code(spring, traces):
    x = np.array([0.1, 0.2])
    for stiffness in (2.5, 3.5, 1.0, 0.0):
        other = dataclasses.replace(spring, stiffness=stiffness)
        np.testing.assert_allclose(pull(other, x), plain(other, x), rtol=1e-15)
    assert len(traces) == 3  # varied, and with a structural one and zero


def test_arrays_of_a_record_that_was_used_cannot_be_written_to():
    table = np.array([[0.0, 1.0], [2.0, 3.0]])
    spring = Spring(2.5, table[1])
    pull(spring, np.zeros(2))
    with pytest.raises(ValueError, match="read-only"):
        spring.offset[0] = 7.0
    with pytest.raises(ValueError, match="read-only"):
        table[1, 0] = 7.0


def test_a_record_can_be_let_go():
    spring = Spring(2.5, np.array([0.25, 0.5]))
    pull(spring, np.zeros(2))
    watched = weakref.ref(spring)
    del spring
    gc.collect()
    assert watched() is None


def test_records_among_the_arguments(spring):
    @compiled_on_call
    def at(spring, point):
        return spring.stiffness * point.x

    for x in (np.array([1, 2]), np.array([0.5, 0.25]), np.ones(3)):  # whole numbers first
        np.testing.assert_allclose(at(spring, Point(x)), 2.5 * x, rtol=1e-15)
    assert isinstance(at(spring, Point(jnp.ones(2))), jax.Array)
    np.testing.assert_allclose(jax.jit(lambda p: at(spring, p))(Point(np.ones(2))), [2.5, 2.5], rtol=1e-15)


def test_what_cannot_be_compiled_runs_as_it_is(spring):
    @compiled_on_call
    def largest(spring, matrix):
        return jnp.linalg.svd(matrix)[1][0] * spring.stiffness

    @compiled_on_call
    def needing(spring, x):
        return x if float(np.asarray(x)) > 0 else -x

    for _ in range(2):
        np.testing.assert_allclose(largest(spring, np.diag([3.0, 2.0])), 7.5, rtol=1e-14)
        assert needing(spring, -2.0) == 2.0
        assert needing(spring, 3.0) == 3.0


def test_true_is_not_one(spring):
    @compiled_on_call
    def kind_of(spring, x, flag):
        return x * (2.0 if flag is True else 3.0)

    assert kind_of(spring, 1.0, True) == 2.0
    assert kind_of(spring, 1.0, 1) == 3.0


def test_replaced_functions_are_used_while_nothing_is_looked_up(spring):
    x = np.array([0.1, 0.2])
    pull(spring, x)
    with engine.traced_anew():
        assert isinstance(pull(spring, x), jax.Array)
    assert isinstance(pull(spring, x), np.ndarray)


@pytest.mark.slow
def test_functions_of_dynamics_agree_with_plain_jax(rng):
    craft = ff.library.ets7()
    q, v = rng.normal(size=6), rng.normal(size=12)
    for _ in range(2):
        np.testing.assert_allclose(
            dynamics.generalized_jacobian(craft, q, "hand"),
            jax.jit(lambda q: dynamics.generalized_jacobian(craft, q, "hand"))(q),
            rtol=1e-11,  # solutions with a matrix of condition 1e4
            atol=1e-12,
        )
        np.testing.assert_allclose(
            dynamics.kinetic_energy(craft, q, v),
            jax.jit(lambda q, v: dynamics.kinetic_energy(craft, q, v))(q, v),
            rtol=1e-13,
        )
    with pytest.raises(Exception, match=r"no frame 'hnd'.*hand"):
        dynamics.generalized_jacobian(craft, q, "hnd")
