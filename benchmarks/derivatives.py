"""How long until the first derivative is there: `engine.compile` beside plain JAX, everything from nothing.

Measures, in seconds of wall time: tracing, compiling and the first call of the forward dynamics itself, of its
derivative by q, v and force, and of the gradient of a scalar of it. The disk cache is empty.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
import time
from collections.abc import Callable, Iterator

import jax
from comparison import Row, main, row
from plant import sample

from freefloat import engine
from freefloat.dynamics import forward_dynamics
from freefloat.library import ets7


def rows(quick: bool) -> Iterator[Row]:
    """One object per function and peer."""
    craft = ets7()
    example = sample(craft)
    forward = lambda q, v, f: forward_dynamics(craft, q, v, f)  # noqa: E731
    functions = {
        "forward": forward,
        "derivative": jax.jacfwd(forward, argnums=(0, 1, 2)),
        "gradient": jax.grad(lambda q, v, f: forward(q, v, f).sum()),
    }
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FREEFLOAT_CACHE"] = cache
        for name, function in functions.items():
            ours = _first(lambda function=function: engine.compile(function, *example)(*example))
            for peer, call in (("jax.jit", jax.jit(function)), ("jax", function)):
                theirs = _first(lambda call=call: jax.block_until_ready(call(*example)))
                yield row("ETS-VII", f"first {name}", ours, peer, theirs)
            if quick:
                return


def _first(call: Callable[[], object]) -> float:
    jax.clear_caches()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(__doc__, rows)
