"""Joint motion through via points with durations: piecewise quintics, continuous up to the acceleration."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.rate_software import RateSoftware
from freefloat.model import Clock, Measurements, Spacecraft
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vector
from freefloat.values.checks import require_bounds
from freefloat.values.errors import unknown_name

_QUINTIC_PEAK = 1.875  # largest rate of one rest-to-rest quintic in units of way / duration


@record
class JointSpline(RateSoftware):
    """Moves joints through points, at rest at both ends, passing via points at the mean of the speeds around them.

    With two points it is the conventional quintic from rest to rest. It starts at its first point, wherever the
    joints are.
    """

    joints: tuple[str, ...] = static()  # pyright: ignore[reportIncompatibleMethodOverride]
    points: Matrix  # (points, joints) [rad, m]
    durations: Vector  # of each segment [s]

    def __post_init__(self) -> None:
        shape = np.shape(self.points)
        if len(shape) != 2 or shape[0] < 2 or shape[1] != len(self.joints):
            raise ValueError(f"JointSpline.points must be (points, {len(self.joints)}) with 2 or more, got {shape}.")
        if np.shape(self.durations) != (shape[0] - 1,):
            raise ValueError(f"JointSpline needs {shape[0] - 1} durations for {shape[0]} points.")
        require_bounds(self, {"points": "rad, m"})
        require_bounds(self, {"durations": "s"}, above=0.0)

    @staticmethod
    def through(
        craft: Spacecraft,
        points_deg: Sequence[Sequence[float | int] | Mapping[str, float | int]] | np.ndarray,
        durations: Sequence[float | int] | None = None,
        *,
        rate_deg_s: float | None = None,
        joints: Sequence[str] = (),
    ) -> JointSpline:
        """Spline through points in degrees (metres for prismatic joints), for all moving joints or for some.

        A point has a number for each joint, or gives some by name: the others stay as at the point before, at first
        zero. Give the durations, or a largest rate: then each segment is as short as that rate and the joints' own
        limits permit. Points beyond the joints' position limits are rejected.
        """
        craft.layout.require_moving(joints)
        names = tuple(joints) or craft.layout.moving_joints
        points_deg = _complete_points(craft, names, points_deg)
        turning = np.array([craft.joint(n).kind == "revolute" for n in names], dtype=bool)
        given = np.asarray(points_deg, dtype=float)
        if given.ndim != 2 or given.shape[1] != len(names):
            raise ValueError(f"Each point needs {len(names)} numbers ({', '.join(names)}), got shape {given.shape}.")
        points = np.where(turning, np.deg2rad(given), given)
        _require_within_limits(craft, names, points)
        if durations is None:
            own = np.array([float(craft.joint(n).limits.rate) for n in names])
            limit = np.minimum(own, np.inf if rate_deg_s is None else np.where(turning, np.deg2rad(rate_deg_s), np.inf))
            if not np.all(np.isfinite(limit)):
                raise ValueError("Give durations, or rate_deg_s, or rate limits for every joint.")
            # Via points are passed in motion; the rest-to-rest quintic is the fastest of the segments.
            durations = [float(np.max(_QUINTIC_PEAK * np.abs(d) / limit)) for d in np.diff(points, axis=0)]
        return JointSpline(joints=names, points=points, durations=np.asarray(durations, dtype=float))

    @property
    def duration(self) -> Scalar:
        """Time from rest to rest [s]."""
        return jnp.sum(self.durations)

    def positions(self, t: Scalar) -> Vector:
        """Joint positions at time t [rad, m]."""
        return self._evaluate(t)[0]

    def rates(self, memory: tuple[()], y: Measurements, clock: Clock) -> Vector:
        """Joint rates now, or their mean over the coming hold; the measured positions are not used."""
        return self.rates_at(clock.t, clock.hold)

    def rates_at(self, t: Scalar, hold: float = 0.0) -> Vector:
        """Joint rates at time t [rad/s, m/s], or their mean over the coming hold."""
        if hold > 0.0:
            return (self.positions(t + hold) - self.positions(t)) / hold
        return self._evaluate(t)[1]

    def _evaluate(self, t: Scalar) -> tuple[Numeric, Numeric]:
        """Positions and rates: quintic Hermite pieces with zero acceleration at every point."""
        speeds = self._via_speeds()
        position, rate, start = self.points[0], jnp.zeros(len(self.joints)), 0.0
        for k in range(len(self.points) - 1):
            T = self.durations[k]
            here = jnp.clip(t - start, 0.0, T)
            x, v = _hermite(self.points[k], self.points[k + 1], speeds[k], speeds[k + 1], T, here)
            reached = t >= start
            position, rate = jnp.where(reached, x, position), jnp.where(reached, v, rate)
            start = start + T
        return position, jnp.where(t < start, rate, 0.0)

    def _via_speeds(self) -> list[Numeric]:
        means = [(self.points[k + 1] - self.points[k]) / self.durations[k] for k in range(len(self.points) - 1)]
        still = jnp.zeros(len(self.joints))
        return [still, *(0.5 * (a + b) for a, b in itertools.pairwise(means)), still]


@record
class HoldJoints(RateSoftware):
    """Keeps joints where they are, by rates of zero."""

    joints: tuple[str, ...] = static()  # pyright: ignore[reportIncompatibleMethodOverride]

    def rates(self, memory: tuple[()], y: Measurements, clock: Clock) -> Vector:
        """Joint rates of zero."""
        return jnp.zeros(len(self.joints))


def _hermite(a: Numeric, b: Numeric, va: Numeric, vb: Numeric, T: Scalar, t: Scalar) -> tuple[Numeric, Numeric]:
    """Quintic from (a, va, 0) to (b, vb, 0) in time T: position and rate at time t."""
    s = t / T
    way, da, db = b - a, va * T, vb * T
    c3, c4, c5 = 10.0 * way - 6.0 * da - 4.0 * db, -15.0 * way + 8.0 * da + 7.0 * db, 6.0 * way - 3.0 * (da + db)
    position = a + s * (da + s**2 * (c3 + s * (c4 + s * c5)))
    rate = (da + s**2 * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))) / T
    return position, rate


def _complete_points(craft: Spacecraft, names: tuple[str, ...], points: Any) -> Any:
    """Points with a number for every joint; those that name some joints leave the others where they were."""
    if isinstance(points, np.ndarray) or not any(isinstance(point, Mapping) for point in points):
        return points
    last, found = dict.fromkeys(names, 0.0), []
    for point in points:
        if isinstance(point, Mapping) and (unknown := [name for name in point if name not in names]):
            raise unknown_name(craft.name, "joint of this spline", str(unknown[0]), names)
        last = last | dict(point if isinstance(point, Mapping) else zip(names, point, strict=True))
        found.append([last[name] for name in names])
    return found


def _require_within_limits(craft: Spacecraft, names: Sequence[str], points: np.ndarray) -> None:
    for k, name in enumerate(names):
        limits = craft.joint(name).limits
        low, high = float(limits.lower), float(limits.upper)
        size, unit = (180.0 / np.pi, "deg") if craft.joint(name).kind == "revolute" else (1.0, "m")
        outside = [float(x) for x in points[:, k] if not low <= x <= high]
        if outside:
            raise ModelError(
                f"A point asks joint '{name}' for {size * outside[0]:.4g} {unit}, beyond its limits {size * low:.4g} "
                f"to {size * high:.4g} {unit}."
            )
