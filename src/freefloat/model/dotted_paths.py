"""Dotted paths: every number of a spacecraft is named: `base.mass`, `arm.2.inertia`, `elbow.limits.rate`.

Where a joint, wheel or frame shares a body's name, the field decides which of them is meant. Where both have the
field, the path names the kind: `panel.joint.damping` and `panel.body.damping`.
"""

import dataclasses
import difflib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from freefloat.model.craft_checks import require_possible_group
from freefloat.model.modal import require_possible_body
from freefloat.model.motors import require_rotors
from freefloat.model.parts import RigidBody
from freefloat.model.spacecraft import Spacecraft
from freefloat.values.checks import require_numbers
from freefloat.values.errors import ModelError

_KINDS = {"bodies": "body", "joints": "joint", "wheels": "wheel", "frames": "frame"}


def _number_fields(part: Any, before: str = "") -> Iterator[str]:
    """Dotted names of the fields of a part that are numbers: `mass`, `limits.rate`, `tip.position` of a node."""
    for field in dataclasses.fields(part):
        if field.metadata.get("static"):
            continue
        inner = getattr(part, field.name)
        if isinstance(inner, tuple):
            for node in inner:
                yield from _number_fields(node, f"{before}{node.name}.")
        elif dataclasses.is_dataclass(inner):
            yield from _number_fields(inner, f"{before}{field.name}.")
        elif inner is not None:
            yield before + field.name


def _number_places(craft: Spacecraft) -> dict[str, list[tuple[str, int, str]]]:
    """(group, index, field) of every number, by its short path and by that with its kind."""
    found: dict[str, list[tuple[str, int, str]]] = {}
    for group, kind in _KINDS.items():
        for index, part in enumerate(getattr(craft, group)):
            for field in _number_fields(part):
                for path in (f"{part.name}.{field}", f"{part.name}.{kind}.{field}"):
                    found.setdefault(path, []).append((group, index, field))
    return found


def _locate_number(craft: Spacecraft, path: str) -> tuple[str, int, str]:
    """(group, index, field) of the one part that has this number."""
    path, places = str(path), _number_places(craft)
    found = places.get(path, [])
    if len(found) == 1:
        return found[0]
    if found:
        choices = [f"{getattr(craft, g)[i].name}.{_KINDS[g]}.{field}" for g, i, field in found]
        raise ModelError(f"Spacecraft '{craft.name}' has more than one number '{path}'. Say {' or '.join(choices)}.")
    close = difflib.get_close_matches(path, all_paths(craft), n=5, cutoff=0.5)
    hint = f"Did you mean {', '.join(close)}?" if close else f"Paths look like {all_paths(craft)[0]}."
    raise ModelError(f"Spacecraft '{craft.name}' has no number '{path}'. {hint}")


def all_paths(craft: Spacecraft) -> list[str]:
    """Every dotted path of a spacecraft, with the kind where two parts share the rest of the path."""
    parts = [
        (part.name, kind, f) for g, kind in _KINDS.items() for part in getattr(craft, g) for f in _number_fields(part)
    ]
    shared = Counter(f"{name}.{field}" for name, _, field in parts)
    return [f"{n}.{field}" if shared[f"{n}.{field}"] == 1 else f"{n}.{kind}.{field}" for n, kind, field in parts]


def _field_value(part: Any, field: str) -> Any:
    node, rest = _node_of(part, field)
    if node is not None:
        return _field_value(node, rest)
    for name in field.split("."):
        part = getattr(part, name)
    return part


def _replace_field(part: Any, field: str, new: Any) -> Any:
    node, rest = _node_of(part, field)
    if node is not None:
        nodes = tuple(_replace_field(other, rest, new) if other is node else other for other in part.nodes)
        return dataclasses.replace(part, nodes=nodes)
    name, _, rest = field.partition(".")
    return dataclasses.replace(part, **{name: _replace_field(getattr(part, name), rest, new) if rest else new})


def _node_of(part: Any, field: str) -> tuple[Any, str]:
    """The node of a flexible body that a field belongs to, and the field of the node; None and the field otherwise."""
    for node in getattr(part, "nodes", ()):
        if field in (f"{node.name}.{own}" for own in _number_fields(node)):
            return node, field.removeprefix(f"{node.name}.")
    return None, field


def value_at(craft: Spacecraft, path: str) -> Any:
    """The number at a dotted path."""
    group, index, field = _locate_number(craft, path)
    return _field_value(getattr(craft, group)[index], field)


def replace(craft: Spacecraft, path: str, new: Any) -> Spacecraft:
    """Copy of a spacecraft with another number at a path; its shape must stay, and bodies must stay physical."""
    group, index, field = _locate_number(craft, path)
    parts = list(getattr(craft, group))
    old = _field_value(parts[index], field)
    new = require_numbers(f"'{path}'", new, "", allow_infinite=True) if isinstance(new, (list, tuple)) else new
    new = float(new) if isinstance(new, int) else new
    if np.shape(new) != np.shape(old):
        raise ModelError(f"'{path}' has shape {np.shape(old)}, got {np.shape(new)}.")
    try:
        part = parts[index] = _replace_field(parts[index], field, new)
    except ValueError as error:  # limits and placements have no name of their owner
        raise error if f"'{parts[index].name}'" in str(error) else ModelError(f"'{path}': {error}") from None
    require_possible_body(part)
    changed = dataclasses.replace(craft, **{group: tuple(parts)})
    if isinstance(part, RigidBody):
        require_possible_group(changed, part.name)
    carrier = {"bodies": part.name, "wheels": getattr(part, "body", None), "joints": getattr(part, "parent", None)}
    if (name := carrier.get(group)) is not None:
        require_rotors(changed, name)
    return changed
