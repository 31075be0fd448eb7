"""Both ways of tracing, straight into the graph and by `make_jaxpr`, agree on all idioms and on what nests them."""

import sys

import idioms
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from freefloat import engine
from freefloat.engine.jaxprs import direct, known_versions
from freefloat.values.tracing import cond, once, scan

WAYS = ("graph", "jaxpr")
KEPT = {"unroll": 0, "branch": 0}  # every scan a loop, every cond a branch


@pytest.fixture(autouse=True)
def _quick_code(monkeypatch):
    """The same bits, sooner: `test_quick_code`."""
    monkeypatch.setenv("FREEFLOAT_QUICK_CODE", "1")


# ---- functions of 16 numbers that nest what is traced apart


@once
def mixed(x):
    """Enough operations for a branch."""
    return jnp.sin(idioms.spd(x) @ x[:4])


@once
def scaled(x, factor):
    return factor * jnp.cos(x)


def branches_in_loops_in_branches(x):
    def body(carry, row):
        on = cond(row[0] > 0, lambda: carry * jnp.sin(row), lambda: cond(x[1] > 0, lambda: carry + row, lambda: -carry))
        return on, on[0] + x[2]

    carry, rows = cond(
        x[0] > 0, lambda: scan(body, x[:4], x.reshape(4, 4)), lambda: (mixed(x), jnp.full(4, 2.0) * x[3])
    )
    return jnp.concatenate([carry, rows])


def jax_inside_ours(x):
    """JAX's own control flow in a way of ours, and ours in a way of JAX's."""
    ours = cond(x[0] > 0, lambda: idioms.rare_search(x), lambda: lax.fori_loop(0, 5, lambda i, c: c * 0.9 + x[i], x))
    return lax.cond(x[1] > 0, lambda a: cond(a[2] > 0, lambda: jnp.tile(mixed(a), 4), lambda: a), lambda a: 2 * a, ours)


def once_in_a_way_and_outside(x):
    first = cond(x[0] > 0, lambda: mixed(x), lambda: x[:4])
    return first + mixed(x) + cond(x[1] > 0, lambda: mixed(x) * 2, lambda: mixed(x) * 3)


def once_outside_and_in_a_way(x):
    before = mixed(x)
    return before + cond(x[0] > 0, lambda: mixed(x) + before, lambda: mixed(2.0 * x) - before)


def once_in_a_loop_and_after(x):
    def body(carry, row):
        return carry + mixed(x) * row[0] + scaled(carry, 0.5), mixed(x)

    carry, rows = scan(body, x[:4], x.reshape(4, 4))
    return carry + mixed(x) + rows[-1] + scaled(carry, 0.5)


def value_from_before(x):
    """Read two ways deep, in one of them only, and handed through."""
    early, late = jnp.exp(0.1 * x), jnp.sum(x * x)
    inner = lambda: cond(x[1] > 0, lambda: (early * late, early, 1), lambda: (x, early, 2))  # noqa: E731
    a, b, k = cond(x[0] > 0, inner, lambda: (early + 1.0, x, 3))
    return a + b * k


def different_answers(x):
    """`once` tells arguments apart: other numbers, other arrays, by place or by name."""
    numbers = np.ones(16)
    return scaled(x * numbers, 2.0) + scaled(x, 3.0) + scaled(numbers, 2.0) + scaled(0.25 * x, factor=2.0)


def result_of_a_loop(x):
    """Results of passes as a record, the last carry, and a loop without passes."""
    carry, rows = scan(lambda c, row: (c * 0.9 + row[0], {"c": c, "n": idioms.place(c)}), x[0], x.reshape(4, 4))
    none = scan(lambda c, row: (c + row, row * 2.0), x[1], jnp.zeros(0))
    return rows["c"] * rows["n"] + carry + none[0] + jnp.sum(none[1])


def keys(x):
    """Random keys that are split, chosen by a branch and carried by a loop, JAX's and ours."""
    first, second = jax.random.split(jax.random.wrap_key_data(idioms.seed_words(x[:2])))
    key = lax.cond(x[0] > 0, lambda: first, lambda: jax.random.fold_in(second, 3))
    every = lax.scan(lambda k, row: (jax.random.fold_in(k, idioms.place(row)), k), key, x[:3])[1]
    last = lax.fori_loop(0, 3, lambda i, k: jax.random.fold_in(k, i), every[2])
    return jax.random.uniform(last, (4,))


def keys_in_ours(x):
    first, second = jax.random.split(jax.random.wrap_key_data(idioms.seed_words(x[:2])))
    key = cond(x[0] > 0, lambda: first, lambda: jax.random.fold_in(second, 3))
    last, every = scan(lambda k, row: (jax.random.fold_in(k, idioms.place(row)), k), key, x[:3])
    return jax.random.uniform(last, (4,)) + jax.random.uniform(every[1], (4,))


def known_predicates(x):
    return cond(jnp.asarray(True), lambda: x, lambda: 2 * x) + cond(jnp.zeros(()) > 1, lambda: x, lambda: 3 * x)


def many_kinds(x):
    """Integers, truth and keys of random numbers as results of ways."""
    words = idioms.seed_words(x[:2])
    n, t, w = cond(
        x[0] > 0, lambda: (idioms.place(x[1]), x[2] > 0, words), lambda: (jnp.int32(7), jnp.asarray(True), words + 1)
    )
    noise = cond(t, lambda: jax.random.normal(jax.random.wrap_key_data(w), (16,)), lambda: jnp.zeros(16))
    return x * n + noise


def along(function):
    """The derivative of a function along a direction, as a function of the same numbers."""
    return lambda x: jax.jvp(function, (x,), (jnp.cos(x),))[1]


def chosen(x):
    return cond(x[0] > 0, lambda: mixed(x) * x[:4], lambda: jnp.exp(0.1 * x[:4]) * jnp.sum(x))


def while_in_a_way(x):
    return cond(x[0] > 0, lambda: idioms.IDIOMS["while"](x), lambda: mixed(x)[0] * x)


def derivative_in_a_way(x):
    return cond(x[0] > 0, lambda: along(mixed)(x), lambda: jax.grad(lambda z: mixed(z) @ mixed(z))(x)[:4])


NESTED = {
    "branches_in_loops_in_branches": branches_in_loops_in_branches,
    "jax_inside_ours": jax_inside_ours,
    "once_in_a_way_and_outside": once_in_a_way_and_outside,
    "once_outside_and_in_a_way": once_outside_and_in_a_way,
    "once_in_a_loop_and_after": once_in_a_loop_and_after,
    "value_from_before": value_from_before,
    "different_answers": different_answers,
    "result_of_a_loop": result_of_a_loop,
    "keys": keys,
    "keys_in_ours": keys_in_ours,
    "known_predicates": known_predicates,
    "many_kinds": many_kinds,
    "while_in_a_way": while_in_a_way,
    "derivative_in_a_way": derivative_in_a_way,
    "jvp_of_cond": along(chosen),
    "jvp_of_jvp_of_cond": along(along(chosen)),
    "jvp_of_lax_cond": along(along(lambda x: lax.cond(x[0] > 0, mixed, lambda a: a[:4] ** 3, x))),
    "jvp_and_value": lambda x: chosen(x) + along(chosen)(x) + mixed(x) + along(mixed)(x),
    "two_directions": lambda x: jax.jvp(mixed, (x,), (x,))[1] + jax.jvp(mixed, (x,), (jnp.ones(16),))[1],
    "jvp_of_scan": along(once_in_a_loop_and_after),
    "grad_of_cond": jax.grad(lambda x: jnp.sum(chosen(x))),
    "jacfwd_of_once": lambda x: jax.jacfwd(lambda z: mixed(z) + mixed(2.0 * z))(x),
    "vmap_of_cond": lambda x: jax.vmap(lambda k: cond(k > 0, lambda: mixed(k * x), lambda: x[:4]))(x[:3]),
    "vmap_of_once": lambda x: jax.vmap(lambda k: mixed(k * x) + mixed(x))(x[:3]),
}


# ---- they agree


def results(function, way, monkeypatch, **options):
    """Of every row of X, by one way of tracing."""
    monkeypatch.setenv("FREEFLOAT_TRACING", "" if way == "graph" else way)
    assert known_versions.is_traced_into_graph() is (way == "graph")
    compiled = engine.compile(engine.trace(function, idioms.X[0], **options), cache=False, width=1)
    return np.stack([jax.tree.leaves(compiled(row))[0] for row in idioms.X])


def require_same(function, monkeypatch, **options):
    """Integers to the bit, doubles to 1e-12 of the largest; the results of the first way."""
    ours, theirs = (results(function, way, monkeypatch, **options) for way in WAYS)
    assert ours.dtype == theirs.dtype
    if ours.dtype.kind in idioms.EXACT_KINDS:
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    return ours


@pytest.mark.slow  # run them after every change of the engine
@pytest.mark.parametrize("name", idioms.IDIOMS)
def test_idioms_agree(name, monkeypatch):
    idioms.check(name, require_same(idioms.IDIOMS[name], monkeypatch))


@pytest.mark.slow  # run them after every change of the engine
@pytest.mark.parametrize("name", idioms.REPEATED)
def test_idioms_agree_with_loops_and_branches_kept(name, monkeypatch):
    idioms.check(name, require_same(idioms.IDIOMS[name], monkeypatch, **KEPT))


@pytest.mark.parametrize("options", [{}, KEPT], ids=["short", "kept"])
@pytest.mark.parametrize("name", NESTED)
def test_nested_idioms_agree(name, options, monkeypatch):
    found = require_same(NESTED[name], monkeypatch, **options)
    truth = np.stack([np.asarray(NESTED[name](jnp.asarray(row))) for row in idioms.X])
    # 1e-12: some dozen products of numbers of the order of ten
    np.testing.assert_allclose(found, truth, rtol=1e-12, atol=1e-12)


def test_rows_go_both_ways():
    for column in (0, 1, 2):
        assert {bool(row[column] > 0) for row in idioms.X} == {True, False}


# ---- negative controls: when which way is used


@pytest.fixture
def called(monkeypatch):
    """Whether functions were traced into the graph."""
    calls, trace_into = [], direct.trace_into
    monkeypatch.setattr(direct, "trace_into", lambda *args: calls.append("graph") or trace_into(*args))
    return calls


def test_a_known_version_is_traced_into_the_graph(called):
    engine.trace(mixed, idioms.X[0])
    assert called == ["graph"]


def test_an_unknown_version_is_traced_by_make_jaxpr(called, monkeypatch):
    monkeypatch.setattr(known_versions, "KNOWN_VERSIONS", ("0.1",))
    assert not known_versions.is_traced_into_graph()
    compiled = engine.compile(engine.trace(chosen, idioms.X[0], **KEPT), cache=False)
    (found,) = jax.tree.leaves(compiled(idioms.X[0]))
    np.testing.assert_allclose(found, chosen(idioms.X[0]), rtol=1e-12, atol=1e-12)
    assert called == []


def test_an_unknown_version_may_lack_the_private_names(monkeypatch):
    monkeypatch.setattr(known_versions, "KNOWN_VERSIONS", ("0.1",))
    monkeypatch.setitem(sys.modules, direct.__name__, None)  # its import is an error
    monkeypatch.delattr(sys.modules[direct.__package__], "direct")
    compiled = engine.compile(engine.trace(once_outside_and_in_a_way, idioms.X[0]), cache=False)
    (found,) = jax.tree.leaves(compiled(idioms.X[0]))
    np.testing.assert_allclose(found, once_outside_and_in_a_way(idioms.X[0]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("version", ["0.9.2", "0.100.2", "0.11.0", "1.10.2", "0.10"])
def test_versions_that_were_not_tried_are_unknown(version, monkeypatch):
    monkeypatch.setattr(jax, "__version__", version)
    assert not known_versions.is_traced_into_graph()


def test_the_setting_chooses_make_jaxpr(called, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_TRACING", "jaxpr")
    engine.trace(mixed, idioms.X[0])
    assert called == []


def test_once_sees_that_an_array_was_written_to():
    """The first way only: JAX reads such an array after the function has ended."""

    def written(x):
        numbers = np.ones(16)
        first = scaled(x * numbers, 2.0) + scaled(numbers, 2.0)
        numbers[:] = 0.25
        return first + scaled(numbers, 2.0)

    x = idioms.X[0]
    truth = 2.0 * (np.cos(x) + np.cos(1.0) + np.cos(0.25))
    found = engine.compile(engine.trace(written, x), cache=False)(x)
    np.testing.assert_allclose(jax.tree.leaves(found)[0], truth, rtol=1e-13, atol=1e-13)  # a few ulp


def test_once_calls_a_function_once_for_the_same_values():
    seen = []

    @once
    def counted(x):
        seen.append(1)
        return jnp.sin(x)

    engine.trace(lambda x: counted(x) + counted(x) + counted(2.0 * x), idioms.X[0])
    assert len(seen) == 2
    jnp.asarray(counted(idioms.X[0])) + counted(idioms.X[0])  # outside of a trace it is a plain call
    assert len(seen) == 4


def long_sum(x):
    return sum((jnp.sin(x * k) / (1.5 + jnp.cos(x / k)) for k in range(1, 12)), start=0 * x)


@pytest.mark.parametrize("choice", [0.5, -0.5])
def test_a_way_reads_a_value_around_it_first_in_a_way_inside(choice):
    """The value belongs to the outer way: a loop that comes later in it must not take it for its own."""
    rows = jnp.linspace(0.0, 1.0, 400)

    def looped(y):
        end, outs = scan(lambda s, row: (0.9 * s + row * y[1], s), y[0], rows)
        return end + outs[7] + y[2]

    def inner(x, a):
        return cond(a > 0.3, lambda: long_sum(x), lambda: jnp.roll(x, 1))

    def function(x, a, b):
        return cond(b > 0, lambda: looped(inner(x, a)), lambda: x[0])

    x = np.array([0.4, 0.5, -0.3])
    ours = engine.compile(function, x, 0.5, 1.0, cache=False)
    for b in (1.0, -1.0):
        np.testing.assert_allclose(ours(x, choice, b), jax.jit(function)(x, choice, b), rtol=1e-13)
