"""From a JAX function to a scalar graph: its jaxpr is run once on arrays of nodes."""

from .tracing import trace

__all__ = ["trace"]
