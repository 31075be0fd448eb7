"""Rotations, poses, six-vectors and inertias: the alphabet everything else is written in.

Importing this package switches JAX to float64, the one place where that happens.
"""

from freefloat.spatial.precision import enable_float64

enable_float64()

from freefloat.spatial.inertias import SpatialInertia  # noqa: E402
from freefloat.spatial.poses import Place, Pose, placed  # noqa: E402
from freefloat.spatial.records import record, static  # noqa: E402
from freefloat.spatial.sixvectors import (  # noqa: E402
    angular,
    cross_force,
    cross_motion,
    linear,
    six,
)

__all__ = [
    "Place",
    "Pose",
    "SpatialInertia",
    "angular",
    "cross_force",
    "cross_motion",
    "linear",
    "placed",
    "record",
    "six",
    "static",
]
