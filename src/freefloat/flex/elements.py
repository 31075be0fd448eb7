"""Shape functions of scikit-fem's elements on one reference cell [-1, 1]^d.

The Hermite and Bogner-Fox-Schmit elements of scikit-fem are monomials in mesh coordinates, which costs eight digits on
a 16 x 16 mesh. On a single cell around the origin they are exact to rounding; cells of a rectangular mesh differ
only by their size, which scales derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cell:
    """Values, gradients and Hessians of the local functions at quadrature points of the reference cell."""

    points: np.ndarray  # (dimension, q)
    weights: np.ndarray  # (q,), summing to 2^d
    value: np.ndarray  # (functions, q)
    gradient: np.ndarray  # (functions, dimension, q)
    hessian: np.ndarray | None  # (functions, dimension, dimension, q)


def hermite_line(order: int) -> Cell:
    """Cubic Hermite line element: (u, u') at -1, then at 1."""
    from skfem import ElementLineHermite

    return _cell(_line_mesh(), ElementLineHermite(), order)


def quadratic_line(order: int) -> Cell:
    """Quadratic line element: u at -1, at 1, in the middle."""
    from skfem import ElementLineP2

    return _cell(_line_mesh(), ElementLineP2(), order)


def bogner_fox_schmit(order: int) -> Cell:
    """Bicubic rectangular element: (u, u_x, u_y, u_xy) at (-1,-1), (1,-1), (1,1), (-1,1)."""
    from skfem import ElementQuadBFS, MeshQuad

    corners = np.array([[-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]])
    return _cell(MeshQuad(corners, np.array([[0], [1], [2], [3]])), ElementQuadBFS(), order)


def _line_mesh() -> Any:
    from skfem import MeshLine

    return MeshLine(np.array([-1.0, 1.0]))


def _cell(mesh: Any, element: Any, order: int) -> Cell:
    """The local functions at `order` Gauss points per direction, the first direction slowest."""
    from skfem import Basis

    nodes, weights = np.polynomial.legendre.leggauss(order)
    dimension = mesh.p.shape[0]
    grid = np.stack([g.ravel() for g in np.meshgrid(*[nodes] * dimension, indexing="ij")])
    weight = np.prod(np.stack([w.ravel() for w in np.meshgrid(*[weights] * dimension, indexing="ij")]), axis=0)
    # scikit-fem counts from the corner of the unit cell.
    basis = Basis(mesh, element, quadrature=(0.5 * (grid + 1.0), weight / 2.0**dimension))
    fields = [functions[0] for functions in basis.basis]
    hessian = None if fields[0].hess is None else np.stack([np.asarray(f.hess)[..., 0, :] for f in fields])
    return Cell(
        points=grid,
        weights=weight,
        value=np.stack([np.asarray(f)[0] for f in fields]),
        gradient=np.stack([np.asarray(f.grad)[:, 0, :] for f in fields]),
        hessian=hessian,
    )
