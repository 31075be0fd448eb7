"""Campaigns: many runs of one experiment with other numbers, kept on disk, and what they say about all runs."""

from freefloat.lazy_names import lazy_names

# What needs JAX is loaded when it is used: distributions and reductions do without it.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
