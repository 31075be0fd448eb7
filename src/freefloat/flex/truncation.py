"""Modal truncation, with the static answer of what is left out kept where requested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import splu

from freefloat.flex.points import moving_rows
from freefloat.flex.spectrum import natural_modes
from freefloat.flex.structure import Structure
from freefloat.values.errors import ModelError


def truncate_modes(structure: Structure, modes: int | Sequence[int], *, residual: Sequence[str] = ()) -> Structure:
    """The structure with its lowest natural modes (or those of given numbers, from 1), unit modal mass.

    `residual` names places: for a static force and torque there along every axis the truncated structure then bends
    exactly as the full one. Each adds up to six residual modes, at high frequencies.
    """
    numbers = list(range(1, modes + 1)) if isinstance(modes, int) else sorted(set(modes))
    if numbers and numbers[0] < 1:
        raise ModelError(f"Modes of '{structure.name}' are numbered from 1. There is no mode {numbers[0]}.")
    omega, shapes = natural_modes(structure, numbers[-1]) if numbers else (np.zeros(0), _no_shapes(structure))
    kept = shapes[:, [k - 1 for k in numbers]]
    names = tuple(f"mode{k}" for k in numbers)
    squared = omega[[k - 1 for k in numbers]] ** 2
    if residual:
        extra, extra_squared = _residual_shapes(structure, kept, residual)
        kept = np.hstack([kept, extra])
        squared = np.concatenate([squared, extra_squared])
        names += tuple(f"residual{k + 1}" for k in range(extra.shape[1]))
    smaller = structure.project(kept, names)
    # Orthogonal by construction: what the projection leaves beside the diagonal is rounding.
    return replace(smaller, stiffness=np.diag(squared))


def _no_shapes(structure: Structure) -> np.ndarray:
    return np.zeros((len(structure.coordinates), 0))


def _residual_shapes(structure: Structure, kept: np.ndarray, places: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Static answers to unit loads at places, made orthogonal to the kept modes and to each other."""
    loads = np.vstack([structure.place(name).motion for name in places]).T
    loads = loads[:, moving_rows(loads.T)]
    mass = structure.mass_matrix()
    static = _static_answer(structure, loads)
    static = static - kept @ (kept.T @ (mass @ static))
    static = static - kept @ (kept.T @ (mass @ static))  # again: the first pass leaves rounding
    gram, full = static.T @ (mass @ static), np.sqrt(np.diag(static.T @ (mass @ static)))
    values, vectors = eigh(gram / np.multiply.outer(full, full))
    good = values > 1e-10 * values[-1]  # loads whose answer the kept modes already hold add nothing
    basis = static @ ((vectors[:, good] / np.sqrt(values[good])) / full[:, None])
    squared, turn = eigh(basis.T @ (structure.stiffness @ basis), basis.T @ (mass @ basis))
    return basis @ turn, squared


def _static_answer(structure: Structure, loads: np.ndarray) -> np.ndarray:
    stiffness, solved = structure.stiffness, np.zeros_like(loads)
    try:
        solved = splu(stiffness.tocsc()).solve(loads) if sp.issparse(stiffness) else np.linalg.solve(stiffness, loads)
        missing = np.max(np.abs(stiffness @ solved - loads), initial=0.0)
    except (np.linalg.LinAlgError, RuntimeError):
        missing = np.inf
    if not missing < 1e-6 * np.max(np.abs(loads)):
        raise ModelError(
            f"'{structure.name}' is free to move, so it has no static answer. Hold it, or leave out residual."
        )
    return solved
