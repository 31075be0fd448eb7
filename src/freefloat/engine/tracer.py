"""Which module traces functions into a graph: known without loading it, to code that may be traced."""

from types import ModuleType

_direct: ModuleType | None = None


def set_direct_tracing(module: ModuleType) -> None:
    """Called by `jaxprs.direct` when it is loaded, which happens only with versions of JAX that it knows."""
    global _direct
    _direct = module


def active_tracer() -> ModuleType | None:
    """`jaxprs.direct` while it traces what is called now into a graph; None otherwise."""
    return _direct if _direct is not None and _direct.is_tracing() else None
