"""A transport delay: commanded motions come out a delay later, smooth between cycles."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from freefloat.hil.cell.rotations import conjugate, cross, matrix_of, multiply, quaternion_exp, quaternion_log
from freefloat.spatial.sixvectors import angular, linear
from freefloat.values.arrays import Numeric


@dataclass(frozen=True)
class CellMotion:
    """Pose and twist of a frame on the floor."""

    position: np.ndarray  # (3,) [m]
    quaternion: np.ndarray  # (4,), scalar first
    twist: np.ndarray  # (6,) [m/s, rad/s], in its own axes


def hermite_weights(
    share: float, cycle: float
) -> tuple[tuple[float, float, float, float], tuple[float, float, float, float]]:
    """Hermite weights of (value, rate, value, rate) at both ends of a cycle, for value and rate in between."""
    s, s2, s3 = share, share**2, share**3
    value = (2.0 * s3 - 3.0 * s2 + 1.0, cycle * (s3 - 2.0 * s2 + s), 3.0 * s2 - 2.0 * s3, cycle * (s3 - s2))
    rate = (6.0 * (s2 - s) / cycle, 3.0 * s2 - 4.0 * s + 1.0, 6.0 * (s - s2) / cycle, 3.0 * s2 - 2.0 * s)
    return value, rate


def motion_between(before: CellMotion, after: CellMotion, share: float, cycle: float) -> CellMotion:
    """Interpolated motion at a share of the cycle between two motions, in pose and twist (fourth order)."""
    if share <= 0.0 or share >= 1.0:
        return before if share <= 0.0 else after
    turn = quaternion_log(multiply(conjugate(before.quaternion), after.quaternion))
    value, rate = hermite_weights(share, cycle)
    ends = (
        before.position,
        matrix_of(before.quaternion) @ linear(before.twist),
        after.position,
        matrix_of(after.quaternion) @ linear(after.twist),
    )
    # The rotation vector from `before` on: its rate is that of the body, turned back by half of it.
    turns = (np.zeros(3), angular(before.twist), turn, _rate_of_turn(turn, np.asarray(angular(after.twist))))
    angle, angle_rate = _weighted_sum(value, turns), _weighted_sum(rate, turns)
    quaternion = multiply(before.quaternion, quaternion_exp(angle))
    omega = angle_rate - 0.5 * cross(angle, angle_rate) + cross(angle, cross(angle, angle_rate)) / 6.0
    velocity = matrix_of(quaternion).T @ _weighted_sum(rate, ends)
    return CellMotion(_weighted_sum(value, ends), quaternion, np.concatenate([velocity, omega]))


def _weighted_sum(weights: tuple[float, ...], values: tuple[Numeric, ...]) -> np.ndarray:
    return np.asarray(sum(w * v for w, v in zip(weights, values, strict=True)))


def _rate_of_turn(turn: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Rate of a rotation vector whose rotation turns with body rate omega, to second order."""
    change = cross(turn, omega)
    return omega + 0.5 * change + cross(turn, change) / 12.0


class MotionHistory:
    """Commands of the last cycles; the command of a delay ago comes out."""

    def __init__(self, first: CellMotion, delay: float, cycle: float) -> None:
        self.cycle = cycle
        whole, self._share = divmod(delay / cycle, 1.0)
        if self._share > 1.0 - 1e-9:  # a delay that is a whole number of cycles but for rounding
            whole, self._share = whole + 1, 0.0
        self._past: deque[CellMotion] = deque([first] * (int(whole) + 2), maxlen=int(whole) + 2)

    def append(self, motion: CellMotion) -> CellMotion:
        """Store the command for the end of this cycle; returns the delayed motion at that time."""
        self._past.append(motion)
        before, after = self._past[0], self._past[1]
        return after if self._share < 1e-9 else motion_between(before, after, 1.0 - self._share, self.cycle)
