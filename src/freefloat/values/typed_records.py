"""Check of records from files of unknown origin: whether every field has the type of its annotation."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def require_types(record: Any, what: str) -> None:
    """Raise an error that names a field of another type than it is annotated with."""
    for name, hint in _hints(type(record)).items():
        value = getattr(record, name)
        if not _has_type(value, hint):
            raise ValueError(f"{what}: '{name}' cannot be {value!r:.60}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _has_type(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if origin in (Union, types.UnionType):
        return any(_has_type(value, option) for option in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        kinds = [inner[0]] * len(value) if len(inner) == 2 and inner[1] is ... and isinstance(value, tuple) else inner
        return isinstance(value, tuple) and len(kinds) == len(value) and all(map(_has_type, value, kinds))
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and _has_type(value[key], inner[1]) for key in value
        )
    if hint is None or hint is type(None):
        return value is None
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return isinstance(value, hint) and all(_has_type(getattr(value, n), h) for n, h in _hints(hint).items())
    return isinstance(value, hint)
