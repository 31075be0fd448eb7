"""The front door: a function, or its graph, compiled for a target."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .errors import TargetError
from .graph import Graph
from .runtime import lookup
from .runtime.making import making
from .runtime.program import Compiled
from .runtime.structure import Structure

TARGETS = ("native", "jax", "gpu", "c")
TRACING = ("strict_nan", "unroll", "branch")


def compile(
    function: Callable[..., Any] | Graph,
    *example: Any,
    target: str = "native",
    notes: Callable[[], Any] | None = None,
    **options: Any,
) -> Compiled:
    """Compile a pure JAX function for arguments shaped like ``example`` (pytrees of arrays).

    Arrays the function closes over are baked in as constants. The same function on the same shapes is not traced
    again, in this process or another: it is found by its code and by all that it closes over. ``notes`` is called
    after tracing and returns plain data that tracing has taught; it is kept as the ``notes`` of what is compiled.
    Instead of a function, a traced or loaded graph will do. Options

    - of tracing: ``strict_nan``, ``unroll``, ``branch`` (see ``trace``);
    - of ``native``: ``width`` (doubles side by side), ``part_size`` (operations in one function), ``cache``;
    - of ``gpu``: ``emulate`` (by the C compiler), ``piece`` (instances at a time), ``shape`` of a block, ``cache``;
    - of ``c``: ``name``.
    """
    if target not in TARGETS:
        raise TargetError(f"There is no target '{target}'. Targets: {', '.join(TARGETS)}.")
    if isinstance(function, Graph):
        return _build(function, Structure(function.signature), target, options)
    kept = options.get("cache", True)
    name = lookup.name_of(function, example, target, options) if kept else None
    return compile_named(name, function, example, target, notes, options)


def compile_named(
    name: lookup.Name | None,
    function: Callable[..., Any],
    example: tuple[Any, ...],
    target: str,
    notes: Callable[[], Any] | None,
    options: dict[str, Any],
) -> Compiled:
    """Compile a function whose name has been found (None: it has none, and is traced)."""
    found = lookup.in_memory(name)
    if found is not None:
        return found
    program = _from_disk(function, example, name, options) if target == "native" else None
    if program is None:
        name = lookup.before_tracing(name)
        with lookup.listening(name):
            program = _traced(function, example, target, options)
            program.notes = notes() if notes else None
        name = lookup.after_tracing(name, program)
        if target == "native":
            lookup.keep_on_disk(name, program)
    program.title = lookup.title_of(function)
    return lookup.keep_in_memory(name, program)


def _from_disk(
    function: Callable[..., Any], example: tuple[Any, ...], name: lookup.Name | None, options: dict[str, Any]
) -> Compiled | None:
    """A native program whose trace another process has left; None if there is none."""
    entry = lookup.on_disk(name)
    if entry is None:
        return None
    tracing, others = _sorted(options)
    graph = partial(_trace, function, example, tracing)
    program = _build(graph, entry.structure(example), "native", {**others, "summary": entry.summary})
    program.notes = entry.notes
    return program


def _traced(function: Callable[..., Any], example: tuple[Any, ...], target: str, options: dict[str, Any]) -> Compiled:
    tracing, others = _sorted(options)
    if target == "jax":  # JAX needs no graph, and runs what the engine refuses
        from .runtime.jitted import Jitted

        return Jitted(function, partial(_trace, function, example, tracing), Structure.of(function, example), **others)
    from .jaxprs.tracing import trace_with_result

    with making(lookup.title_of(function), "tracing"):
        graph, result = trace_with_result(function, *example, **tracing)
    return _build(graph, Structure.nested(graph.signature, example, result), target, others)


def _sorted(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of tracing, and of the target."""
    tracing = {name: value for name, value in options.items() if name in TRACING}
    return tracing, {name: value for name, value in options.items() if name not in TRACING}


def _trace(function: Callable[..., Any], example: tuple[Any, ...], tracing: dict[str, Any]) -> Graph:
    from .jaxprs import trace

    with making(lookup.title_of(function), "tracing"):
        return trace(function, *example, **tracing)


def _build(graph: Graph | Callable[[], Graph], structure: Structure, target: str, options: dict[str, Any]) -> Compiled:
    if target == "native":
        try:
            from .runtime.native import Native
        except ImportError as error:
            raise TargetError("The native target needs llvmlite: pip install llvmlite.") from error
        return Native(graph, structure, **options)
    if target == "jax":
        raise TargetError("A graph is no JAX function any more: compile the function itself, or use 'native'.")
    whole = graph if isinstance(graph, Graph) else graph()
    if target == "gpu":
        from .cuda.program import Gpu

        return Gpu(whole, structure, **options)
    from .ctext.program import CText

    return CText(whole, structure, **options)
