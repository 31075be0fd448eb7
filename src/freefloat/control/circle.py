"""Path of a hand along a circle, or an arc of one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.control.profiles import Profile, Quintic
from freefloat.control.timed_path import TimedPath
from freefloat.model.physical_checks import unit_axis
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_about
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Numeric, Scalar, Vec3
from freefloat.values.checks import require_array


@record
class Circle(TimedPath):
    """An arc about an axis through a centre, beginning at the origin of the axes in which it is given.

    The hand keeps its attitude, or turns with the arc where it is `facing` the centre.
    """

    centre: Vec3 | Sequence[float | int]  # [m]
    axis: Vec3 | Sequence[float | int]  # its length does not matter
    profile: Profile  # angle over time [rad]
    facing: bool = static(default=False)

    def __post_init__(self) -> None:
        centre = require_array("Circle.centre", self.centre, "m", (3,), "three numbers")
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "axis", unit_axis("Circle.axis", self.axis))
        if not isinstance(self.profile, Profile):
            raise ModelError(f"Circle.profile must be a profile such as Quintic or Trapezoid, got {self.profile!r}.")

    @staticmethod
    def by_deg(
        centre: Vec3 | Sequence[float | int],
        axis: Vec3 | Sequence[float | int],
        angle_deg: float,
        duration: float,
        *,
        facing: bool = False,
    ) -> Circle:
        """Arc of so many degrees from rest to rest; 360 are the whole circle."""
        profile = Quintic(length=float(np.deg2rad(angle_deg)), duration=duration)
        return Circle(centre=centre, axis=axis, profile=profile, facing=facing)

    @property
    def duration(self) -> Numeric | float:
        """Time from rest to rest [s]."""
        return self.profile.duration

    def pose(self, t: Scalar) -> Pose:
        """Pose at time t: position c - R c for a rotation R about the axis."""
        centre, axis = np.asarray(self.centre) if isinstance(self.centre, Sequence) else self.centre, self.axis
        R = rotation_about(axis, self.profile.distance(t))  # pyright: ignore[reportArgumentType]
        return Pose(position=centre - R @ centre, rotation=R if self.facing else np.eye(3))
