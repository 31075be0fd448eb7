"""One-line texts of values, for `repr` and messages: an array shows its numbers only where they are few."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from freefloat.values.arrays import is_traced

_FEW = 6  # numbers of an array, or entries of a tuple, that are shown one by one
_WIDE = 120  # characters of one value


class TextDisplay:
    """Shows an object by its `str` where a line of a notebook, or of IPython in a terminal, ends with it."""

    def _repr_html_(self) -> str:
        """The text in letters of one width, for notebooks."""
        return pre_block(str(self).splitlines())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The text for IPython in a terminal; `repr`, which is one line, inside of lists and other containers."""
        inside = cycle or len(getattr(printer, "stack", ())) > 1
        printer.text(repr(self) if inside else str(self))


def number_text(value: Any, digits: int = 5) -> str:
    """A number as people write it; `traced` where JAX has not given it a value."""
    if is_traced(value):
        return "traced"
    try:
        return f"{float(value):.{digits}g}"
    except (TypeError, ValueError):
        return short_text(value)


def short_text(value: Any) -> str:
    """A value in one line: few numbers as they are, many by their shape, records by their name and main fields."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return cut(repr(value), _WIDE)
    if isinstance(value, float):
        return f"{value:g}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return _array_text(value)
    if isinstance(value, Mapping):
        return f"{{{_first_texts(f'{key}: {short_text(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"({_first_texts(map(short_text, value))})"
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return str(value.__qualname__)
    return cut(repr(value).partition("\n")[0], _WIDE)


def record_text(self: Any) -> str:
    """A record in one line, as its `__repr__`: class and fields that differ from their defaults, but no quiet ones."""
    shown = []
    for field in dataclasses.fields(self):
        if field.metadata.get("quiet") or not field.repr:
            continue
        value = getattr(self, field.name, dataclasses.MISSING)
        if value is not dataclasses.MISSING and not _is_default(value, field.default):
            shown.append(f"{field.name}={short_text(value)}")
    return f"{type(self).__name__}({', '.join(shown)})"


def names_line(kind: str, names: Iterable[str], most: int = 8) -> str:
    """Number of names and the first of them: `12 states: base.position.x, base.position.y, …`."""
    every = list(names)
    shown = ", ".join(every[:most]) + (", …" if len(every) > most else "")
    return f"{len(every)} {kind}{'s' * (len(every) != 1)}{f': {shown}' if every else ''}"


def cut(text: str, width: int) -> str:
    """The text, with dots at its end where it is longer than the width."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def pre_block(lines: Iterable[str]) -> str:
    """HTML of lines in letters of one width, for notebooks."""
    return f'<pre style="line-height:1.25;overflow-x:auto">{html.escape(chr(10).join(lines))}</pre>'


def _array_text(array: Any) -> str:
    shape = "x".join(map(str, array.shape))
    if is_traced(array):
        return f"traced {shape}".strip()
    if int(np.prod(array.shape)) > _FEW:
        return f"<{shape} numbers>"
    numbers = np.asarray(array)
    if not numbers.ndim:
        return short_text(numbers.item())
    return f"({', '.join(short_text(number) for number in numbers.ravel().tolist())})"


def _first_texts(texts: Iterable[str]) -> str:
    every = list(texts)
    if len(every) <= _FEW:
        return ", ".join(every)
    return f"{', '.join(every[:3])}, … {len(every)} in all"


def _is_default(value: Any, default: Any) -> bool:
    """Whether a field has its default; arrays are never compared."""
    if value is default:
        return True
    plain = (bool, int, float, str, tuple, type(None))
    return isinstance(value, plain) and isinstance(default, plain) and not _has_arrays(value) and value == default


def _has_arrays(value: Any) -> bool:
    return isinstance(value, tuple) and any(_has_arrays(entry) or hasattr(entry, "dtype") for entry in value)
