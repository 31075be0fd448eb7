"""Campaigns (Monte Carlo): many runs of one experiment with varied numbers, stored on disk, and their statistics."""

from freefloat.lazy_names import lazy_names

# Modules that need JAX are loaded when they are used: distributions and reductions do without it.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
