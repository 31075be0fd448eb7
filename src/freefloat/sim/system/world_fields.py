"""Fields act in a whole world: one of each kind, the same for all spacecraft, given once or for each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from freefloat.model import Field, World
from freefloat.values.arrays import is_traced
from freefloat.values.errors import ModelError

_REMEDY = "A field acts on every spacecraft of a world: give it once, without on=..."


def one_field_of_each_kind(world: World, parts: tuple[Any, ...]) -> Iterator[Any]:
    """The parts, with fields that are given for each spacecraft joined into one; fields that differ raise an error."""
    made: set[type[Field]] = set()
    for part in parts:
        if not isinstance(part, Field):
            yield part
        elif type(part) not in made:
            made.add(type(part))
            yield _whole_field(world, [other for other in parts if type(other) is type(part)])


def _whole_field(world: World, fields: list[Field]) -> Field:
    first, *others = fields
    if others and (world.single or any(not field.on for field in fields)):
        raise ModelError(f"{first.title} is given {len(fields)} times. {_REMEDY}")
    if world.single or not first.on:
        return first
    given = [world.names[_index(world, field)] for field in fields]
    if twice := [name for name in world.names if given.count(name) > 1]:
        raise ModelError(f"{first.title} is given {given.count(twice[0])} times for '{twice[0]}'. {_REMEDY}")
    if missing := [name for name in world.names if name not in given]:
        raise ModelError(f"{first.title} is on {', '.join(given)}, but not on {', '.join(missing)}. {_REMEDY}")
    for name, other in zip(given[1:], others, strict=True):
        if difference := _difference(first, other):
            raise ModelError(f"{first.title} on '{given[0]}' and on '{name}' differ: {difference}. {_REMEDY}")
    return dataclasses.replace(first, on="", name="")


def _index(world: World, field: Field) -> int:
    try:
        return world.index(field.on)
    except ModelError as error:
        raise ModelError(f"{field.title}: {error}") from None


def _difference(first: Field, other: Field) -> str:
    """Where two fields differ, apart from their spacecraft; empty if they are the same."""
    mine, theirs = (
        jax.tree_util.tree_flatten_with_path(dataclasses.replace(f, on="", name="")) for f in (first, other)
    )
    if mine[1] != theirs[1]:
        return "another kind of orbit, or other settings"
    for (path, a), (_, b) in zip(mine[0], theirs[0], strict=True):
        if a is not b and (is_traced(a, b) or not np.array_equal(a, b)):
            return f"{jax.tree_util.keystr(path).lstrip('.')} is {a} and {b}"
    return ""
