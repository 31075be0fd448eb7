"""Placement of a cell beside the orbit in one picture, so that neither hides the other at the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from freefloat.report.solids import triangles
from freefloat.spatial.rotations import rotation_matrix

GAP = 1.0  # between the two [m]


def corners(bodies: Sequence[dict[str, Any]], position: np.ndarray, attitude: np.ndarray) -> np.ndarray:
    """Lowest and highest corner (2, 3) of a box around the drawn bodies [m], for their poses at one instant."""
    points = [position]
    for body, p, quat in zip(bodies, position, attitude, strict=True):
        R = np.asarray(rotation_matrix(np.asarray(quat, dtype=float)))
        points += [p + triangles(shape)[0] @ R.T for shape in body["shapes"]]
    every = np.concatenate(points)
    return np.stack([every.min(axis=0), every.max(axis=0)])


def shift_beside(orbit: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """Shift (3,) of the cell [m], from the corners of both: a gap beside the orbit along -y, centred otherwise."""
    shift = 0.5 * (orbit[0] + orbit[1] - cell[0] - cell[1])
    shift[1] = orbit[0, 1] - GAP - cell[1, 1]
    return shift
