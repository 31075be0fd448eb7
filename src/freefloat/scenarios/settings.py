"""Settings of a scenario: every field with its unit, range and present value, for forms and tables."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import Field
from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from freefloat.scenarios.scenario import Scenario

# Units by the end of a field's name.
_SUFFIXES = {"_deg_s": "deg/s", "_deg": "deg", "_hz": "Hz", "_km": "km", "_mm": "mm", "_ms": "ms"}


@dataclass(frozen=True)
class Unit:
    """The unit of a field: `duration: Annotated[Positive, Unit("s")]`."""

    name: str


Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Seconds = Annotated[Positive, Unit("s")]


@dataclass(frozen=True)
class Setting:
    """One field of a scenario, by its dotted path."""

    path: str
    kind: Literal["number", "integer", "switch", "choice", "other"]
    value: Any
    unit: str = ""
    range: str = ""  # in words: "> 0"
    choices: tuple[str, ...] = ()
    optional: bool = False  # None is allowed


def settings_of(scenario: Scenario) -> list[Setting]:
    """All settings of a scenario in the order of its fields; nested records have dotted paths."""
    return list(_record_settings(scenario, ""))


def optional_records(scenario: Scenario) -> dict[str, list[Setting]]:
    """Settings of the optional records that a scenario leaves out, such as a servo or a camera, by their path."""
    found: dict[str, list[Setting]] = {}
    for name, hint in get_type_hints(type(scenario), include_extras=True).items():
        if name in scenario.__dict__ and getattr(scenario, name) is None:
            for kind in get_args(hint):
                if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                    found[name] = list(_record_settings(kind(), f"{name}."))
    return found


def _record_settings(record: Any, prefix: str) -> Iterator[Setting]:
    hints = get_type_hints(type(record), include_extras=True)
    for field in dataclasses.fields(record):
        path, value = prefix + field.name, getattr(record, field.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from _record_settings(value, f"{path}.")
        else:
            yield _setting(path, hints[field.name], value)


def _setting(path: str, hint: Any, value: Any) -> Setting:
    optional, notes = False, []
    while get_origin(hint) in (Annotated, Union, types.UnionType):
        inner, *rest = get_args(hint)
        if get_origin(hint) is Annotated:
            notes += rest
        else:
            optional = type(None) in (inner, *rest)
            inner = next(kind for kind in (inner, *rest) if kind is not type(None))
        hint = inner
    unit = next((note.name for note in notes if isinstance(note, Unit)), "")
    unit = unit or next((unit for end, unit in _SUFFIXES.items() if path.endswith(end)), "")
    choices = tuple(map(str, get_args(hint))) if get_origin(hint) is Literal else ()
    kinds: dict[Any, Any] = {float: "number", int: "integer", bool: "switch"}
    return Setting(
        path=path,
        kind="choice" if choices else kinds.get(hint, "other"),
        value=value,
        unit=unit,
        range=_range_text(notes),
        choices=choices,
        optional=optional,
    )


def _range_text(notes: list[Any]) -> str:
    limits = [limit for note in notes for limit in (note.metadata if isinstance(note, FieldInfo) else [note])]
    signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
    words = [
        f"{sign} {getattr(limit, name):g}"
        for limit in limits
        for name, sign in signs.items()
        if getattr(limit, name, None) is not None
    ]
    return ", ".join(words)
