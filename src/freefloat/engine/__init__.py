"""Compiles pure JAX functions of fixed shapes: ``native`` machine code, ``gpu`` kernels, ``c`` text.

JAX is the language and the reference meaning. A function is traced to a jaxpr, the jaxpr to a graph
of scalars, and the graph to code for each target. This package is independent of spacecraft and
imports nothing else of freefloat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import EngineError, PrecisionError, SignatureError, TargetError, UnsupportedError
from .graph import Graph, load, save

if TYPE_CHECKING:
    from .compilation import compile
    from .jaxprs import trace
    from .runtime.doctor import clear_cache, doctor
    from .runtime.lookup import traced_anew
    from .runtime.making import Making, code_of, is_making_heard, on_making
    from .runtime.program import Chunk, Compiled, Rollout
    from .varied import Template, VariedProgram, compile_varied, needs_numbers

__all__ = [
    "Chunk",
    "Compiled",
    "EngineError",
    "Graph",
    "Making",
    "PrecisionError",
    "Rollout",
    "SignatureError",
    "TargetError",
    "Template",
    "UnsupportedError",
    "VariedProgram",
    "clear_cache",
    "code_of",
    "compile",
    "compile_varied",
    "doctor",
    "is_making_heard",
    "load",
    "needs_numbers",
    "on_making",
    "save",
    "trace",
    "traced_anew",
]

_HOMES = {
    "compile": "compilation",
    "trace": "jaxprs",
    "doctor": "runtime.doctor",
    "clear_cache": "runtime.doctor",
    "Compiled": "runtime.program",
    "Rollout": "runtime.program",
    "Chunk": "runtime.program",
    "Template": "varied",
    "VariedProgram": "varied",
    "compile_varied": "varied",
    "needs_numbers": "varied",
    "traced_anew": "runtime.lookup",
    "Making": "runtime.making",
    "code_of": "runtime.making",
    "is_making_heard": "runtime.making",
    "on_making": "runtime.making",
}


def __getattr__(name: str) -> Any:
    """Import a public name that needs JAX or LLVM when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    """Names of everything public, loaded or not."""
    return sorted(__all__)
