"""Rotations, poses, six-vectors and inertias."""

from freefloat.spatial.inertias import SpatialInertia
from freefloat.spatial.poses import Pose, PoseLike, as_pose
from freefloat.spatial.sixvectors import angular, cross_force, cross_motion, linear, six

__all__ = ["Pose", "PoseLike", "SpatialInertia", "angular", "as_pose", "cross_force", "cross_motion", "linear", "six"]
