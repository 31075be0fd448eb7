"""Rules for JAX's random keys: a key is the array of its words, and its functions are traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Node

from .arrays import Array, object_array
from .interpreter import Tracer
from .rules import rule


def _inline_function(tracer: Tracer, function: Any, *args: Array) -> Array:
    """Result of a JAX function, whose jaxpr is run on nodes."""
    import jax

    shapes = [jax.ShapeDtypeStruct(a.shape, np.uint32) for a in args]
    return tracer.run_closed(jax.make_jaxpr(function)(*shapes), args)[0]


def _implementation(eqn: Any) -> Any:
    variables = [*eqn.invars, *eqn.outvars]
    return next(v.aval.dtype._impl for v in variables if hasattr(v.aval.dtype, "_impl"))


@rule("random_wrap", "random_unwrap")
def _(tracer: Tracer, eqn: Any, words: Array) -> Array:
    return words


@rule("random_seed")
def _(tracer: Tracer, eqn: Any, seed: Array) -> Array:
    import jax

    impl = eqn.params["impl"]
    shape = jax.ShapeDtypeStruct(seed.shape, eqn.invars[0].aval.dtype)
    return tracer.run_closed(jax.make_jaxpr(impl.seed)(shape), [seed])[0]


@rule("random_bits")
def _(tracer: Tracer, eqn: Any, key: Array) -> Array:
    impl, p = _implementation(eqn), eqn.params
    return _inline_function(tracer, lambda k: impl.random_bits(k, p["bit_width"], p["shape"]), key)


@rule("random_fold_in")
def _(tracer: Tracer, eqn: Any, key: Array, data: Array) -> Array:
    return _inline_function(tracer, _implementation(eqn).fold_in, key, data)


@rule("random_split")
def _(tracer: Tracer, eqn: Any, key: Array) -> Array:
    impl, shape = _implementation(eqn), eqn.params["shape"]
    return _inline_function(tracer, lambda k: impl.split(k, shape), key)


ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


@rule("threefry2x32")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    """Rule for Threefry-2x32 with twenty rounds (Salmon et al. 2011): two words of key, two of counter."""
    words = np.broadcast_arrays(*(tracer.nodes(a) for a in args))
    pairs = [threefry(tracer.b, *four) for four in zip(*(w.ravel() for w in words), strict=True)]
    return [object_array(list(side), words[0].shape) for side in zip(*pairs, strict=True)]


def threefry(b: Builder, key0: Node, key1: Node, x0: Node, x1: Node) -> tuple[Node, Node]:
    """The two random words of one counter."""

    def word(value: int) -> Node:
        return b.constant(value, "u32")

    parity = b.integer("ixor", b.integer("ixor", key0, key1), word(PARITY))
    schedule = (key0, key1, parity)
    x0, x1 = b.integer("iadd", x0, key0), b.integer("iadd", x1, key1)
    for group in range(5):
        for turn in ROTATIONS[group % 2]:
            x0 = b.integer("iadd", x0, x1)
            rotated = b.integer("ior", b.shift("shl", x1, word(turn)), b.shift("lshr", x1, word(32 - turn)))
            x1 = b.integer("ixor", rotated, x0)
        x0 = b.integer("iadd", x0, schedule[(group + 1) % 3])
        x1 = b.integer("iadd", b.integer("iadd", x1, schedule[(group + 2) % 3]), word(group + 1))
    return x0, x1
