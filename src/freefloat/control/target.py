"""A target that drifts freely, and how a law knows where it is."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft, State
from freefloat.model.placement import require_pose
from freefloat.spatial import Pose, PoseLike
from freefloat.values import record
from freefloat.values.arrays import ArrayLike, Flag, Scalar, Vec3
from freefloat.values.checks import require_array, set_fields


@record
class DriftingTarget:
    """A grasp point that drifts on a straight line without turning: short times, or no orbit."""

    start: PoseLike  # X_NT at t = 0
    velocity: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) [m/s], N axes

    def __post_init__(self) -> None:
        velocity = require_array("DriftingTarget.velocity", self.velocity, "m/s", (3,), "x, y, z")
        set_fields(self, start=require_pose("DriftingTarget.start", self.start), velocity=velocity)

    def pose(self, t: Scalar) -> Pose:
        """X_NT at time t."""
        return Pose(position=self.start.p + self.velocity * t, rotation=self.start.R)


@record
class TargetEstimate:
    """What a law knows of the target now."""

    pose: Pose  # X_NT, as known
    velocity: Vec3  # [m/s], N axes, as known
    lost: Flag  # True while nothing recent is known


class Eye(Protocol):
    """How a law knows where the target is; it may remember what it saw."""

    target: DriftingTarget  # what it looks at, as it truly is

    def begin(self, state: State) -> Any:
        """The eye with whatever it must know of the state at the start."""
        ...

    def memory(self) -> Any:
        """Before the first look."""
        ...

    def look(self, memory: Any, craft: Spacecraft, state: State, t: Scalar) -> Any:
        """New memory after a look at time t."""
        ...

    def estimate(self, memory: Any, t: Scalar) -> TargetEstimate:
        """What is known at time t."""
        ...


@record
class PerfectEye:
    """Knows the target exactly."""

    target: DriftingTarget

    def begin(self, state: State) -> PerfectEye:
        """Nothing to remember."""
        return self

    def memory(self) -> tuple[()]:
        """None."""
        return ()

    def look(self, memory: tuple[()], craft: Spacecraft, state: State, t: Scalar) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def estimate(self, memory: tuple[()], t: Scalar) -> TargetEstimate:
        """The truth."""
        return TargetEstimate(self.target.pose(t), jnp.asarray(self.target.velocity), jnp.asarray(False))
