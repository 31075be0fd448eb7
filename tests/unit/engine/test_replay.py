"""Nodes made again with others in place of some are those of a fresh trace."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.graph import Builder
from freefloat.engine.graph.replay import replay


def made(b, x, y):
    """A bit of everything that is straight."""
    third = b.div(b.sin(x), b.add(y, b.constant(3.0)))
    power = b.power(b.absolute(x), y)
    whole = b.convert(b.rounded("floor", third), "i64")
    table = b.table((x, y, third))
    index = b.integer("iand", whole, b.constant(1, "i64"))
    picked = b.lookup(b.update(table, index, power), b.constant(0, "i64"))
    chosen = b.select(b.both(b.compare("lt", x, y), b.invert(b.compare("eq", x, third))), picked, b.neg(y))
    return [b.extreme("max", chosen, b.fmod(x, y)), b.function("expm1", third), b.shift("shl", whole, index)]


@pytest.mark.parametrize(("x", "y"), [(None, None), (2.0, None), (None, 1.5), (-0.0, None), (0.5, 2.0)])
def test_straight_nodes_are_those_of_a_fresh_trace(x, y):
    b = Builder()
    old = [b.input(0, "f64"), b.input(1, "f64")]
    new = [b.input(k, "f64") if value is None else b.constant(value) for k, value in enumerate((x, y))]
    assert replay(b, made(b, *old), dict(zip(old, new, strict=True))) == made(b, *new)


def test_what_is_not_replaced_stays_itself():
    b = Builder()
    x, y = b.input(0, "f64"), b.input(1, "f64")
    outs = made(b, x, y)
    assert replay(b, outs, {x: x, y: y}) == outs
    assert replay(b, [b.sin(y)], {x: b.one}) == [b.sin(y)]


def test_a_quotient_is_still_rounded_correctly():
    b = Builder()
    x, y, z = (b.input(k, "f64") for k in range(3))
    (again,) = replay(b, [b.div(x, y)], {x: z})
    assert b.correctly_rounded(again) is b.node("div", "f64", z, y)


LOOPS = {
    "branch": lambda z, c: jax.lax.cond(z[0] > 0.1, lambda: long_way(z, c), lambda: long_way(-z, c[::-1])),
    "loop": lambda z, c: jax.lax.fori_loop(0, 50, lambda k, q: long_way(q, c * k), z),
    "while": lambda z, c: jax.lax.while_loop(lambda q: q[0] < 5.0, lambda q: q + 1.0 + c * long_way(q, c), z),
    "nested": lambda z, c: jax.lax.fori_loop(
        0, 50, lambda k, q: jax.lax.cond(q[0] > 0.1, lambda: long_way(q, c), lambda: long_way(-z, c + q)), z
    ),
}


def long_way(z, c):
    """Enough that no way is so short that both are computed."""
    return jax.lax.fori_loop(0, 100, lambda _, q: 0.9 * jnp.sin(q) + 0.01 * c * q[::-1], z)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_around_them_carry_what_varies(name):
    """The scan is traced once; what starts at zero, stays zero or is carried as it was is found afterwards."""

    def function(z, c):
        def body(carry, row):
            q, unchanged, nothing, grows = carry
            out = LOOPS[name](q + nothing, unchanged)
            return (out * row, unchanged, nothing * q, grows + out), out

        start = z, c, jnp.zeros(3), jnp.zeros(3)
        return jax.lax.scan(body, start, jnp.linspace(0.5, 1.0, 400))

    z, c = jnp.array([0.3, -0.2, 0.7]), jnp.array([0.1, 0.2, -0.3])
    ours, theirs = engine.compile(function, z, c)(z, c), jax.jit(function)(z, c)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(ours[0][2], 0.0)
