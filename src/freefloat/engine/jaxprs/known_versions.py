"""Which versions of JAX are traced into the graph: asked before `direct` and its private names are imported."""

import os

import jax

KNOWN_VERSIONS = ("0.10",)  # whose private names were tried


def is_traced_into_graph() -> bool:
    """Whether functions are traced into the graph: with a known version of JAX, unless FREEFLOAT_TRACING=jaxpr."""
    known = jax.__version__.rpartition(".")[0] in KNOWN_VERSIONS
    return known and os.environ.get("FREEFLOAT_TRACING", "") != "jaxpr"
