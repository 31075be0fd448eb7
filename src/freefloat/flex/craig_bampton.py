"""Craig-Bampton reduction: interface motions as coordinates, plus modes with the interface fixed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, null_space

from freefloat.flex.points import dense, moving_rows
from freefloat.flex.structure import Structure
from freefloat.values.errors import ModelError

_COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")


def craig_bampton(structure: Structure, interface: Sequence[str], modes: int) -> Structure:
    """Coordinates: every motion of the interface places (`tip.y`, `tip.rz`, ...), then `modes` fixed-interface modes.

    A place's motion that the structure does not have (axial motion of a beam without it) is left out.
    """
    basis, names = craig_bampton_basis(structure, interface, modes)
    return structure.project(basis, names)


def craig_bampton_basis(
    structure: Structure, interface: Sequence[str], modes: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The reduced coordinates' shapes as columns over the structure's own, and their names."""
    names, rows = _interface_motions(structure, interface)
    stiffness, mass = dense(structure.stiffness), dense(structure.mass_matrix())
    particular, inner = np.linalg.pinv(rows), null_space(rows)
    if modes > inner.shape[1]:
        raise ModelError(f"'{structure.name}' has {inner.shape[1]} modes inside its interface, not {modes}.")
    inner_stiffness = inner.T @ stiffness @ inner
    try:
        lift = cho_solve(cho_factor(inner_stiffness), inner.T @ stiffness @ particular)
    except LinAlgError:
        raise _not_held_error(structure, interface) from None
    squared, shapes = eigh(inner_stiffness, inner.T @ mass @ inner)
    if squared[0] < 1e-10 * squared[-1] and np.linalg.cond(_scale_to_unit_diagonal(inner_stiffness)) > 1e13:
        raise _not_held_error(structure, interface)
    fixed = inner @ shapes[:, :modes]
    largest = fixed[np.argmax(np.abs(fixed), axis=0), np.arange(modes)]
    basis = np.hstack([particular - inner @ lift, fixed * np.sign(largest)])
    return basis, (*names, *(f"fixed{k + 1}" for k in range(modes)))


def _interface_motions(structure: Structure, interface: Sequence[str]) -> tuple[list[str], np.ndarray]:
    names, rows = [], []
    for name in interface:
        motion = structure.place(name).motion
        for k in np.flatnonzero(moving_rows(motion)):
            names.append(f"{name}.{_COMPONENTS[k]}")
            rows.append(motion[k])
    if not rows:
        raise ModelError(
            f"Interface {', '.join(interface) or '(none)'} of '{structure.name}' does not move at all. "
            "Name places that do, or use truncate_modes(...)."
        )
    rows = np.array(rows)
    if np.linalg.matrix_rank(rows / np.linalg.norm(rows, axis=1)[:, None]) < len(rows):
        raise ModelError(f"Interface motions of '{structure.name}' depend on each other. Name each place once.")
    return names, rows


def _scale_to_unit_diagonal(matrix: np.ndarray) -> np.ndarray:
    size = np.sqrt(np.diag(matrix))
    return matrix / np.multiply.outer(size, size)


def _not_held_error(structure: Structure, interface: Sequence[str]) -> ModelError:
    return ModelError(
        f"'{structure.name}' can still move without strain when {', '.join(interface)} is fixed. "
        "Add interface places until it is held."
    )
