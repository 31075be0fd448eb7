"""Paths given by their pose as a function of time: velocity and spin are its exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from freefloat.spatial import Pose, as_pose
from freefloat.spatial.rotations import axial, rotation_log
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Mat3, Numeric, Scalar, Vec3
from freefloat.values.checks import require_bounds


@record
class TimedPath:
    """A user's own path: subclasses have a `duration` and write `pose(t)`; the rates are its derivatives."""

    def pose(self, t: Scalar) -> Pose:
        """Desired pose of the hand at time t, in the axes that the path's user chooses; smooth in t."""
        raise NotImplementedError

    def displacement(self, t: Scalar) -> Vec3:
        """Position at time t [m]."""
        return jnp.asarray(self.pose(jnp.asarray(t, dtype=float)).p, dtype=float)

    def rotation(self, t: Scalar) -> Mat3:
        """Attitude at time t."""
        return jnp.asarray(self.pose(jnp.asarray(t, dtype=float)).R, dtype=float)

    def velocity(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Velocity at time t, or its mean over the coming `hold` seconds [m/s]."""
        if hold > 0.0:
            return (self.displacement(t + hold) - self.displacement(t)) / hold
        return jax.jvp(self.displacement, *_time_tangent(t))[1]

    def spin(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Angular rate at time t, or the constant one that reaches the attitude after `hold` seconds [rad/s]."""
        if hold > 0.0:
            return rotation_log(self.rotation(t + hold) @ self.rotation(t).T) / hold
        R, change = jax.jvp(self.rotation, *_time_tangent(t))
        return -0.5 * axial(change @ R.T)


@record
class FunctionPath(TimedPath):
    """Path by any function of time that returns a pose, or a position [m] where the attitude stays."""

    function: Callable[[Any], Any] = static()  # of the time since the start [s], in jax.numpy
    duration: Numeric | float  # after which it stands still [s]

    def __post_init__(self) -> None:
        require_bounds(self, {"duration": "s"}, above=0.0)
        if not callable(self.function):
            raise ModelError(f"FunctionPath.function must be a function of the time, got {self.function!r}.")

    def pose(self, t: Scalar) -> Pose:
        """Pose that the function returns; before 0 and after the duration its values there."""
        return as_pose(self.function(clip_time(t, self.duration)))


def clip_time(t: Scalar, duration: Numeric | float) -> Scalar:
    """Time within 0 and the duration; its rate is one there, the ends included, and zero elsewhere."""
    return jnp.where(t < 0.0, 0.0, jnp.where(t > duration, duration, t))


def _time_tangent(t: Scalar) -> tuple[tuple[Scalar], tuple[Scalar]]:
    return (jnp.asarray(t, dtype=float),), (jnp.ones(()),)
