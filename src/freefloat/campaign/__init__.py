"""Campaigns (Monte Carlo): many runs of one experiment with varied numbers, stored on disk, and their statistics."""

from freefloat.lazy_names import lazy_names

# Modules that need JAX are loaded when they are used: distributions and reductions do without it.
_RENAMED = {
    "Correlated": "campaign.CorrelatedDispersion",
    "Listed": "campaign.ListedDispersion",
}  # names of version 0.1
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__, _RENAMED)
