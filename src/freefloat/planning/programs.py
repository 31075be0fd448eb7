"""The rows of an instant with their exact derivatives, compiled once for all scenes of the same structure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat import engine
from freefloat.planning.node_rows import PlanningScene, end_error, row_names, row_values
from freefloat.values.arrays import Numeric, Vector

RATE_WEIGHT, ACCELERATION_WEIGHT = 1e-3, 1e-2  # of shares of the joints' limits in the effort, beside forces


@dataclass(frozen=True)
class RowScales:
    """Numbers that scale the rows and the effort; inputs of the compiled code."""

    force: np.ndarray  # limits (6 + joints) [N, N m]
    rate: np.ndarray  # of every number of a curve
    acceleration: np.ndarray
    cone: np.ndarray  # slope of the cone, its width at the ring [m]

    @property
    def as_vector(self) -> np.ndarray:
        """All numbers as one vector."""
        return np.concatenate([self.force, self.rate, self.acceleration, self.cone])


@dataclass(frozen=True)
class Programs:
    """Compiled functions of one instant, to be called for many."""

    rows: Any  # y, nominal, numbers -> rows, effort
    slopes: Any  # the same with derivatives by y
    curvature: Any | None  # weighted second derivatives of effort and rows; None: not used
    end: Any  # numbers -> error of the grasp, its derivative
    end_curvature: Any


def compile_programs(scene: PlanningScene, *, curvature: bool) -> Programs:
    """Compiled functions of a scene; the engine reuses code that it has compiled before."""
    n, m = scene.numbers, len(row_names(scene))
    y, nominal = np.zeros(3 * n), np.zeros(12)
    numbers = np.zeros(scene.craft.layout.nv + 2 * n + 2)
    return Programs(
        rows=engine.compile(partial(_rows_and_effort, scene), y, nominal, numbers),
        slopes=engine.compile(partial(_slopes, scene), y, nominal, numbers),
        curvature=engine.compile(partial(_curvature, scene), y, nominal, numbers, np.zeros(m + 1))
        if curvature
        else None,
        end=engine.compile(partial(_end_slopes, scene), y[:n]),
        end_curvature=engine.compile(partial(_end_curvature, scene), y[:n], np.zeros(6)),
    )


def _rows_and_effort(scene: PlanningScene, y: Vector, nominal: Vector, numbers: Vector) -> Vector:
    """All rows, then the effort: squares of forces, and a little of rates and accelerations, as shares of limits."""
    n, nv = scene.numbers, scene.craft.layout.nv
    ends = (0, nv, nv + n, nv + 2 * n, None)
    force, rate, acceleration, cone = (numbers[first:last] for first, last in pairwise(ends))
    found = row_values(scene, y, nominal, cone, force)
    moving, changing = y[n : 2 * n] / rate, y[2 * n :] / acceleration
    effort = found[:nv] @ found[:nv] + RATE_WEIGHT * moving @ moving + ACCELERATION_WEIGHT * changing @ changing
    return jnp.concatenate([found, effort[None]])


def _slopes(scene: PlanningScene, y: Vector, nominal: Vector, numbers: Vector) -> Numeric:
    return jax.jacfwd(lambda y: _rows_and_effort(scene, y, nominal, numbers))(y)


def _curvature(scene: PlanningScene, y: Vector, nominal: Vector, numbers: Vector, weights: Vector) -> Numeric:
    return jax.hessian(lambda y: weights @ _rows_and_effort(scene, y, nominal, numbers))(y)


def _end_slopes(scene: PlanningScene, numbers: Vector) -> tuple[Vector, Numeric]:
    return end_error(scene, numbers), jax.jacfwd(lambda x: end_error(scene, x))(numbers)


def _end_curvature(scene: PlanningScene, numbers: Vector, weights: Vector) -> Numeric:
    return jax.hessian(lambda x: weights @ end_error(scene, x))(numbers)
