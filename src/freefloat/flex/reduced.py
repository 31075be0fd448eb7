"""Reduced models from a structural department: M and K over labels, without shapes: inertia to first order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from freefloat.flex.dmig import read_dmig, write_dmig
from freefloat.flex.labels import Label, LabelledMatrix, all_labels
from freefloat.flex.op4 import read_op4, write_op4
from freefloat.flex.points import dense
from freefloat.flex.structure import Damping, Structure, check_modal_body
from freefloat.model.modal import ModalBody, Node
from freefloat.values.errors import ModelError
from freefloat.values.short_text import record_text

T = TypeVar("T")
_COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
_SIX = (1, 2, 3, 4, 5, 6)
_LABELS, _POINTS = "DOFS", "XYZ"  # our own tables in an OP4 file: (grid, component) and (grid, x, y, z) rows


@dataclass(frozen=True)
class ReducedModel:
    """Mass, stiffness and damping over labels (grid, component); component 0 is a modal coordinate."""

    source: str
    labels: tuple[Label, ...]
    mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray | None = None
    grids: dict[int, np.ndarray] = field(default_factory=dict)  # coordinates [m]

    __repr__ = record_text  # one line, without arrays

    def __post_init__(self) -> None:
        n = len(self.labels)
        for name, matrix in (("mass", self.mass), ("stiffness", self.stiffness), ("damping", self.damping)):
            if matrix is None:
                continue
            if matrix.shape != (n, n):
                size = " x ".join(map(str, matrix.shape))
                raise self.fault(f"its {name} matrix is {size} for {n} labels. They must be of one size")
            if not np.all(np.isfinite(matrix)):
                raise self.fault(f"its {name} matrix has numbers that are not finite. Correct them")
            if np.max(np.abs(matrix - matrix.T), initial=0.0) > 1e-6 * np.max(np.abs(matrix), initial=0.0):
                raise self.fault(f"its {name} matrix is not symmetric. Correct it")
        if (smallest := np.linalg.eigvalsh(_scale_to_unit_diagonal(self.mass))[0]) < -1e-9:
            raise self.fault(f"its mass matrix is indefinite (smallest scaled eigenvalue {smallest:.3g}). Correct it")
        if (softest := np.linalg.eigvalsh(_scale_to_unit_diagonal(self.stiffness))[0]) < -1e-6:
            raise self.fault(f"its stiffness is negative (smallest scaled eigenvalue {softest:.3g}). Correct it")

    def fault(self, what: str) -> ModelError:
        """Error that names the source."""
        return ModelError(f"Reduced model '{self.source}': {what}.")

    def body(
        self, name: str, *, attach: int, nodes: Mapping[str, int] | None = None, damping: Damping | None = None
    ) -> ModalBody:
        """The flexible body whose frame sits at grid `attach`, in the basic axes; `nodes` names other grids.

        Coordinates of other grids become motions relative to that frame. How mass moves inside is not in the data,
        so the inertia does not change with deformation (`first_order`).
        """
        root = self._attachment(attach)
        others = [k for k in range(len(self.labels)) if k not in root]
        lift = self._rigid_lift(attach, others)
        basis = np.zeros((len(self.labels), 6 + len(others)))
        basis[root, np.arange(6)] = 1.0
        basis[others, 6 + np.arange(len(others))] = 1.0
        basis[np.ix_(others, range(6))] = lift
        mass, stiffness = basis.T @ self.mass @ basis, basis.T @ self.stiffness @ basis
        terms = np.sqrt(np.diag(np.abs(basis).T @ np.abs(self.stiffness) @ np.abs(basis)))
        terms = np.maximum(terms, 1e-6 * np.max(terms, initial=0.0))
        if np.any(np.abs(stiffness[:6]) > 1e-6 * np.multiply.outer(terms[:6], terms)):
            raise self.fault(
                f"its stiffness resists rigid motion of grid {attach}: it is grounded, or grid coordinates are wrong. "
                "Export it free, with the coordinates of every grid"
            )
        damped = damping(mass[6:, 6:], stiffness[6:, 6:]) if damping else self._damping(basis)
        return self._first_order(name, attach, mass, stiffness[6:, 6:], damped, others, nodes or {})

    def _damping(self, basis: np.ndarray) -> np.ndarray:
        n = basis.shape[1] - 6
        return np.zeros((n, n)) if self.damping is None else (basis.T @ self.damping @ basis)[6:, 6:]

    def _attachment(self, grid: int) -> list[int]:
        index = {label: k for k, label in enumerate(self.labels)}
        missing = [c for c in _SIX if (grid, c) not in index]
        if len(missing) == 6:
            known = ", ".join(str(g) for g in sorted({g for g, c in self.labels if c})) or "none"
            raise self.fault(f"there is no attachment grid {grid} among its labels. Grids: {known}")
        if missing:
            raise self.fault(f"attachment grid {grid} lacks components {missing}. Export all six")
        return [index[grid, c] for c in _SIX]

    def _rigid_lift(self, attach: int, others: list[int]) -> np.ndarray:
        """Motion of the other labels when the attachment grid moves rigidly, (others, 6)."""
        lift = np.zeros((len(others), 6))
        for row, k in enumerate(others):
            grid, component = self.labels[k]
            if component == 0:
                continue
            if grid not in self.grids or attach not in self.grids:
                raise self.fault(f"grid {grid if grid not in self.grids else attach} has no coordinates. Give them")
            arm = self.grids[grid] - self.grids[attach]
            rigid = np.block([[np.eye(3), -_cross(arm)], [np.zeros((3, 3)), np.eye(3)]])
            lift[row] = rigid[component - 1]
        return lift

    def _first_order(
        self,
        name: str,
        attach: int,
        mass: np.ndarray,
        stiffness: np.ndarray,
        damping: np.ndarray,
        others: list[int],
        nodes: Mapping[str, int],
    ) -> ModalBody:
        n = len(others)
        total = float(np.trace(mass[:3, :3]) / 3.0)
        if np.max(np.abs(mass[:3, :3] - total * np.eye(3))) > 1e-4 * abs(total):
            raise self.fault(
                f"its mass seen at grid {attach} differs by direction. The reduction must keep all rigid motions"
            )
        skew = 0.5 * (mass[3:6, :3] - mass[3:6, :3].T)
        inertia = 0.5 * (mass[3:6, 3:6] + mass[3:6, 3:6].T)
        body = ModalBody(
            name=name,
            mass=total,
            moment=np.array([skew[2, 1], skew[0, 2], skew[1, 0]]),
            second_moment=0.5 * np.trace(inertia) * np.eye(3) - inertia,
            modal_moment=mass[:3, 6:],
            mixed_moment=np.array([0.5 * _cross(column) for column in mass[3:6, 6:].T]).reshape(n, 3, 3).swapaxes(1, 2),
            pair_moment=np.zeros((n, n, 3, 3)),
            modal_mass=0.5 * (mass[6:, 6:] + mass[6:, 6:].T),
            stiffness=0.5 * (stiffness + stiffness.T),
            damping=0.5 * (damping + damping.T),
            short_moment=np.zeros((n, n, 3)),
            short_mixed_moment=np.zeros((n, n, 3, 3)),
            nodes=tuple(self._node(label, grid, attach, others) for label, grid in nodes.items()),
            mode_names=tuple(_label_name(self.labels[k]) for k in others),
            first_order=True,
        )
        return check_modal_body(body, self.source)

    def _node(self, name: str, grid: int, attach: int, others: list[int]) -> Node:
        motion, n = np.zeros((6, len(others))), len(others)
        present = [self.labels[k] for k in others]
        if not any((grid, c) in present for c in _SIX):
            raise self.fault(f"node '{name}' is grid {grid}, which is not among its labels")
        for c in _SIX:
            if (grid, c) in present:
                motion[c - 1, present.index((grid, c))] = 1.0
        return Node(name, self.grids[grid] - self.grids[attach], motion[:3], motion[3:], np.zeros((3, n, n)))


def reduced_model(structure: Structure, grids: Mapping[str, int], *, first_mode: int = 1001) -> ReducedModel:
    """A structure reduced by `craig_bampton` as a reduced model: its interface places get grid numbers."""
    labels: list[Label] = []
    for coordinate in structure.coordinates:
        place, _, component = coordinate.rpartition(".")
        if component in _COMPONENTS and place in grids:
            labels.append((grids[place], _COMPONENTS.index(component) + 1))
        elif coordinate.startswith("fixed"):
            labels.append((first_mode + int(coordinate.removeprefix("fixed")) - 1, 0))
        else:
            raise ModelError(f"Coordinate '{coordinate}' of '{structure.name}' has no grid. Reduce by craig_bampton.")
    points = {number: structure.place(place).position for place, number in grids.items()}
    mass, stiffness = dense(structure.mass_matrix()), dense(structure.stiffness)
    return ReducedModel(
        structure.name, tuple(labels), 0.5 * (mass + mass.T), 0.5 * (stiffness + stiffness.T), None, points
    )


def read_reduced(
    path: str | Path,
    *,
    mass: str = "MAA",
    stiffness: str = "KAA",
    damping: str | None = None,
    labels: tuple[Label, ...] | None = None,
    grids: Mapping[int, np.ndarray] | None = None,
) -> ReducedModel:
    """A reduced model from an OP4 text file (`.op4`) or from bulk data with DMIG cards (any other ending).

    `mass`, `stiffness` and `damping` name the matrices. An OP4 file has no labels: give them in the order of its
    rows, unless the file was written by `write_reduced`.
    """
    path = Path(path)
    names = [name.upper() for name in (mass, stiffness, damping) if name]
    if path.suffix.lower() == ".op4":
        return _from_op4(path, names, labels, grids)
    bulk = read_dmig(path)
    found = [_find_matrix(path, bulk.matrices, name) for name in names]
    order = labels or all_labels(*found)
    return ReducedModel(
        path.name, order, *_mass_stiffness_damping([m.over(order) for m in found]), {**bulk.grids, **(grids or {})}
    )


def _from_op4(
    path: Path, names: list[str], labels: tuple[Label, ...] | None, grids: Mapping[int, np.ndarray] | None
) -> ReducedModel:
    matrices = read_op4(path)
    found = [_find_matrix(path, matrices, name) for name in names]
    if labels is None:
        if _LABELS not in matrices:
            raise ModelError(
                f"OP4 file '{path.name}' has no labels. Give labels=((grid, component), ...) in the order of its rows."
            )
        labels = tuple((int(g), int(c)) for g, c in matrices[_LABELS])
    points = {int(row[0]): row[1:] for row in matrices.get(_POINTS, np.zeros((0, 4)))}
    return ReducedModel(path.name, labels, *_mass_stiffness_damping(found), {**points, **(grids or {})})


def _find_matrix(path: Path, matrices: Mapping[str, T], name: str) -> T:
    if name not in matrices:
        raise ModelError(f"File '{path.name}' has no matrix '{name}'. Matrices: {', '.join(matrices)}.")
    return matrices[name]


def _mass_stiffness_damping(found: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    return found[0], found[1], found[2] if len(found) > 2 else None


def write_reduced(path: str | Path, model: ReducedModel) -> None:
    """Write a reduced model as OP4 text (`.op4`, with our tables of labels and grids) or as DMIG cards."""
    path = Path(path)
    matrices = {"MAA": model.mass, "KAA": model.stiffness}
    if model.damping is not None:
        matrices["BAA"] = model.damping
    if path.suffix.lower() == ".op4":
        tables = {_LABELS: np.array(model.labels, float)}
        if model.grids:
            tables[_POINTS] = np.array([[number, *point] for number, point in model.grids.items()])
        write_op4(path, {**matrices, **tables})
        return
    labelled = {name: LabelledMatrix(name, model.labels, model.labels, m) for name, m in matrices.items()}
    write_dmig(path, labelled, model.grids)


def _label_name(label: Label) -> str:
    grid, component = label
    return f"{grid}.{_COMPONENTS[component - 1]}" if component else f"q{grid}"


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _scale_to_unit_diagonal(matrix: np.ndarray) -> np.ndarray:
    """The matrix scaled to a unit diagonal, so that metres, radians and modes compare."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    size = np.maximum(size, max(1e-3 * float(np.max(size, initial=0.0)), 1e-150))  # rounding stays small
    return matrix / np.multiply.outer(size, size)
