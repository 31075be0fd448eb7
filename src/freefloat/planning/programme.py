"""The nonlinear programme of a task: control points as variables, rows at instants and on control points as limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.planning.curves import DEGREE, basis, differences
from freefloat.planning.programs import Programs, RowScales

_SHARE_OF_FORCE, _FAR = 0.2, 0.8  # share of a limit; distance beyond it [m]: rows that may be left out at first
FREE = 1e19  # what IPOPT takes as no limit


@dataclass(frozen=True)
class PlanningLimits:
    """Limits of the rows at every instant and of every number of the curve, and the start of the curve."""

    names: tuple[str, ...]  # of the rows of an instant
    low: np.ndarray  # (instants, rows)
    high: np.ndarray
    range: np.ndarray  # (2, numbers)
    rate: np.ndarray  # (numbers)
    acceleration: np.ndarray
    start: np.ndarray  # (2, numbers): values and rates
    nominal: np.ndarray  # (instants, 12): twist of the client and its rate
    measures: RowScales


class Programme:
    """Values, slopes and curvatures of effort and limits over the free control points.

    The first two control points are given by the start, the last two are equal: the motion ends at rest. With `near`,
    control points of a motion, rows at instants that are far from their limits there are left out.
    """

    def __init__(
        self,
        programs: Programs,
        task_limits: PlanningLimits,
        points: int,
        duration: float,
        near: np.ndarray | None = None,
    ) -> None:
        self.programs, self.task_limits, self.points, self.duration = programs, task_limits, points, duration
        self.instants, self.rows = task_limits.low.shape
        self.n, self.free = task_limits.start.shape[1], points - 3
        self._fixed = (
            task_limits.start[0]
            + np.array([[0.0], [1.0]]) * task_limits.start[1] * duration / (points - DEGREE) / DEGREE
        )
        B = np.array(basis(points, duration, self.instants))
        self._B = self._merge(B)
        self._offset = np.einsum("dkp,pa->kda", B[:, :, :2], self._fixed)
        self._weights = np.full(self.instants, 1.0 / (self.instants - 1))
        self._weights[[0, -1]] *= 0.5
        self._linear = self._linear_rows()
        self._kept: tuple[bytes, np.ndarray] = (b"", np.zeros(0))
        self._active = (task_limits.low > -FREE) | (task_limits.high < FREE)
        if near is not None:
            self._active &= self._rows_near_limits(self.free_points(near))
        self._set_places()

    def _merge(self, B: np.ndarray) -> np.ndarray:
        """Weights of the free control points, from those of all control points."""
        free = np.array(B[..., 2 : self.points - 1])
        free[..., -1] += B[..., -1]
        return free

    # ---- points and instants

    def control_points(self, x: np.ndarray) -> np.ndarray:
        """All control points (points, numbers) from the variables."""
        free = x.reshape(self.free, self.n)
        return np.concatenate([self._fixed, free, free[-1:]])

    def free_points(self, points: np.ndarray) -> np.ndarray:
        """The variables, from given control points."""
        return np.ascontiguousarray(points[2 : self.points - 1]).ravel()

    def curve(self, x: np.ndarray) -> np.ndarray:
        """Values, rates and accelerations at every instant (instants, 3 numbers)."""
        moved = np.einsum("dkp,pa->kda", self._B, x.reshape(self.free, self.n))
        return (moved + self._offset).reshape(self.instants, 3 * self.n)

    # ---- limits

    def _rows_near_limits(self, x: np.ndarray) -> np.ndarray:
        """Mask of the rows at instants that come near to a limit."""
        values, task_limits = self._values(x)[:, :-1], self.task_limits
        forces = (task_limits.low > -FREE) & (task_limits.high < FREE)  # limited on both sides, as shares
        return np.where(
            forces, np.abs(values) > _SHARE_OF_FORCE, (values < task_limits.low + _FAR) | (task_limits.high < FREE)
        )

    def _linear_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rates and accelerations of control points: matrix over free points, constants, and limits of numbers."""
        found, constants, limits = [], [], []
        for order, limit in ((1, self.task_limits.rate), (2, self.task_limits.acceleration)):
            D = np.array(differences(self.points, self.duration, order))
            free = self._merge(D)
            moving = np.abs(free).max(axis=1) > 0.0
            found.append(free[moving])
            constants.append(D[moving][:, :2] @ self._fixed)
            limits.append(np.tile(np.minimum(limit, FREE), (int(moving.sum()), 1)))
        return np.concatenate(found), np.concatenate(constants), np.concatenate(limits)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the variables."""
        low, high = (np.tile(side, self.free) for side in self.task_limits.range)
        return np.maximum(low, -FREE), np.minimum(high, FREE)

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits of all rows: at instants, of control points, at the end."""
        _, constants, limit = self._linear
        end = np.zeros(6)
        low = [self.task_limits.low[self._active], (-limit - constants).ravel(), end]
        high = [self.task_limits.high[self._active], (limit - constants).ravel(), end]
        return np.concatenate(low), np.concatenate(high)

    # ---- for the solver

    def effort(self, x: np.ndarray) -> float:
        """Effort of the motion, as a mean over time."""
        return float(self._weights @ self._values(x)[:, -1])

    def effort_slope(self, x: np.ndarray, out: np.ndarray) -> None:
        """Derivatives of the effort by the variables, written into `out`."""
        slopes = self._slopes(x)[:, -1].reshape(self.instants, 3, self.n)
        out[:] = np.einsum("k,kda,dkp->pa", self._weights, slopes, self._B).ravel()

    def constraints(self, x: np.ndarray, out: np.ndarray) -> None:
        """Values of all rows in the order of `limits`, written into `out`."""
        matrix, _, _ = self._linear
        free = x.reshape(self.free, self.n)
        error, _ = self.programs.end(free[-1])
        out[:] = np.concatenate([self._values(x)[:, :-1][self._active], (matrix @ free).ravel(), error])

    def constraint_slopes(self, x: np.ndarray, out: np.ndarray) -> None:
        """Derivatives of the rows by the variables at `slope_places`, written into `out`."""
        slopes = self._slopes(x)[:, :-1].reshape(self.instants, self.rows, 3, self.n)
        by_points = np.einsum("kmda,dkp->kmpa", slopes, self._B)
        _, end = self.programs.end(x.reshape(self.free, self.n)[-1])
        out[:] = np.concatenate([by_points[self._chosen].ravel(), self._linear_entries, end.ravel()])

    def curvature(self, x: np.ndarray, weights: np.ndarray, effort: float, out: np.ndarray) -> None:
        """Weighted second derivatives of effort and rows at `curvature_places`, written into `out`."""
        assert self.programs.curvature is not None
        on_rows = np.zeros((self.instants, self.rows + 1))
        count = int(self._active.sum())
        on_rows[:, :-1][self._active] = weights[:count]
        on_rows[:, -1] = effort * self._weights
        H = self._at_instants(self.programs.curvature, x, on_rows).reshape(self.instants, 3, self.n, 3, self.n)
        half = np.einsum("dkp,kdaeb->kpaeb", self._B, H, optimize=True)
        full = np.einsum("kpaeb,ekq->paqb", half, self._B, optimize=True)
        full[-1, :, -1, :] += self.programs.end_curvature(x.reshape(self.free, self.n)[-1], weights[-6:])
        out[:] = full.reshape(x.size, x.size)[self.curvature_places]

    def _values(self, x: np.ndarray) -> np.ndarray:
        """Rows and effort at every instant; stored for later calls with the same variables."""
        key = x.tobytes()
        if self._kept[0] != key:
            self._kept = key, self._at_instants(self.programs.rows, x)
        return self._kept[1]

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        return self._at_instants(self.programs.slopes, x)

    def _at_instants(self, program: Any, x: np.ndarray, *weights: np.ndarray) -> Any:
        """Results of a compiled function at every instant, each with its own weights where there are any."""
        scales = self.task_limits.measures.as_vector
        axes = (0, 0, None, *(0 for _ in weights))
        return program.batch(self.curve(x), self.task_limits.nominal, scales, *weights, in_axes=axes)

    def _set_places(self) -> None:
        """Set the places where slopes and curvatures are not zero."""
        touched = np.any(self._B != 0.0, axis=0)  # (instants, free points)
        self._chosen = self._active[:, :, None] & touched[:, None, :]
        count = int(self._active.sum())
        numbers = np.zeros(self._active.shape, dtype=int)
        numbers[self._active] = np.arange(count)
        k, m, p = np.nonzero(self._chosen)
        letters = np.arange(self.n)
        at_rows = np.repeat(numbers[k, m], self.n)
        at_columns = (p[:, None] * self.n + letters).ravel()
        matrix = self._linear[0]
        i, p = np.nonzero(matrix)
        linear_rows = (count + i[:, None] * self.n + letters).ravel()
        linear_columns = (p[:, None] * self.n + letters).ravel()
        self._linear_entries = np.repeat(matrix[i, p], self.n)
        last = count + matrix.shape[0] * self.n
        end_rows, end_columns = np.repeat(np.arange(6) + last, self.n), np.tile((self.free - 1) * self.n + letters, 6)
        self.slope_places = (
            np.concatenate([at_rows, linear_rows, end_rows]),
            np.concatenate([at_columns, linear_columns, end_columns]),
        )
        self.curvature_places = np.tril_indices(self.free * self.n)
