"""The nonlinear programme of a task: control points as variables, rows at instants and on control points as limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.planning.curves import DEGREE, basis, differences
from freefloat.planning.programs import Numbers, Programs

_SHARE_OF_FORCE, _FAR = 0.2, 0.8  # of a limit; beyond it [m]: rows that may be left out at first
FREE = 1e19  # what IPOPT takes as no limit


@dataclass(frozen=True)
class Asked:
    """What is asked: limits of the rows at every instant and of every number of the curve, and where it begins."""

    names: tuple[str, ...]  # of the rows of an instant
    low: np.ndarray  # (instants, rows)
    high: np.ndarray
    numbers: tuple[str, ...]  # what the curve's numbers are called
    range: np.ndarray  # (2, numbers)
    rate: np.ndarray  # (numbers)
    acceleration: np.ndarray
    start: np.ndarray  # (2, numbers): values and rates
    nominal: np.ndarray  # (instants, 12): twist of the client and its rate
    measures: Numbers


class Programme:
    """Values, slopes and curvatures of effort and limits over the free control points.

    The first two control points are given by the start, the last two are equal: the motion ends at rest. With `near`,
    control points of a motion, rows at instants that are far from their limits there are left out.
    """

    def __init__(
        self, programs: Programs, asked: Asked, points: int, duration: float, near: np.ndarray | None = None
    ) -> None:
        self.programs, self.asked, self.points, self.duration = programs, asked, points, duration
        self.instants, self.rows = asked.low.shape
        self.n, self.free = asked.start.shape[1], points - 3
        self._fixed = asked.start[0] + np.array([[0.0], [1.0]]) * asked.start[1] * duration / (points - DEGREE) / DEGREE
        B = np.array(basis(points, duration, self.instants))
        self._B = self._merge(B)
        self._offset = np.einsum("dkp,pa->kda", B[:, :, :2], self._fixed)
        self._weights = np.full(self.instants, 1.0 / (self.instants - 1))
        self._weights[[0, -1]] *= 0.5
        self._linear = self._linear_rows()
        self._kept: tuple[bytes, np.ndarray] = (b"", np.zeros(0))
        self._active = (asked.low > -FREE) | (asked.high < FREE)
        if near is not None:
            self._active &= self._used(self.free_points(near))
        self._set_places()

    def _merge(self, B: np.ndarray) -> np.ndarray:
        """What multiplies the free control points."""
        free = np.array(B[..., 2 : self.points - 1])
        free[..., -1] += B[..., -1]
        return free

    # ---- points and instants

    def control_points(self, x: np.ndarray) -> np.ndarray:
        """All of them (points, numbers)."""
        free = x.reshape(self.free, self.n)
        return np.concatenate([self._fixed, free, free[-1:]])

    def free_points(self, points: np.ndarray) -> np.ndarray:
        """The variables of given control points."""
        return np.ascontiguousarray(points[2 : self.points - 1]).ravel()

    def curve(self, x: np.ndarray) -> np.ndarray:
        """Values, rates and accelerations at every instant (instants, 3 numbers)."""
        moved = np.einsum("dkp,pa->kda", self._B, x.reshape(self.free, self.n))
        return (moved + self._offset).reshape(self.instants, 3 * self.n)

    # ---- limits

    def _used(self, x: np.ndarray) -> np.ndarray:
        """Which rows at instants come near to a limit."""
        values, asked = self._values(x)[:, :-1], self.asked
        forces = (asked.low > -FREE) & (asked.high < FREE)  # limited on both sides, as shares
        return np.where(forces, np.abs(values) > _SHARE_OF_FORCE, (values < asked.low + _FAR) | (asked.high < FREE))

    def _linear_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
        """Rates and accelerations of control points: matrix over free points, constants, and limits of numbers."""
        found, constants, limits, kinds = [], [], [], []
        for order, limit, kind in ((1, self.asked.rate, "rate"), (2, self.asked.acceleration, "acceleration")):
            D = np.array(differences(self.points, self.duration, order))
            free = self._merge(D)
            moving = np.abs(free).max(axis=1) > 0.0
            found.append(free[moving])
            constants.append(D[moving][:, :2] @ self._fixed)
            limits.append(np.tile(np.minimum(limit, FREE), (int(moving.sum()), 1)))
            kinds += [kind] * int(moving.sum())
        return np.concatenate(found), np.concatenate(constants), np.concatenate(limits), kinds

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the variables."""
        low, high = (np.tile(side, self.free) for side in self.asked.range)
        return np.maximum(low, -FREE), np.minimum(high, FREE)

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all rows: at instants, of control points, at the end."""
        _, constants, limit, _ = self._linear
        end = np.zeros(6)
        low = [self.asked.low[self._active], (-limit - constants).ravel(), end]
        high = [self.asked.high[self._active], (limit - constants).ravel(), end]
        return np.concatenate(low), np.concatenate(high)

    @property
    def row_families(self) -> list[str]:
        """What each row is about, without the instant."""
        kinds = self._linear[3]
        linear = [f"{kind} of {name}" for kind in kinds for name in self.asked.numbers]
        at_instants = [
            name for k in range(self.instants) for name, on in zip(self.asked.names, self._active[k], strict=True) if on
        ]
        return [*at_instants, *linear, *(["grasp"] * 6)]

    # ---- for the solver

    def effort(self, x: np.ndarray) -> float:
        """Mean over the time."""
        return float(self._weights @ self._values(x)[:, -1])

    def effort_slope(self, x: np.ndarray, out: np.ndarray) -> None:
        """By the free points."""
        slopes = self._slopes(x)[:, -1].reshape(self.instants, 3, self.n)
        out[:] = np.einsum("k,kda,dkp->pa", self._weights, slopes, self._B).ravel()

    def constraints(self, x: np.ndarray, out: np.ndarray) -> None:
        """Rows, in the order of `limits`."""
        matrix, _, _, _ = self._linear
        free = x.reshape(self.free, self.n)
        error, _ = self.programs.end(free[-1])
        out[:] = np.concatenate([self._values(x)[:, :-1][self._active], (matrix @ free).ravel(), error])

    def constraint_slopes(self, x: np.ndarray, out: np.ndarray) -> None:
        """Entries at `slope_places`."""
        slopes = self._slopes(x)[:, :-1].reshape(self.instants, self.rows, 3, self.n)
        by_points = np.einsum("kmda,dkp->kmpa", slopes, self._B)
        _, end = self.programs.end(x.reshape(self.free, self.n)[-1])
        out[:] = np.concatenate([by_points[self._chosen].ravel(), self._linear_entries, end.ravel()])

    def curvature(self, x: np.ndarray, weights: np.ndarray, effort: float, out: np.ndarray) -> None:
        """Of effort and rows, weighed; entries at `curvature_places`."""
        assert self.programs.curvature is not None
        on_rows = np.zeros((self.instants, self.rows + 1))
        count = int(self._active.sum())
        on_rows[:, :-1][self._active] = weights[:count]
        on_rows[:, -1] = effort * self._weights
        asked = self.asked
        H = self.programs.curvature.batch(
            self.curve(x), asked.nominal, asked.measures.packed, on_rows, in_axes=(0, 0, None, 0)
        ).reshape(self.instants, 3, self.n, 3, self.n)
        half = np.einsum("dkp,kdaeb->kpaeb", self._B, H, optimize=True)
        full = np.einsum("kpaeb,ekq->paqb", half, self._B, optimize=True)
        full[-1, :, -1, :] += self.programs.end_curvature(x.reshape(self.free, self.n)[-1], weights[-6:])
        out[:] = full.reshape(x.size, x.size)[self.curvature_places]

    def _values(self, x: np.ndarray) -> np.ndarray:
        """Rows and effort at every instant; kept for the calls that follow with the same variables."""
        key = x.tobytes()
        if self._kept[0] != key:
            asked = self.asked
            found = self.programs.rows.batch(self.curve(x), asked.nominal, asked.measures.packed, in_axes=(0, 0, None))
            self._kept = key, found
        return self._kept[1]

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        asked = self.asked
        return self.programs.slopes.batch(self.curve(x), asked.nominal, asked.measures.packed, in_axes=(0, 0, None))

    def _set_places(self) -> None:
        """Where slopes and curvatures are not zero."""
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
