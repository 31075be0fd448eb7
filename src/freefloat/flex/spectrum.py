"""Natural modes of a structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, eigh

from freefloat.flex.points import dense
from freefloat.flex.structure import Structure
from freefloat.values.errors import ModelError

_DENSE_UP_TO = 400  # coordinates; beyond, a few modes are cheaper by shift and invert


def natural_modes(structure: Structure, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest `count` frequencies [rad/s] and their shapes in the structure's coordinates, unit modal mass."""
    available = len(structure.coordinates)
    if not 1 <= count <= available:
        raise ModelError(f"'{structure.name}' has {available} coordinates, so 1 to {available} modes; not {count}.")
    squared, shapes = eigenpairs(structure.stiffness, structure.mass_matrix(), count, structure.name)
    return np.sqrt(np.maximum(squared, 0.0)), shapes


def eigenpairs(stiffness: Any, mass: Any, count: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Lowest eigenvalues and mass-normalised vectors of K x = lambda M x; a vector's largest entry is positive."""
    if sp.issparse(stiffness) and sp.issparse(mass) and stiffness.shape[0] > max(_DENSE_UP_TO, 4 * count):
        # A slightly negative shift also serves structures that are free to move.
        shift = -1e-4 * np.min(stiffness.diagonal() / mass.diagonal())
        start = np.ones(stiffness.shape[0])  # the same answer every time
        squared, shapes = sp.linalg.eigsh(stiffness.tocsc(), count, mass.tocsc(), sigma=shift, v0=start)
    else:
        try:
            squared, shapes = eigh(dense(stiffness), dense(mass), subset_by_index=[0, count - 1])
        except LinAlgError:
            raise ModelError(
                f"The mass matrix of '{name}' is indefinite: some motion has no inertia. Correct its masses."
            ) from None
    order = np.argsort(squared)
    squared, shapes = squared[order], shapes[:, order]
    largest = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(count)]
    return squared, shapes * np.sign(largest)
