"""Dotted paths: every number of a spacecraft is named: `base.mass`, `arm.2.inertia`, `elbow.limits.rate`."""

import dataclasses
import difflib
from collections.abc import Iterator
from typing import Any

import numpy as np

from freefloat.model.modal import require_possible_body
from freefloat.model.parts import RigidBody
from freefloat.model.physical_checks import require_physical, require_wheels_fit
from freefloat.model.spacecraft import Spacecraft
from freefloat.values.checks import require_numbers
from freefloat.values.errors import ModelError

_GROUPS = ("bodies", "joints", "wheels", "frames")
# Where a joint or wheel shares a body's name, the field decides which of them is meant.


def _fields(part: Any, before: str = "") -> Iterator[str]:
    """The dotted fields of a part that are numbers: `mass`, `limits.rate`."""
    for field in dataclasses.fields(part):
        if field.metadata.get("static"):
            continue
        inner = getattr(part, field.name)
        if dataclasses.is_dataclass(inner):
            yield from _fields(inner, f"{before}{field.name}.")
        elif inner is not None:
            yield before + field.name


def _find(craft: Spacecraft, path: str) -> tuple[str, int, str]:
    """(group, index, field) of the one part that has this number."""
    path = str(path)
    found = [
        (group, index, field)
        for group in _GROUPS
        for index, part in enumerate(getattr(craft, group))
        if path.startswith(part.name + ".")
        for field in _fields(part)
        if path == f"{part.name}.{field}"
    ]
    if len(found) != 1:
        problem = "no number" if not found else "more than one number"
        close = difflib.get_close_matches(path, all_paths(craft), n=5, cutoff=0.5)
        hint = f"Did you mean {', '.join(close)}?" if close else f"Paths look like {all_paths(craft)[0]}."
        raise ModelError(f"Spacecraft '{craft.name}' has {problem} '{path}'. {hint}")
    return found[0]


def all_paths(craft: Spacecraft) -> list[str]:
    """Every dotted path of a spacecraft."""
    return [f"{part.name}.{field}" for group in _GROUPS for part in getattr(craft, group) for field in _fields(part)]


def _value(part: Any, field: str) -> Any:
    for name in field.split("."):
        part = getattr(part, name)
    return part


def _replace_field(part: Any, field: str, new: Any) -> Any:
    name, _, rest = field.partition(".")
    return dataclasses.replace(part, **{name: _replace_field(getattr(part, name), rest, new) if rest else new})


def value_at(craft: Spacecraft, path: str) -> Any:
    """The number at a dotted path."""
    group, index, field = _find(craft, path)
    return _value(getattr(craft, group)[index], field)


def replace(craft: Spacecraft, path: str, new: Any) -> Spacecraft:
    """A spacecraft that differs in one number; its shape must stay, and a body must stay physical."""
    group, index, field = _find(craft, path)
    parts = list(getattr(craft, group))
    old = _value(parts[index], field)
    new = require_numbers(f"'{path}'", new, "", allow_infinite=True) if isinstance(new, (list, tuple)) else new
    new = float(new) if isinstance(new, int) else new
    if np.shape(new) != np.shape(old):
        raise ModelError(f"'{path}' has shape {np.shape(old)}, got {np.shape(new)}.")
    try:
        part = parts[index] = _replace_field(parts[index], field, new)
    except ValueError as error:  # limits and placements do not know whose they are
        raise error if f"'{parts[index].name}'" in str(error) else ModelError(f"'{path}': {error}") from None
    require_possible_body(part)
    if isinstance(part, RigidBody):
        require_physical(f"Body '{part.name}'", part.mass, part.inertia)
    changed = dataclasses.replace(craft, **{group: tuple(parts)})
    carrier = {"bodies": part.name, "wheels": getattr(part, "body", None)}.get(group)
    if carrier is not None:
        require_wheels_fit(carrier, changed.body(carrier).inertia, changed.wheels_on(carrier))
    return changed
