"""Makes a scalar graph from a JAX function by running its operations once on arrays of nodes."""

from .tracing import trace

__all__ = ["trace"]
