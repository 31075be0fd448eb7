"""Entry point of the engine: compiles a function, or its graph, for a target."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .errors import TargetError
from .graph import Graph
from .runtime import lookup
from .runtime.making import making
from .runtime.program import Compiled
from .runtime.structure import CallStructure

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

    Arrays the function closes over become constants of the code. The same function on the same shapes is not traced
    again, in this process or another: it is found by its code and by all that it closes over. ``notes`` is called
    after tracing and returns plain data that was found while tracing; the compiled function has it as ``notes``.
    A traced or loaded graph can be given instead of a function. Options

    - of tracing: ``strict_nan``, ``unroll``, ``branch`` (see ``trace``);
    - of ``native``: ``width`` (doubles side by side), ``part_size`` (operations in one function), ``cache``;
    - of ``gpu``: ``emulate`` (by the C compiler), ``piece`` (instances at a time), ``shape`` of a block, ``cache``;
    - of ``c``: ``name``.
    """
    if target not in TARGETS:
        raise TargetError(f"There is no target '{target}'. Targets: {', '.join(TARGETS)}.")
    if isinstance(function, Graph):
        return _build_program(function, CallStructure(function.signature), target, options)
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
    """Compile a function under the given cache name; without a name (None) it is traced and not kept."""
    found = lookup.in_memory(name)
    if found is not None:
        return found
    program = _program_from_disk(function, example, name, options) if target == "native" else None
    if program is None:
        name = lookup.clear_before_tracing(name)
        with lookup.record_openings(name):
            program = _trace_and_build(function, example, target, options)
            program.notes = notes() if notes else None
        name = lookup.name_after_tracing(name, program)
        if target == "native":
            lookup.keep_on_disk(name, program)
    program.title = lookup.title_of(function)
    return lookup.keep_in_memory(name, program)


def _program_from_disk(
    function: Callable[..., Any], example: tuple[Any, ...], name: lookup.Name | None, options: dict[str, Any]
) -> Compiled | None:
    """Native program of a function that an earlier process has traced and kept on disk; None if there is none."""
    entry = lookup.on_disk(name)
    if entry is None:
        return None
    tracing, others = _split_options(options)
    graph = partial(_trace, function, example, tracing)
    program = _build_program(graph, entry.structure(example), "native", {**others, "summary": entry.summary})
    program.notes = entry.notes
    return program


def _trace_and_build(
    function: Callable[..., Any], example: tuple[Any, ...], target: str, options: dict[str, Any]
) -> Compiled:
    """Trace a function and compile it for the target."""
    tracing, others = _split_options(options)
    if target == "jax":  # JAX needs no graph, and runs what the engine does not support
        from .runtime.jitted import JaxProgram

        return JaxProgram(
            function, partial(_trace, function, example, tracing), CallStructure.of(function, example), **others
        )
    from .jaxprs.tracing import trace_with_result

    with making(lookup.title_of(function), "tracing"):
        graph, result = trace_with_result(function, *example, **tracing)
    return _build_program(graph, CallStructure.with_nesting(graph.signature, example, result), target, others)


def _split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of tracing and those of the target."""
    tracing = {name: value for name, value in options.items() if name in TRACING}
    return tracing, {name: value for name, value in options.items() if name not in TRACING}


def _trace(function: Callable[..., Any], example: tuple[Any, ...], tracing: dict[str, Any]) -> Graph:
    from .jaxprs import trace

    with making(lookup.title_of(function), "tracing"):
        return trace(function, *example, **tracing)


def _build_program(
    graph: Graph | Callable[[], Graph], structure: CallStructure, target: str, options: dict[str, Any]
) -> Compiled:
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
