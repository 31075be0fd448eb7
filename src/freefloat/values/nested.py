"""Nested tables as dotted paths."""

from collections.abc import Mapping
from typing import Any

_DEEPEST = 30  # tables in tables: no description of anything is deeper


def flatten(data: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """`{"servo": {"bandwidth": 30}}` as `{"servo.bandwidth": 30}`."""
    if depth > _DEEPEST:
        raise ValueError(f"tables are nested more than {_DEEPEST} deep at '{prefix[:40]}...'")
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= flatten(value, f"{prefix}{key}.", depth + 1) if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
