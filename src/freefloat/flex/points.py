"""A body's mass as quadrature points that move with its coordinates, and the modal integrals over them.

Every flexible body is brought to this form: (mass, rest position, shape functions) of enough points that the sums are
the integrals. A section with inertia about the axis is a ring of four points, a rigid body is six points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class MassPoints:
    """Points of mass; row 3 k + a of `shapes` is component a of the shape functions at point k."""

    mass: np.ndarray  # (points,) [kg]
    position: np.ndarray  # (points, 3) at rest [m]
    shapes: Any  # (3 points, coordinates), dense or sparse
    station: np.ndarray | None = None  # (points,) where along a beam's axis the point hangs [m]

    def project(self, basis: np.ndarray) -> MassPoints:
        """These points moving with fewer coordinates."""
        return MassPoints(self.mass, self.position, self.shapes @ basis, self.station)

    def place_at(self, R: np.ndarray, p: np.ndarray) -> MassPoints:
        """These points in another frame."""
        turn = sp.kron(sp.eye_array(len(self.mass)), R, format="csr")
        return MassPoints(self.mass, self.position @ R.T + p, turn @ self.shapes, self.station)

    def mass_matrix(self) -> Any:
        """Mass matrix of the coordinates: sum of m phi_i . phi_j."""
        weights = np.repeat(self.mass, 3)
        if sp.issparse(self.shapes):
            return self.shapes.T @ sp.diags_array(weights) @ self.shapes
        return self.shapes.T @ (weights[:, None] * self.shapes)


def rigid_points(mass: float, com: np.ndarray, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Masses and positions of six points with a rigid body's mass, centre of mass and inertia."""
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    spread, axes = np.linalg.eigh(second)
    if mass <= 0.0 or spread[0] < -1e-9 * max(spread[-1], 1e-300):
        raise ModelError(
            f"A rigid body of {mass:g} kg with principal second moments {np.array2string(spread, precision=4)} kg m2 "
            "cannot be. Give a positive mass and an inertia that obeys the triangle inequality."
        )
    arms = axes * np.sqrt(3.0 * np.maximum(spread, 0.0) / mass)
    return np.full(6, mass / 6.0), com + np.vstack([arms.T, -arms.T])


@dataclass(frozen=True)
class Integrals:
    """The modal integrals of docs/theory-flexible.md about the origin of the frame, at rest."""

    mass: float
    moment: np.ndarray
    second_moment: np.ndarray
    modal_moment: np.ndarray
    mixed_moment: np.ndarray
    pair_moment: np.ndarray

    @property
    def modal_mass(self) -> np.ndarray:
        """Modal mass matrix: sum of m phi_i . phi_j."""
        return np.einsum("ijaa->ij", self.pair_moment)


def integrals(points: MassPoints) -> Integrals:
    """Modal integrals as sums over points."""
    m, x, n = points.mass, points.position, points.shapes.shape[1]
    phi = dense(points.shapes).reshape(len(m), 3, n)
    pair = np.einsum("k,kai,kbj->ijab", m, phi, phi, optimize=True)
    size = np.sqrt(np.einsum("iiaa->i", pair))  # of each shape; bounds every integral by Cauchy and Schwarz
    reach = np.sqrt(np.einsum("k,ka,ka->", m, x, x))
    total = float(np.sum(m))
    return Integrals(
        mass=total,
        moment=m @ x,
        second_moment=np.einsum("k,ka,kb->ab", m, x, x),
        modal_moment=drop_rounding(np.einsum("k,kai->ai", m, phi), np.sqrt(total) * size),
        mixed_moment=drop_rounding(np.einsum("k,ka,kbi->iab", m, x, phi, optimize=True), reach * size[:, None, None]),
        pair_moment=drop_rounding(pair, np.multiply.outer(size, size)[:, :, None, None]),
    )


def drop_rounding(values: np.ndarray, scale: np.ndarray | float) -> np.ndarray:
    """The values, with those that are only rounding made zero: compiled code leaves such terms out."""
    return np.where(np.abs(values) < 1e-13 * scale, 0.0, values)


def moving_rows(rows: np.ndarray) -> np.ndarray:
    """Which rows are more than the rounding that a turned frame leaves where there is no motion."""
    size = np.linalg.norm(rows, axis=1)
    return size > 1e-12 * np.max(size, initial=1e-300)


def dense(matrix: Any) -> np.ndarray:
    """A matrix as a NumPy array."""
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)


def match_storage(model: Any, matrix: np.ndarray) -> Any:
    """The matrix, made sparse where `model` is sparse."""
    return sp.csr_array(matrix) if sp.issparse(model) else matrix
