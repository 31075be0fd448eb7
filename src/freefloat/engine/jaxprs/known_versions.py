"""Versions of JAX whose functions are traced directly into the graph; read before `direct` is imported."""

import os

import jax

KNOWN_VERSIONS = ("0.10",)  # whose private names were tested


def is_traced_into_graph() -> bool:
    """Whether functions are traced into the graph: with a known version of JAX, unless FREEFLOAT_TRACING=jaxpr."""
    known = jax.__version__.rpartition(".")[0] in KNOWN_VERSIONS
    return known and os.environ.get("FREEFLOAT_TRACING", "") != "jaxpr"
