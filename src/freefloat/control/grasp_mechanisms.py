"""Grasp mechanisms as simple models: where they can grasp something, and how long closing takes.

A mechanism sits at one frame, what it grasps is another; z of the mechanism's frame points out of
its mouth. It closes on an object in its envelope. If the object leaves the envelope while it closes, it is missed.
"""

from __future__ import annotations

from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.closest_points import length
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_log
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar
from freefloat.values.checks import require_bounds


@record
class _Mechanism:
    """Fields that all mechanisms have."""

    angle: Numeric | float  # how far the target may be turned away [rad]
    closing_time: Numeric | float  # from the first motion to a firm hold [s]
    opening_time: Numeric | float = 0.0  # after a miss, until it can close again [s]

    def _require_times(self) -> None:
        require_bounds(self, {"angle": "rad"}, above=0.0, allow_infinite=True)
        require_bounds(self, {"closing_time": "s", "opening_time": "s"}, least=0.0)


@record
class ThreeWireSnare(_Mechanism):
    """Three wires across a tube that close around a pin: its tip must be in the tube, from the mouth inwards.

    A turn of the pin about its own axis, z, does not matter.
    """

    radius: Numeric | float = 0.1  # of the tube [m]
    depth: Numeric | float = 0.1  # [m]

    def __post_init__(self) -> None:
        self._require_times()
        require_bounds(self, {"radius": "m", "depth": "m"}, above=0.0)

    def inside(self, X_MG: Pose) -> Flag:
        """Whether a pin with its tip at the origin of frame G is where the wires close."""
        z, off = X_MG.p[2], length(jnp.asarray(X_MG.p)[:2])
        return (off <= self.radius) & (z <= 0.0) & (z >= -self.depth) & (tilt(X_MG) <= self.angle)


@record
class ParallelJaw(_Mechanism):
    """Two jaws that close along y on a bar or a handle: it must be between them, and aligned in every direction."""

    opening: Numeric | float = 0.05  # between the open jaws, along y [m]
    width: Numeric | float = 0.05  # of the jaws, along x [m]
    depth: Numeric | float = 0.05  # of the jaws, along z [m]

    def __post_init__(self) -> None:
        self._require_times()
        require_bounds(self, {"opening": "m", "width": "m", "depth": "m"}, above=0.0)

    def inside(self, X_MG: Pose) -> Flag:
        """Whether a handle at frame G, which is meant to coincide with the jaws' frame, is between the jaws."""
        room = 0.5 * jnp.stack([jnp.asarray(x, float) for x in (self.width, self.opening, self.depth)])
        return jnp.all(jnp.abs(jnp.asarray(X_MG.p)) <= room) & (length(rotation_log(X_MG.R)) <= self.angle)


@record
class ProbeAndDrogue(_Mechanism):
    """A cone that guides the tip of a probe to its throat, where latches close: the tip must be near the floor.

    The frame is that of the cone, z from its floor to its mouth; z of the probe's frame points ahead, against that. A
    turn of the probe about its axis does not matter.
    """

    mouth: Numeric | float = 0.15  # radius of the cone at its open end [m]
    depth: Numeric | float = 0.2  # of the cone [m]
    throat: Numeric | float = 0.03  # radius at the floor [m]
    latches: Numeric | float = 0.05  # above the floor up to which the latches reach [m]

    def __post_init__(self) -> None:
        self._require_times()
        require_bounds(self, {"mouth": "m", "depth": "m", "throat": "m", "latches": "m"}, above=0.0)

    def inside(self, X_MG: Pose) -> Flag:
        """Whether a probe with the centre of its tip at the origin of frame G is where the latches close."""
        return self.guides(X_MG) & (X_MG.p[2] <= self.latches) & (np.pi - tilt(X_MG) <= self.angle)

    def guides(self, X_MG: Pose) -> Flag:
        """Whether the tip is anywhere inside the cone."""
        z, off = X_MG.p[2], length(jnp.asarray(X_MG.p)[:2])
        wide = self.throat + (self.mouth - self.throat) * z / self.depth
        return (off <= wide) & (z >= 0.0) & (z <= self.depth)


def tilt(X_MG: Pose) -> Scalar:
    """Angle between the z axes of two frames [rad]."""
    across = jnp.sqrt(jnp.maximum(X_MG.R[0, 2] ** 2 + X_MG.R[1, 2] ** 2, 0.0))
    return jnp.arctan2(across, X_MG.R[2, 2])


GraspMechanism: TypeAlias = ThreeWireSnare | ParallelJaw | ProbeAndDrogue
