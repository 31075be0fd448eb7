"""Software that runs outside the compiled loop: its contract, its messages, and the ways to fly it."""

from freefloat.lazy_names import lazy_names

# A process of flight software needs the contract and NumPy alone; what binds software to an experiment is loaded later.
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
