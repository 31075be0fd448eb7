"""What is wrong with the value of a setting, in a few words with its unit."""

from __future__ import annotations

from typing import Any

_BOUNDS = {"greater_than": ("> ", "gt"), "greater_than_equal": ("at least ", "ge")}
_BOUNDS |= {"less_than": ("< ", "lt"), "less_than_equal": ("at most ", "le")}
_KINDS = {
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "finite_number": "a finite number",
    "string_type": "text",
    "missing": "given",
}


def fault_text(error: Any, unit: str) -> str:
    """Text of one error of pydantic: `must be > 0 m/s`."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"must be {words}{context[key]:g} {unit}".rstrip()
    if kind == "literal_error":
        return f"must be {context['expected']}"
    if kind in _KINDS:
        return f"must be {_KINDS[kind]}{f' [{unit}]' if unit and 'number' in _KINDS[kind] else ''}"
    words = error["msg"].removeprefix("Value error, ")
    return words.replace("Input should be", "must be")
