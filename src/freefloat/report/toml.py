"""Plain data as TOML text: numbers, strings, booleans, lists and nested tables. None is left out."""

import json
from collections.abc import Mapping
from typing import Any


def to_toml(data: Mapping[str, Any], table: str = "") -> str:
    """TOML that `tomllib` reads back to the same data."""
    values = {k: v for k, v in data.items() if v is not None and not isinstance(v, Mapping)}
    tables = {k: v for k, v in data.items() if isinstance(v, Mapping) and v}
    lines = [f"[{table}]"] if table and values else []
    lines += [f"{_key(key)} = {_value(value)}" for key, value in values.items()]
    text = "\n".join(lines) + "\n" if lines else ""
    for key, value in tables.items():
        text += "\n" + to_toml(value, f"{table}.{_key(key)}" if table else _key(key))
    return text


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)
