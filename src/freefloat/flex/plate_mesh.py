"""Thin rectangular plates by Bogner-Fox-Schmit elements (Bogner, Fox and Schmit 1965)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from freefloat.flex.damping import modal_damping
from freefloat.flex.elements import Cell, bogner_fox_schmit
from freefloat.flex.lines import hermite_row, mesh_lines
from freefloat.flex.points import MassPoints
from freefloat.flex.structure import Structure, StructurePlace
from freefloat.flex.surface import Surface, grid_faces
from freefloat.flex.truncation import truncate_modes
from freefloat.model.modal import ModalBody
from freefloat.values.errors import ModelError

Number = float | int
Point = Sequence[Number]
_ORDER = 4  # Gauss points per direction: exact for mass (degree 6) and stiffness
_DRAWN = 10  # cells along each side of the surface that is drawn, at least
_EDGES = ("x-", "x+", "y-", "y+")
# Freedoms (w, w_x, w_y, w_xy) held by an edge along y, and by an edge along x.
_HELD_ACROSS_X = {"clamped": (1, 1, 1, 1), "supported": (1, 0, 1, 0), "free": (0, 0, 0, 0)}
_HELD_ACROSS_Y = {"clamped": (1, 1, 1, 1), "supported": (1, 1, 0, 0), "free": (0, 0, 0, 0)}


def plate(
    *,
    size: tuple[Number, Number],
    mass: Number,
    bending_rigidity: Number,
    modes: int = 6,
    damping_ratio: Number | Sequence[Number] = 0.0,
    stiffening: bool = False,
    name: str = "plate",
    **mesh: Any,
) -> ModalBody:
    """A uniform plate with its lowest `modes`, unit modal mass; `mesh` as for `meshed_plate`."""
    if stiffening:
        raise ModelError(
            f"Plate '{name}' cannot have geometric stiffening: its in-plane forces are not modelled. "
            "Leave stiffening=False and keep its rates low, or model it as a beam."
        )
    structure = meshed_plate(
        size=size, surface_density=mass / (size[0] * size[1]), bending_rigidity=bending_rigidity, name=name, **mesh
    )
    return truncate_modes(structure, modes).body(damping=modal_damping(damping_ratio))


def meshed_plate(
    *,
    size: tuple[Number, Number],
    surface_density: Number,
    bending_rigidity: Number,
    poisson: Number = 0.3,
    elements: tuple[int, int] = (8, 8),
    edges: Mapping[str, str] | None = None,
    root_points: Sequence[Point] = (),
    places: Mapping[str, Point] | None = None,
    points: Mapping[str, Point] | None = None,
    name: str = "plate",
) -> Structure:
    """A plate in the x-y plane, x from 0 to size[0], y from -size[1]/2 to size[1]/2, that bends along z.

    Surface density [kg/m2], rigidity D = E h^3 / (12 (1 - poisson^2)) [N m]. `edges` maps "x-", "x+", "y-", "y+" to
    clamped, supported or free; "x-" is clamped unless `root_points` (x, y) are given, where it is bolted on instead
    (deflection and both slopes held). Places: `tip`, the middle of the edge "x+", and the named points. The mesh
    gets a line through every one of them; `points` are places too, and leave the mesh as it is. In its plane the plate
    is rigid.
    """
    edges = edges if edges is not None else ({} if len(root_points) else {"x-": "clamped"})
    marks = {"tip": (float(size[0]), 0.0), **{k: (float(p[0]), float(p[1])) for k, p in (places or {}).items()}}
    extra = {k: (float(p[0]), float(p[1])) for k, p in (points or {}).items()}
    roots = [(float(p[0]), float(p[1])) for p in root_points]
    named = [*marks.items(), *extra.items(), *(("root", p) for p in roots)]
    _require_valid_plate(name, size, surface_density, bending_rigidity, poisson, edges, named)
    through = [*marks.values(), *roots]
    xs = mesh_lines(0.0, float(size[0]), elements[0], [p[0] for p in through])
    ys = mesh_lines(-0.5 * size[1], 0.5 * size[1], elements[1], [p[1] for p in through])
    mesh = _PlateMesh(xs, ys, bogner_fox_schmit(_ORDER))
    free = ~mesh.fixed_dofs(edges, roots)
    deflection = mesh.operator(0, 0)[:, free]
    xx, yy, xy = mesh.operator(2, 0)[:, free], mesh.operator(0, 2)[:, free], mesh.operator(1, 1)[:, free]
    area = sp.diags_array(bending_rigidity * mesh.areas)
    stiffness = (
        xx.T @ area @ xx
        + yy.T @ area @ yy
        + poisson * (xx.T @ area @ yy + yy.T @ area @ xx)
        + 2.0 * (1.0 - poisson) * (xy.T @ area @ xy)
    )
    upwards = sp.csr_array(np.array([[0.0], [0.0], [1.0]]))
    labels = np.array([f"w{i}.{j}{d}" for i in range(len(xs)) for j in range(len(ys)) for d in ("", "x", "y", "xy")])
    return Structure(
        name=name,
        coordinates=tuple(str(label) for label in labels[free]),
        points=MassPoints(surface_density * mesh.areas, mesh.positions, sp.kron(deflection, upwards, format="csr")),
        stiffness=sp.csr_array(stiffness),
        places=tuple(_place(mesh, label, point, free) for label, point in (marks | extra).items()),
        surface=_surface(mesh, free),
    )


def _require_valid_plate(
    name: str,
    size: tuple[Number, Number],
    density: Number,
    rigidity: Number,
    poisson: Number,
    edges: Mapping[str, str],
    points: list[tuple[str, tuple[float, float]]],
) -> None:
    for label, value in (("a side", min(size)), ("surface density", density), ("bending rigidity", rigidity)):
        if not (np.isfinite(value) and value > 0.0):
            raise ModelError(f"Plate '{name}' has {label} {value:g}. Give a positive number.")
    if not -1.0 < poisson < 0.5:
        raise ModelError(f"Plate '{name}' has Poisson ratio {poisson:g}. Give one between -1 and 0.5.")
    for edge, condition in edges.items():
        if edge not in _EDGES or condition not in _HELD_ACROSS_X:
            raise ModelError(
                f"Plate '{name}' cannot have edge '{edge}' {condition}. Edges: {', '.join(_EDGES)}; "
                f"conditions: {', '.join(_HELD_ACROSS_X)}."
            )
    for label, (x, y) in points:
        if not (0.0 <= x <= size[0] and abs(y) <= 0.5 * size[1]):
            raise ModelError(
                f"Point '{label}' ({x:g}, {y:g}) m is not on plate '{name}': x from 0 to {size[0]:g}, "
                f"y from {-0.5 * size[1]:g} to {0.5 * size[1]:g}."
            )


@dataclass(frozen=True)
class _PlateMesh:
    xs: np.ndarray
    ys: np.ndarray
    cell: Cell

    def vertex(self, i: Any, j: Any) -> Any:
        """First of the four freedoms of a mesh point."""
        return 4 * (i * len(self.ys) + j)

    @property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        i, j = np.meshgrid(np.arange(len(self.xs) - 1), np.arange(len(self.ys) - 1), indexing="ij")
        return i.ravel(), j.ravel()

    @property
    def _halves(self) -> tuple[np.ndarray, np.ndarray]:
        i, j = self._cells
        return 0.5 * np.diff(self.xs)[i], 0.5 * np.diff(self.ys)[j]

    @property
    def areas(self) -> np.ndarray:
        """Quadrature weights of all points [m2]."""
        a, b = self._halves
        return np.multiply.outer(a * b, self.cell.weights).ravel()

    @property
    def positions(self) -> np.ndarray:
        """Positions of all quadrature points, (points, 3)."""
        i, j = self._cells
        a, b = self._halves
        x = self.xs[i, None] + a[:, None] * (self.cell.points[0] + 1.0)
        y = self.ys[j, None] + b[:, None] * (self.cell.points[1] + 1.0)
        return np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])

    def operator(self, along_x: int, along_y: int) -> Any:
        """A derivative of the deflection at all quadrature points as a sparse matrix over all freedoms."""
        assert self.cell.hessian is not None
        order = along_x + along_y
        local = self.cell.value if order == 0 else self.cell.hessian[:, 0 if along_x else 1, 1 if along_y else 0]
        i, j = self._cells
        a, b = self._halves
        corners = [self.vertex(i, j), self.vertex(i + 1, j), self.vertex(i + 1, j + 1), self.vertex(i, j + 1)]
        dofs = np.stack([corner + k for corner in corners for k in range(4)])  # (16, cells)
        scale = np.tile(np.stack([np.ones_like(a), a, b, a * b]), (4, 1)) / (a**along_x * b**along_y)
        values = scale[:, :, None] * local[:, None, :]  # (16, cells, q)
        rows = np.broadcast_to(np.arange(len(a) * local.shape[1]).reshape(len(a), -1), values.shape)
        columns = np.broadcast_to(dofs[:, :, None], values.shape)
        shape = (len(a) * local.shape[1], 4 * len(self.xs) * len(self.ys))
        return sp.csr_array(sp.coo_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape))

    def nearest(self, point: tuple[float, float]) -> int:
        """First freedom of the mesh point at a given point."""
        i, j = np.argmin(np.abs(self.xs - point[0])), np.argmin(np.abs(self.ys - point[1]))
        return int(self.vertex(i, j))

    def fixed_dofs(self, edges: Mapping[str, str], roots: list[tuple[float, float]]) -> np.ndarray:
        """Which freedoms the supports hold."""
        held = np.zeros((len(self.xs), len(self.ys), 4), bool)
        for edge, condition in edges.items():
            if edge[0] == "x":
                held[0 if edge == "x-" else -1] |= np.array(_HELD_ACROSS_X[condition], bool)
            else:
                held[:, 0 if edge == "y-" else -1] |= np.array(_HELD_ACROSS_Y[condition], bool)
        flat = held.ravel()
        for root in roots:
            flat[self.nearest(root) : self.nearest(root) + 3] = True
        return flat


def _place(mesh: _PlateMesh, name: str, point: tuple[float, float], free: np.ndarray) -> StructurePlace:
    """Place at a point: deflection along z; a slope along x turns about -y, a slope along y turns about x."""
    w, w_x, w_y = (_point_row(mesh, point, *order)[free] for order in ((0, 0), (1, 0), (0, 1)))
    zero = np.zeros_like(w)
    return StructurePlace(name, np.array([*point, 0.0]), np.stack([zero, zero, w]), np.stack([w_y, -w_x, zero]))


def _surface(mesh: _PlateMesh, free: np.ndarray) -> Surface:
    """The drawn surface: a grid of points that bends as the elements do."""
    x, y = (_refine_lines(lines) for lines in (mesh.xs, mesh.ys))
    points = [(float(a), float(b)) for a in x for b in y]
    motion = np.zeros((len(points), 3, int(np.sum(free))))
    motion[:, 2] = [_point_row(mesh, point, 0, 0)[free] for point in points]
    position = np.column_stack([np.array(points), np.zeros(len(points))])
    return Surface(position, motion, grid_faces(len(x), len(y)))


def _refine_lines(lines: np.ndarray) -> np.ndarray:
    """Mesh lines and lines between them, an even number of cells for each: Simpson's rule is exact along an edge."""
    parts = 2 * int(np.ceil(_DRAWN / (2 * (len(lines) - 1))))
    inner = [np.linspace(a, b, parts, endpoint=False) for a, b in pairwise(lines)]
    return np.append(np.concatenate(inner), lines[-1])


def _point_row(mesh: _PlateMesh, point: tuple[float, float], along_x: int, along_y: int) -> np.ndarray:
    """Deflection, or a derivative, anywhere on the plate over all freedoms: products of cubics along x and y."""
    x = hermite_row(mesh.xs, point[0], along_x).reshape(-1, 2)
    y = hermite_row(mesh.ys, point[1], along_y).reshape(-1, 2)
    return np.einsum("ia,jb->ijba", x, y).ravel()  # w, w_x, w_y, w_xy at every mesh point
