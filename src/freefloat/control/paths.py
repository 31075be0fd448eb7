"""Paths of a hand: its pose relative to its start, and its velocity, as functions of time.

Everything is given in the axes that the path's user chooses as its start frame: the hand's own at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from freefloat.control.profiles import Profile, Quintic, Trapezoid, mean_rate
from freefloat.model.physical_checks import unit_axis
from freefloat.spatial.rotations import rotation_about
from freefloat.values import ModelError, record
from freefloat.values.arrays import Mat3, Numeric, Scalar, Vec3


@runtime_checkable
class Path(Protocol):
    """Displacement and rotation since the start, and their rates."""

    @property
    def duration(self) -> Numeric | float:
        """Time from rest to rest [s]."""
        ...

    def displacement(self, t: Scalar) -> Vec3:
        """Displacement since the start [m]."""
        ...

    def velocity(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Velocity at time t, or its mean over the coming `hold` seconds [m/s]."""
        ...

    def rotation(self, t: Scalar) -> Mat3:
        """Rotation since the start."""
        ...

    def spin(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Angular rate at time t, or its mean over the coming `hold` seconds [rad/s]."""
        ...


@record
class Line:
    """A straight line at constant speed with linear ramps at both ends; the direction is in hand axes at the start."""

    direction: Vec3 | Sequence[float | int]  # in the axes of the hand at the start; its length does not matter
    length: Numeric | float  # [m]
    speed: Numeric | float  # of the plateau [m/s]
    ramp: Numeric | float = 2.0  # time to reach the plateau, and to stop again [s]

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit_axis("Line.direction", self.direction))
        self.profile  # noqa: B018  its own checks

    @property
    def profile(self) -> Trapezoid:
        """Profile of the distance along the line over time."""
        return Trapezoid(length=self.length, speed=self.speed, ramp=self.ramp)

    @property
    def heading(self) -> Vec3:
        """Unit vector along the line, in hand axes at the start."""
        return self.direction  # pyright: ignore[reportReturnType]

    @property
    def duration(self) -> Numeric | float:
        """Time from rest to rest [s]."""
        return self.profile.duration

    def distance(self, t: Scalar) -> Scalar:
        """Distance covered at time t [m]."""
        return self.profile.distance(t)

    def rate(self, t: Scalar) -> Scalar:
        """Speed along the path at time t [m/s]."""
        return self.profile.rate(t)

    def displacement(self, t: Scalar) -> Vec3:
        """Displacement since the start, in hand axes at the start [m]."""
        return self.heading * self.distance(t)

    def velocity(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Velocity at time t, or its mean over the coming `hold` seconds, in hand axes at the start [m/s]."""
        return self.heading * mean_rate(self.profile, t, hold)

    def rotation(self, t: Scalar) -> Mat3:
        """Rotation since the start: the identity, because a line does not turn."""
        return np.eye(3)

    def spin(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Angular rate, which is zero on a line [rad/s]."""
        return np.zeros(3)


@record
class Turn:
    """A rotation about an axis fixed in the hand's axes at the start, its point at rest."""

    axis: Vec3 | Sequence[float | int]  # in the axes of the hand at the start; its length does not matter
    profile: Profile  # angle over time [rad]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis("Turn.axis", self.axis))
        if not isinstance(self.profile, Profile):
            raise ModelError(f"Turn.profile must be a profile such as Quintic or Trapezoid, got {self.profile!r}.")

    @staticmethod
    def by_deg(axis: Vec3 | Sequence[float | int], angle_deg: float, duration: float) -> Turn:
        """Rotation by so many degrees from rest to rest."""
        return Turn(axis=axis, profile=Quintic(length=float(np.deg2rad(angle_deg)), duration=duration))

    @property
    def duration(self) -> Numeric | float:
        """Time from rest to rest [s]."""
        return self.profile.duration

    def displacement(self, t: Scalar) -> Vec3:
        """Displacement since the start, which is zero for a rotation [m]."""
        return np.zeros(3)

    def velocity(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Velocity, which is zero for a rotation [m/s]."""
        return np.zeros(3)

    def rotation(self, t: Scalar) -> Mat3:
        """Rotation since the start."""
        return rotation_about(self.axis, self.profile.distance(t))  # pyright: ignore[reportArgumentType]

    def spin(self, t: Scalar, hold: float = 0.0) -> Vec3:
        """Angular rate at time t, or its mean over the coming `hold` seconds [rad/s]."""
        return jnp.asarray(self.axis) * mean_rate(self.profile, t, hold)


_MEMBERS = {
    "duration": "duration [s]",
    "displacement": "displacement(t) [m]",
    "velocity": "velocity(t, hold) [m/s]",
    "rotation": "rotation(t), a matrix",
    "spin": "spin(t, hold) [rad/s]",
}


def require_path(software: str, path: object) -> None:
    """Raise an error for an object that is no path; the message names what it lacks."""
    if isinstance(path, type):
        raise ModelError(
            f"{software}.path must be a path, got the class {path.__name__}. Make one: {path.__name__}(...)."
        )
    missing = [words for member, words in _MEMBERS.items() if not hasattr(path, member)]
    if len(missing) == len(_MEMBERS):
        raise ModelError(f"{software}.path must be a path such as Line, Turn, Circle or PoseSpline, got {path!r}.")
    if missing:
        raise ModelError(
            f"{software}.path: {type(path).__name__} lacks {', '.join(missing)}. Derive it from ff.control.TimedPath, "
            "which needs duration and pose(t) only, or write what is missing."
        )
