"""Matrices whose rows and columns carry labels (grid, component), as structural analysts exchange them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.values.errors import ModelError

Label = tuple[int, int]  # grid and component 1-6; component 0 is a scalar point, a modal coordinate


@dataclass(frozen=True)
class LabelledMatrix:
    """A matrix by labels; rows or columns that are zero may be absent."""

    name: str
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    values: np.ndarray

    def over(self, labels: tuple[Label, ...]) -> np.ndarray:
        """The square matrix over given labels; terms are placed by label, absent ones are zero."""
        index = {label: k for k, label in enumerate(labels)}
        strange = [label for label in (*self.rows, *self.columns) if label not in index]
        if strange:
            raise ModelError(f"Matrix '{self.name}' has a term at (grid, component) {strange[0]}, which is not known.")
        full = np.zeros((len(labels), len(labels)))
        full[np.ix_([index[r] for r in self.rows], [index[c] for c in self.columns])] = self.values
        return full


def all_labels(*matrices: LabelledMatrix) -> tuple[Label, ...]:
    """Every label that occurs in any of the matrices, grids first, then scalar points, each ascending."""
    found = {label for matrix in matrices for label in (*matrix.rows, *matrix.columns)}
    return tuple(sorted(found, key=lambda label: (label[1] == 0, label)))
