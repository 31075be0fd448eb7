"""The front door: a function, or its graph, compiled for a target."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .errors import TargetError
from .graph import Graph
from .runtime.program import Compiled
from .runtime.structure import Structure

TARGETS = ("native", "jax", "gpu", "c")
TRACING = ("strict_nan", "unroll", "branch")


def compile(function: Callable[..., Any] | Graph, *example: Any, target: str = "native", **options: Any) -> Compiled:
    """Compile a pure JAX function for arguments shaped like ``example`` (pytrees of arrays).

    Arrays the function closes over are baked in as constants. Instead of a function, a traced or
    loaded graph will do. Options

    - of tracing: ``strict_nan``, ``unroll``, ``branch`` (see ``trace``);
    - of ``native``: ``width`` (doubles side by side), ``part_size`` (operations in one function), ``cache``;
    - of ``gpu``: ``lanes`` and ``warps`` of a block, ``interpret``;
    - of ``c``: ``name``.
    """
    if target not in TARGETS:
        raise TargetError(f"There is no target '{target}'. Targets: {', '.join(TARGETS)}.")
    tracing = {k: options.pop(k) for k in TRACING if k in options}
    if isinstance(function, Graph):
        return _build(None, function, Structure(function.signature), target, options)
    from .jaxprs import trace

    if target == "jax":  # JAX needs no graph, and runs what the engine refuses
        from .runtime.jitted import Jitted

        return Jitted(
            function, partial(trace, function, *example, **tracing), Structure.of(function, example), **options
        )
    graph = trace(function, *example, **tracing)
    return _build(function, graph, Structure.of(function, example), target, options)


def _build(
    function: Callable[..., Any] | None,
    graph: Graph,
    structure: Structure,
    target: str,
    options: dict[str, Any],
) -> Compiled:
    if target == "native":
        try:
            from .runtime.native import Native
        except ImportError as error:
            raise TargetError("The native target needs llvmlite: pip install llvmlite.") from error
        return Native(graph, structure, **options)
    if target == "jax":
        from .runtime.jitted import Jitted

        return Jitted(function or _as_function(graph, structure), graph, structure, **options)
    if target == "gpu":
        from .pallas.program import Lanes

        return Lanes(function or _as_function(graph, structure), graph, structure, **options)
    from .ctext.program import CText

    return CText(graph, structure, **options)


def _as_function(graph: Graph, structure: Structure) -> Callable[..., Any]:
    """A graph as a JAX function again."""
    from .pallas.lanes import as_function

    return as_function(graph, structure)
