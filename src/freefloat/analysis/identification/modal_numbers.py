"""Natural frequencies and damping ratios of a flexible body, held at its frame, as numbers that can be estimated.

With mass-normalised shapes Phi of the nominal body, K = M Phi diag(w^2) Phi^T M and D likewise with 2 zeta w: new
frequencies and ratios do not change the shapes, nor the damping that couples the modes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from freefloat.analysis.identification.inertial_numbers import NumberColumns
from freefloat.model import ModalBody
from freefloat.values.arrays import Vector


def modal_columns(path: str, body: ModalBody, *, ratios: bool) -> tuple[NumberColumns, Callable[..., Any]]:
    """Columns of the frequencies [rad/s] or damping ratios of a body, and the function that makes its matrices."""
    shapes, frequencies, zetas = _modes(body)
    names = tuple(f"{path}.{k + 1}" for k in range(body.modes))
    values, unit = (zetas, "1") if ratios else (frequencies, "rad/s")
    scale = tuple(abs(float(x)) or 1e-2 for x in values)
    make = partial(_with_ratios if ratios else _with_frequencies, rows=np.asarray(body.modal_mass) @ shapes)
    return (names, (unit,) * body.modes, tuple(map(float, values)), scale), make


def _modes(body: ModalBody) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from scipy.linalg import eigh

    squared, shapes = eigh(np.asarray(body.stiffness), np.asarray(body.modal_mass))
    frequencies = np.sqrt(np.maximum(squared, 0.0))
    damping = np.einsum("ik,ij,jk->k", shapes, np.asarray(body.damping), shapes)
    return shapes, frequencies, damping / (2.0 * np.where(frequencies > 0.0, frequencies, 1.0))


def _with_frequencies(old: list[jax.Array], values: Vector, *, rows: np.ndarray) -> list[jax.Array]:
    """Stiffness and damping matrices with new frequencies [rad/s]; the damping ratios do not change."""
    stiffness, damping = old
    squared, rates = _diagonal(stiffness, rows), _diagonal(damping, rows)
    return [
        stiffness + (rows * (values**2 - squared)) @ rows.T,
        damping + (rows * (rates * values / squared**0.5 - rates)) @ rows.T,
    ]


def _with_ratios(old: list[jax.Array], values: Vector, *, rows: np.ndarray) -> list[jax.Array]:
    stiffness, damping = old
    rates = 2.0 * values * _diagonal(stiffness, rows) ** 0.5
    return [stiffness, damping + (rows * (rates - _diagonal(damping, rows))) @ rows.T]


def _diagonal(matrix: jax.Array, rows: np.ndarray) -> jax.Array:
    """Diagonal of Phi^T A Phi, where `rows` = M Phi is the inverse transpose of Phi."""
    shapes = np.linalg.inv(rows).T
    return ((matrix @ shapes) * shapes).sum(axis=0)
