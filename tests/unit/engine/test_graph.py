"""Graphs: simplification, counts, hash, and the file that needs no tracing."""

import subprocess
import sys

import chain
import idioms
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.graph import Builder


@pytest.mark.parametrize("name", ["rk4", "delay_line", "large_cond", "switch", "while", "philox", "nested_loops"])
def test_saved_graph_computes_the_same(name, tmp_path):
    x = np.random.default_rng(1).normal(size=(3, 16))
    graph = engine.trace(idioms.IDIOMS[name], x[0], unroll=0, branch=0)
    engine.save(graph, tmp_path / "graph")
    loaded = engine.load(tmp_path / "graph")
    assert loaded.hash == graph.hash
    assert loaded.operations == graph.operations
    assert loaded.signature == graph.signature
    found, expected = engine.compile(loaded).batch(x), engine.compile(graph).batch(x)
    jax.tree_util.tree_map(np.testing.assert_array_equal, found, expected)


def test_loaded_step_keeps_the_callers_nesting(tmp_path):
    state, tau = chain.start(1)
    engine.save(engine.trace(chain.step, chain.one(state), tau[0]), tmp_path / "step")
    program = engine.compile(engine.load(tmp_path / "step"))
    found = program.rollout(chain.one(state), tau[0], steps=2)
    expected = engine.compile(chain.step, chain.one(state), tau[0]).rollout(chain.one(state), tau[0], steps=2)
    jax.tree_util.tree_map(np.testing.assert_array_equal, found, expected)


def test_other_format_is_refused(tmp_path):
    import gzip

    (tmp_path / "old").write_bytes(gzip.compress(b'{"format": 0}'))
    with pytest.raises(engine.EngineError, match="trace and save it again"):
        engine.load(tmp_path / "old")


def test_hash_is_of_the_operations():
    def first(x):
        return x * 2 + 1

    def same(x):
        doubled = 2 * x
        return 1 + doubled

    assert engine.trace(first, 1.0).hash == engine.trace(same, 1.0).hash
    assert engine.trace(first, 1.0).hash != engine.trace(lambda x: x * 2 + 1.5, 1.0).hash
    assert engine.trace(first, 1.0).hash != engine.trace(first, np.zeros(1)).hash


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda x: x[0] * 0 + x[1] * 1, 0),
        (lambda x: x[0] * x[1] - x[1] * x[0], 0),
        (lambda x: x[0] * (1 / x[0]), 0),
        (lambda x: (x[0] * x[1]) / x[1], 0),
        (lambda x: jnp.sqrt(x[0]) * jnp.sqrt(x[0]), 0),
        (lambda x: jnp.negative(-x[0]), 0),
        (lambda x: x[0] / x[2] + x[1] / x[2], 4),  # one reciprocal for both
        (lambda x: jnp.sin(-x[0]) + jnp.sin(x[0]), 0),
        (lambda x: (x[0] - x[1]) + (x[1] - x[0]), 0),
        (lambda x: jnp.where(x[0] > 0, x[1], x[1]), 0),
        (lambda x: ((x[0] + 1) + 2) * 2 * 3, 2),
        (lambda x: x[0] ** 4, 2),
        (lambda x: jnp.cos(0.3) * x[0], 1),
        (lambda x: jax.lax.cond(np.array(True), jnp.sin, jnp.cos, x[0]), 1),
        (lambda x: jax.lax.cond(x[1].astype(int) % 1 == 0, jnp.sin, jnp.cos, x[0]), 1),  # due at every tick
    ],
)
def test_simplification(function, count):
    used = {k: n for k, n in engine.trace(function, np.ones(3)).operations.items() if k not in ("lt", "total")}
    assert sum(used.values()) == count


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (3.0 - x) + 2.0,
        lambda x: (3.0 - x) - 2.0,
        lambda x: 5.0 - (3.0 - x),
        lambda x: 5.0 - (x + 3.0),
        lambda x: (x + 3.0) - 5.0,
        lambda x: -(x * 3.0) * 2.0,
        lambda x: 2.0 * (-x) - 1.0,
        lambda x: -x + (-3.0),
        lambda x: (x - 2.0 * x) - (2.0 * x - x),
        lambda x: 1.0 / (-x) + x**-1.5,
        lambda x: jnp.where(jnp.logical_not(x > 1.0), 2.0 * x, 3.0 * x),
    ],
)
def test_simplified_code_computes_the_same(function):
    compiled = engine.compile(function, 0.7)
    for x in (0.7, 12.25):
        assert float(compiled(x)) == pytest.approx(float(function(np.float64(x))), rel=1e-15)


@pytest.mark.parametrize(
    "function",
    [lambda i: (i + 2) - 1, lambda i: (i + 2) + 5, lambda i: (i - 2) - 1, lambda i: (i * 3) - i, lambda i: -i % 5],
)
def test_simplified_integers_are_the_same(function):
    compiled = engine.compile(function, np.int32(0))
    for i in (-7, 0, 4):
        assert int(compiled(np.int32(i))) == int(jax.jit(function)(np.int32(i)))


def test_derivative_of_a_loop_keeps_its_zeros():
    """Zeros that a loop carries from start to end cost nothing."""

    def diagonal(x):
        def grow(_, y):
            return y * y

        return jax.lax.fori_loop(0, 50, grow, x)

    graph = engine.trace(jax.jacfwd(diagonal), np.ones(4), unroll=0)
    assert graph.operations["mul"] <= 50 * 4 * 3  # not 50 * 16


def test_invariants_leave_the_loop():
    def sums(x):
        return jax.lax.fori_loop(0, 100, lambda _, y: y + jnp.sin(x), jnp.zeros(3))

    assert engine.trace(sums, np.ones(3), unroll=0).operations["sin"] == 3


def test_integers_wrap_like_the_machine():
    b = Builder()
    top = b.constant(2**31 - 1, "i32")
    assert b.integer("iadd", top, b.constant(1, "i32")).value == -(2**31)
    assert b.integer("imul", b.constant(2**31, "u32"), b.constant(2, "u32")).value == 0
    assert b.integer("idiv", b.constant(-7, "i32"), b.constant(2, "i32")).value == -3
    assert b.shift("ashr", b.constant(-8, "i32"), b.constant(40, "i32")).value == -1
    assert b.convert(b.constant(-3.7), "u32").value == 0
    assert b.convert(b.constant(float("nan")), "i32").value == 0


@pytest.mark.parametrize("package", ["llvmlite", "jax"])
def test_imports_without(package):
    """The GPU target needs no llvmlite; reading a graph does not even need JAX."""
    code = f"import sys; sys.modules['{package}'] = None; import freefloat.engine, freefloat.engine.graph\n"
    if package == "llvmlite":
        code += "import freefloat.engine.cuda.program, freefloat.engine.runtime.doctor as d; print(d.doctor())"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_what_has_cancelled_is_no_quotient():
    """x y / y is x, and rounding x divides nothing."""
    b = Builder()
    x, y = b.input(0, "f64"), b.input(1, "f64")
    assert b.div(b.mul(x, y), y) is x
    assert b.correctly_rounded(x) is x
    third = b.div(b.neg(x), b.neg(y))
    assert b.correctly_rounded(third).op == "div"
    assert b.correctly_rounded(b.div(x, b.constant(3.0))).op == "div"
    assert b.correctly_rounded(b.div(b.one, y)).op == "div"
