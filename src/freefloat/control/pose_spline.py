"""A path through poses: piecewise quintics, continuous up to the acceleration, in position and in attitude."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.timed_path import TimedPath, clip_time
from freefloat.spatial import Pose, PoseLike, as_pose
from freefloat.spatial.rotations import dexp_inverse, rotation_exp, rotation_log
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Scalar
from freefloat.values.checks import require_array, require_quantity

STILL = (0.0, 0.0, 0.0)


@record
class PoseSpline(TimedPath):
    """Path that passes poses at the mean of the speeds around them, without acceleration there; made by `through`."""

    ways: Numeric  # (segments, 6, 3) coefficients of the position over the segment's time from 0 to 1 [m]
    turns: Numeric  # (segments, 6, 3) coefficients of the rotation vector since its first pose, in its axes [rad]
    attitudes: Numeric  # (segments, 3, 3) of its first pose
    durations: Numeric  # (segments,) [s]

    @staticmethod
    def through(
        poses: Sequence[PoseLike],
        durations: Sequence[float | int],
        *,
        start_velocity: Sequence[float | int] = STILL,
        end_velocity: Sequence[float | int] = STILL,
        start_spin: Sequence[float | int] = STILL,
        end_spin: Sequence[float | int] = STILL,
    ) -> PoseSpline:
        """Spline through poses, or positions where nothing turns, with the durations between them [s].

        At rest at both ends, unless velocities [m/s] or angular rates [rad/s] are given, in the axes of the path. From
        pose to pose it turns the short way.
        """
        if len(poses) < 2:
            raise ModelError(f"PoseSpline.through needs two poses or more, got {len(poses)}.")
        n = len(poses) - 1
        T = require_array("PoseSpline.through: durations", durations, "s", (n,), f"{n} numbers for {n + 1} poses")
        require_quantity("PoseSpline.through: durations", T, "s", above=0.0)
        placed = [as_pose(pose) for pose in poses]
        p, R = (np.stack([np.asarray(getattr(X, name), dtype=float) for X in placed]) for name in ("p", "R"))
        turned = np.stack([np.asarray(rotation_log(a.T @ b)) for a, b in itertools.pairwise(R)])
        ends = [
            require_array(f"PoseSpline.through: {name}", value, "", (3,), "three numbers")
            for name, value in (
                ("start_velocity", start_velocity),
                ("end_velocity", end_velocity),
                ("start_spin", start_spin),
                ("end_spin", end_spin),
            )
        ]
        v = _via_speeds(np.diff(p, axis=0) / T[:, None], ends[0], ends[1])
        w = _via_speeds(np.einsum("kij,kj->ki", R[:-1], turned) / T[:, None], ends[2], ends[3])
        ways = [_quintic_coefficients(p[k], p[k + 1], v[k], v[k + 1], np.zeros(3), T[k]) for k in range(n)]
        turns = [_rotation_coefficients(turned[k], R[k].T @ w[k], R[k + 1].T @ w[k + 1], T[k]) for k in range(n)]
        return PoseSpline(np.stack(ways), np.stack(turns), R[:-1], T)

    @property
    def duration(self) -> Scalar:
        """Time from the first pose to the last [s]."""
        return jnp.sum(jnp.asarray(self.durations))

    def pose(self, t: Scalar) -> Pose:
        """Pose at time t; the spline stands still before its start and after its end."""
        way, turn, R, T, start, since = self.ways[0], self.turns[0], self.attitudes[0], self.durations[0], 0.0, 0.0
        for k in range(1, len(self.durations)):
            start = start + self.durations[k - 1]
            later = t >= start
            ours = (self.ways[k], self.turns[k], self.attitudes[k], self.durations[k], start)
            way, turn, R, T, since = (
                jnp.where(later, new, old) for new, old in zip(ours, (way, turn, R, T, since), strict=True)
            )
        s = clip_time(t - since, T) / T
        return Pose(position=_polynomial(way, s), rotation=R @ rotation_exp(_polynomial(turn, s)))


def _via_speeds(means: np.ndarray, start: Numeric, end: Numeric) -> np.ndarray:
    """Velocity at every pose: the given one at the ends, the mean of the speeds around it elsewhere."""
    return np.vstack([start, 0.5 * (means[:-1] + means[1:]), end])


def _rotation_coefficients(turned: np.ndarray, start: Numeric, end: Numeric, T: float) -> np.ndarray:
    """Coefficients of the rotation vector of a segment with its angular rates at both ends, in body axes."""
    # At the end the rotation vector is not small: its rate is not the angular rate, and it accelerates.
    rate = dexp_inverse(jnp.asarray(turned), end)
    acceleration = jax.jvp(lambda phi: dexp_inverse(phi, end), (jnp.asarray(turned),), (rate,))[1]
    return _quintic_coefficients(np.zeros(3), turned, start, np.asarray(rate), np.asarray(acceleration), T)


def _quintic_coefficients(a: Numeric, b: Numeric, va: Numeric, vb: Numeric, ab: Numeric, T: float) -> np.ndarray:
    """Coefficients over s = t/T of a quintic from (a, va, no acceleration) to (b, vb, acceleration ab)."""
    da, db, ddb = va * T, vb * T, ab * T**2
    way, change = b - a - da, db - da
    c3 = 10.0 * way - 4.0 * change + 0.5 * ddb
    c4 = -15.0 * way + 7.0 * change - ddb
    c5 = 6.0 * way - 3.0 * change + 0.5 * ddb
    return np.stack([a, da, np.zeros(3), c3, c4, c5])


def _polynomial(c: Numeric, s: Scalar) -> Numeric:
    return c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
