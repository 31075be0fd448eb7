"""Docstrings, annotations and places in files, which change no result unless code reads them as data."""

from __future__ import annotations

import dis
import inspect
import types
from functools import lru_cache
from typing import Any

# Code that uses one of these names, as an attribute or as a word, reads texts of functions and classes.
READERS = frozenset(
    {
        *("__doc__", "__annotations__", "__annotate__", "__annotate_func__", "__firstlineno__", "__code__"),
        *("__module__", "__slots__", "__match_args__", "__orig_bases__", "__dataclass_params__", "__type_params__"),
        *("get_type_hints", "get_annotations", "get_original_bases", "make_dataclass"),
    }
)
_OF_CLASSES = ("__doc__", "__module__", "__slots__", "__match_args__", "__firstlineno__")


@lru_cache(maxsize=4096)
def constants_of(code: types.CodeType) -> tuple[Any, ...]:
    """Constants that code uses, without its docstring unless code uses that too."""
    first = code.co_consts[:1]
    if not first or not isinstance(first[0], str):
        return code.co_consts
    used = any(step.opcode in dis.hasconst and step.arg == 0 for step in dis.get_instructions(code))
    return code.co_consts if used else code.co_consts[1:]


def texts_of(x: Any) -> tuple[Any, ...]:
    """Docstring, annotations and place in the file of a function or a class."""
    annotations = inspect.get_annotations(x)
    written = {name: str(kind) for name, kind in annotations.items()}
    if isinstance(x, type):
        return (written, *(str(x.__dict__.get(name)) for name in _OF_CLASSES))
    return written, x.__doc__, x.__module__, x.__code__.co_firstlineno, x.__code__.co_filename
