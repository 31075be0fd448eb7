"""Finite-element models given as matrices over grid points: (M, K, D, coordinates, shapes) to a modal body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from freefloat.flex.effective_mass import turning_moment
from freefloat.flex.structure import Damping, check_modal_body
from freefloat.model.modal import ModalBody, Node
from freefloat.values.errors import ModelError

_ALLOWED = (3, 6)  # freedoms per grid: translations, or translations and rotations


@dataclass(frozen=True)
class MatrixModel:
    """Physical mass and stiffness over grids, three or six freedoms each in order; shapes are columns over them."""

    name: str
    mass: np.ndarray  # (freedoms, freedoms)
    stiffness: np.ndarray
    positions: np.ndarray  # (grids, 3) [m]
    grids: tuple[str, ...]
    damping: np.ndarray | None = None
    shapes: np.ndarray | None = None  # (freedoms, modes); natural modes are computed where there are none

    def __post_init__(self) -> None:
        freedoms, grids = len(self.mass), len(self.positions)
        if len(self.grids) != grids or not grids or freedoms / grids not in _ALLOWED:
            raise self.fault(
                f"{freedoms} freedoms do not fit {grids} coordinates and {len(self.grids)} names. "
                "Each grid has three or six freedoms and one name"
            )
        for label, matrix, columns in (
            ("mass", self.mass, freedoms),
            ("stiffness", self.stiffness, freedoms),
            ("damping", self.damping, freedoms),
            ("shape", self.shapes, None),
        ):
            if matrix is None:
                continue
            if matrix.ndim != 2 or len(matrix) != freedoms or (columns and matrix.shape[1] != columns):
                size = " x ".join(map(str, matrix.shape))
                raise self.fault(f"its {label} matrix is {size} where there are {freedoms} freedoms")
            if not np.all(np.isfinite(matrix)):
                raise self.fault(f"its {label} matrix has numbers that are not finite. Correct them")

    def fault(self, what: str) -> ModelError:
        """Error that names the model."""
        return ModelError(f"Model '{self.name}': {what}.")

    @property
    def per_grid(self) -> int:
        """Number of freedoms per grid."""
        return len(self.mass) // len(self.positions)

    def body(
        self,
        *,
        attachment: str | Sequence[str] | None = None,
        modes: int | None = None,
        nodes: Mapping[str, str | Sequence[str]] | None = None,
        damping: Damping | None = None,
        name: str = "",
    ) -> ModalBody:
        """The flexible body clamped at its attachment grids; the body frame sits at their mean, in the basic axes.

        Given shapes are taken relative to the attachment, so free-free modes serve as well as clamped ones; without
        shapes the lowest `modes` clamped natural modes are computed. A node is a grid, or a group of grids whose mean
        rigid motion it follows (needed where grids have no rotations). First-order inertia is that of M; how inertia
        changes with deformation comes from the grids' translations.
        """
        if not attachment:
            known = ", ".join(self.grids[:12]) + (", ..." if len(self.grids) > 12 else "")
            raise self.fault(f"a mode set needs an attachment node. Name the grids that are fixed: {known}")
        roots = self._indices(attachment)
        origin = np.mean(self.positions[roots], axis=0)
        centred = self.positions - origin
        shapes = self._relative_shapes(roots, centred) if self.shapes is not None else self._clamped_modes(roots, modes)
        return self._modal_integrals(name or self.name, centred, shapes, nodes or {}, damping)

    def _indices(self, names: str | Sequence[str]) -> list[int]:
        names = (names,) if isinstance(names, str) else tuple(names)
        for name in names:
            if name not in self.grids:
                known = ", ".join(self.grids[:12]) + (", ..." if len(self.grids) > 12 else "")
                raise self.fault(f"there is no grid '{name}'. Grids: {known}")
        return [self.grids.index(name) for name in names]

    def _clamped_modes(self, roots: list[int], modes: int | None) -> np.ndarray:
        fixed = np.zeros(len(self.mass), bool)
        for k in roots:
            fixed[self.per_grid * k : self.per_grid * (k + 1)] = True
        free = np.flatnonzero(~fixed)
        count = modes or min(len(free), 6)
        if count > len(free):
            raise self.fault(f"it has {len(free)} free coordinates, fewer than {count} modes")
        try:
            _, vectors = eigh(
                self.stiffness[np.ix_(free, free)], self.mass[np.ix_(free, free)], subset_by_index=[0, count - 1]
            )
        except np.linalg.LinAlgError:
            raise self.fault("its mass matrix is indefinite. Correct it, or leave out freedoms without mass") from None
        shapes = np.zeros((len(self.mass), count))
        shapes[free] = vectors
        return shapes

    def _relative_shapes(self, roots: list[int], centred: np.ndarray) -> np.ndarray:
        """Shapes seen from a frame that follows the attachment."""
        shapes = np.asarray(self.shapes)
        motion = self._group_motion(roots, centred, np.zeros(3))
        return shapes - self._rigid(centred) @ (motion @ shapes)

    def _rigid(self, centred: np.ndarray) -> np.ndarray:
        """Rigid motions about the origin over all freedoms, (freedoms, 6)."""
        rigid = np.zeros((len(centred), self.per_grid, 6))
        rigid[:, :3, :3] = np.eye(3)
        for axis in range(3):
            rigid[:, :3, 3 + axis] = np.cross(np.eye(3)[axis], centred)
        if self.per_grid == 6:
            rigid[:, 3:, 3:] = np.eye(3)
        return rigid.reshape(-1, 6)

    def _group_motion(self, group: list[int], centred: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Rigid motion at a point that fits a group of grids best, (6, freedoms)."""
        rows = np.concatenate([self.per_grid * k + np.arange(self.per_grid) for k in group])
        rigid = self._rigid(centred - point)[rows]
        if np.linalg.matrix_rank(rigid, tol=1e-9 * np.max(np.abs(rigid))) < 6:
            names = ", ".join(self.grids[k] for k in group)
            raise self.fault(f"grids {names} do not define a rotation. Name three or more that are not in line")
        motion = np.zeros((6, len(self.mass)))
        motion[:, rows] = np.linalg.pinv(rigid)
        return motion

    def _modal_integrals(
        self,
        name: str,
        x: np.ndarray,
        shapes: np.ndarray,
        nodes: Mapping[str, str | Sequence[str]],
        damping: Damping | None,
    ) -> ModalBody:
        n = shapes.shape[1]
        lumps = sum(self.mass[a :: self.per_grid, a :: self.per_grid] for a in range(3)) / 3.0  # (grids, grids)
        moving = shapes.reshape(len(x), self.per_grid, n)[:, :3]
        rigid = self._rigid(x)
        whole, coupling = rigid.T @ self.mass @ rigid, rigid.T @ self.mass @ shapes
        mixed = np.einsum("ka,kl,lbj->jab", x, lumps, moving, optimize=True)
        # The antisymmetric part is angular momentum: taken from M itself, which contains rotary inertia.
        short = coupling[3:] - turning_moment(mixed)
        mixed = mixed - 0.5 * np.cross(np.eye(3)[None, :, :], short.T[:, None, :])
        skew = 0.5 * (whole[3:, :3] - whole[3:, :3].T)
        inertia = 0.5 * (whole[3:, 3:] + whole[3:, 3:].T)
        modal_mass, stiffness = shapes.T @ self.mass @ shapes, shapes.T @ self.stiffness @ shapes
        damped = np.zeros((n, n)) if self.damping is None else shapes.T @ self.damping @ shapes
        body = ModalBody(
            name=name,
            mass=float(np.trace(whole[:3, :3]) / 3.0),
            moment=np.array([skew[2, 1], skew[0, 2], skew[1, 0]]),
            second_moment=0.5 * np.trace(inertia) * np.eye(3) - inertia,
            modal_moment=coupling[:3],
            mixed_moment=mixed,
            pair_moment=np.einsum("kai,kl,lbj->ijab", moving, lumps, moving, optimize=True),
            modal_mass=0.5 * (modal_mass + modal_mass.T),
            stiffness=0.5 * (stiffness + stiffness.T),
            damping=damping(modal_mass, stiffness) if damping else 0.5 * (damped + damped.T),
            short_moment=np.zeros((n, n, 3)),
            short_mixed_moment=np.zeros((n, n, 3, 3)),
            nodes=tuple(self._node(label, group, x, shapes) for label, group in nodes.items()),
            mode_names=tuple(f"mode{k + 1}" for k in range(n)),
        )
        return check_modal_body(body)

    def _node(self, name: str, group: str | Sequence[str], x: np.ndarray, shapes: np.ndarray) -> Node:
        indices = self._indices(group)
        point = np.mean(x[indices], axis=0)
        motion, n = self._group_motion(indices, x, point) @ shapes, shapes.shape[1]
        return Node(name, point, motion[:3], motion[3:], np.zeros((3, n, n)))
