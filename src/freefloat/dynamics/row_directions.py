"""Directions that rows hold: six numbers each, along x, y, z and about x, y, z of the first frame."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from freefloat.values import ModelError
from freefloat.values.arrays import ArrayLike, Vec3
from freefloat.values.checks import require_numbers

Directions: TypeAlias = tuple[tuple[float, ...], ...]

GRASP: Directions = tuple(map(tuple, np.eye(6).tolist()))  # all six
POINT: Directions = GRASP[:3]  # a ball joint, or a contact that sticks


def hinge(axis: ArrayLike) -> Directions:
    """Five directions: all but a turn about an axis of the first frame."""
    across = _across(_unit("hinge", axis))
    return (*POINT, *((0.0, 0.0, 0.0, *a.tolist()) for a in across))


def normal(direction: ArrayLike) -> Directions:
    """One direction: along a normal of the first frame, which points to the second."""
    return ((*_unit("normal", direction).tolist(), 0.0, 0.0, 0.0),)


def contact(direction: ArrayLike) -> Directions:
    """Three directions: along the normal, and two across it for friction."""
    n = _unit("contact", direction)
    return (*normal(n), *((*a.tolist(), 0.0, 0.0, 0.0) for a in _across(n)))


def free_axis(directions: Directions) -> Vec3 | None:
    """The axis about which a hinge turns: where just two turns are held, the axis of the free one."""
    turns = np.array(directions)[:, 3:]
    _, sizes, axes = np.linalg.svd(turns, full_matrices=True)
    return axes[2] if np.sum(sizes > 1e-9) == 2 else None


def _across(axis: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors that make a right-handed frame with an axis."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    first = np.cross(axis, helper)
    first = first / np.linalg.norm(first)
    return first, np.cross(axis, first)


def _unit(what: str, axis: ArrayLike) -> np.ndarray:
    given = np.asarray(require_numbers(what, axis, ""))
    if given.shape != (3,) or not np.any(given):
        raise ModelError(f"{what} needs a direction x, y, z that is not zero, got {given.tolist()}.")
    return given / np.linalg.norm(given)
