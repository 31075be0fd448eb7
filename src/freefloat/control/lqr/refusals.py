"""The error of a design that is impossible, and the checks of matrices that every design begins with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.values.checks import require_numbers
from freefloat.values.errors import ModelError

_BRYSON = "Give each number 1/(its largest acceptable value)^2."
_ALIKE = 1e-10  # how far a weight may be from symmetric, relative to its largest element


class DesignError(ModelError):
    """Error of a design without a reliable gain: the message says why, `modes` names what is not reached or seen."""

    def __init__(self, message: str, modes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.modes = tuple(modes)

    @classmethod
    def from_several(cls, errors: Sequence[ValueError]) -> DesignError:
        """One error with the messages of several, one a line, and the modes of all."""
        modes = (mode for error in errors for mode in getattr(error, "modes", ()))
        return cls("\n".join(map(str, errors)), tuple(dict.fromkeys(modes)))


def require_matrix(what: str, value: object, shape: tuple[int, int], words: str) -> np.ndarray:
    """Finite matrix of a shape, which `words` describe in the error."""
    given = np.asarray(require_numbers(what, value, ""), dtype=float)
    if given.shape != shape:
        raise ModelError(f"{what} must be {shape[0]} x {shape[1]}, {words}, got shape {given.shape}.")
    return given


def require_names(what: str, names: Sequence[str], count: int) -> tuple[str, ...]:
    """Names, one for each row and none twice; an error otherwise."""
    found = tuple(names)
    if len(found) != count:
        raise ModelError(f"{what}: {count} names are needed, got {len(found)}.")
    if repeated := sorted({name for name in found if found.count(name) > 1}):
        raise ModelError(f"{what}: '{repeated[0]}' is there twice. Give every one a name of its own.")
    return found


def require_weight(what: str, value: object, names: Sequence[str], *, definite: bool) -> np.ndarray:
    """Symmetric weight over named quantities: from a matrix, its diagonal, or one number for all.

    It must be positive definite or, where `definite` is False, semidefinite.
    """
    size, given = len(names), np.asarray(require_numbers(what, value, ""), dtype=float)
    if given.ndim < 2:
        if given.ndim == 1 and len(given) != size:
            raise ModelError(
                f"{what}: {size} weights are needed, one for each of {_name_list(names)}, got {len(given)}."
            )
        given = np.diag(np.broadcast_to(given, size)).astype(float)
    given = require_matrix(what, given, (size, size), f"one row for each of {_name_list(names)}")
    largest = np.max(np.abs(given), initial=0.0)
    off = np.abs(given - given.T)
    if np.max(off, initial=0.0) > _ALIKE * largest:
        i, j = (int(k) for k in np.unravel_index(np.argmax(off), off.shape))
        raise ModelError(
            f"{what} must be symmetric: [{names[i]}, {names[j]}] is {given[i, j]:g} and its mirror {given[j, i]:g}. "
            f"Give ({what} + {what}^T)/2."
        )
    given = 0.5 * (given + given.T)
    smallest = float(np.min(np.linalg.eigvalsh(_unit_diagonal(given)), initial=1.0))
    if definite and smallest <= 1e-14:
        worst = names[int(np.argmin(np.diag(given)))]
        raise ModelError(
            f"{what} must be positive definite: every direction needs a weight (least: {worst}). {_BRYSON}"
        )
    if not definite and smallest < -1e-10:
        raise ModelError(f"{what} must not be negative: a scaled eigenvalue is {smallest:.3g}. {_BRYSON}")
    return given


def weight_rows(weight: np.ndarray) -> np.ndarray:
    """Rows with rows^T rows = weight, as few as possible; units do not matter."""
    diagonal = np.diag(weight)
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(_unit_diagonal(weight))
    kept = values > 1e-11 * max(float(np.max(values, initial=0.0)), np.finfo(float).tiny)  # the rest is rounding
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T * scale


def _unit_diagonal(matrix: np.ndarray) -> np.ndarray:
    """Matrix scaled so that units do not matter; a row without a positive diagonal is left as it is."""
    diagonal = np.diag(matrix)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    return scale[:, None] * matrix * scale


def _name_list(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
