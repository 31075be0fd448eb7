"""Joining structures at places, and holding places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag, null_space

from freefloat.flex.points import MassPoints, dense, moving_rows
from freefloat.flex.structure import Structure, StructurePlace
from freefloat.values.errors import ModelError


def hold_places(structure: Structure, *places: str) -> Structure:
    """The structure with places fixed in the body frame: neither moving nor turning."""
    rows = np.vstack([structure.place(name).motion for name in places])
    basis = _kernel(rows)
    return structure.project(basis, tuple(f"free{k + 1}" for k in range(basis.shape[1])))


def join_structures(first: Structure, second: Structure, *, at: tuple[str, str], name: str = "") -> Structure:
    """Two structures in one frame, rigidly joined where a place of each coincides.

    Places become `first.tip`, `second.tip`, ... by the structures' names.
    """
    a, b = first.place(at[0]), second.place(at[1])
    gap = float(np.linalg.norm(a.position - b.position))
    if gap > 1e-6 * max(1.0, float(np.linalg.norm(a.position))):
        raise ModelError(
            f"Places '{at[0]}' of '{first.name}' and '{at[1]}' of '{second.name}' are {gap:g} m apart. "
            "Put the structures into one frame with place_at(...) first."
        )
    if first.name == second.name:
        raise ModelError(f"Both structures are called '{first.name}'. Give them different names.")
    n, m = len(first.coordinates), len(second.coordinates)
    whole = Structure(
        name=name or f"{first.name}+{second.name}",
        coordinates=(*first.coordinates, *second.coordinates),
        points=_stack(_pad(first.points, 0, m), _pad(second.points, n, 0)),
        stiffness=block_diag(dense(first.stiffness), dense(second.stiffness)),
        places=(*_rename_places(first, 0, m), *_rename_places(second, n, 0)),
        riders=tuple(
            replace(rider, place=f"{part.name}.{rider.place}") for part in (first, second) for rider in part.riders
        ),
    )
    basis = _kernel(np.hstack([a.motion, -b.motion]))
    return whole.project(basis, tuple(f"joined{k + 1}" for k in range(basis.shape[1])))


def _kernel(rows: np.ndarray) -> np.ndarray:
    """A basis of what the rows leave free, rows scaled alike."""
    rows = rows[moving_rows(rows)]
    if not len(rows):
        return np.eye(rows.shape[1])
    return null_space(rows / np.linalg.norm(rows, axis=1)[:, None])


def _pad(points: MassPoints, before: int, after: int) -> MassPoints:
    shapes = np.pad(dense(points.shapes), ((0, 0), (before, after)))
    return MassPoints(points.mass, points.position, shapes)


def _stack(a: MassPoints, b: MassPoints) -> MassPoints:
    return MassPoints(
        np.concatenate([a.mass, b.mass]), np.vstack([a.position, b.position]), np.vstack([a.shapes, b.shapes])
    )


def _rename_places(part: Structure, before: int, after: int) -> tuple[StructurePlace, ...]:
    pad = ((0, 0), (before, after))
    return tuple(
        StructurePlace(f"{part.name}.{p.name}", p.position, np.pad(p.translation, pad), np.pad(p.rotation, pad))
        for p in part.places
    )
