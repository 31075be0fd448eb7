"""Rotations, poses, six-vectors and inertias: the alphabet everything else is written in."""

from freefloat.spatial.inertias import SpatialInertia
from freefloat.spatial.poses import Place, Pose, placed
from freefloat.spatial.sixvectors import angular, cross_force, cross_motion, linear, six

__all__ = ["Place", "Pose", "SpatialInertia", "angular", "cross_force", "cross_motion", "linear", "placed", "six"]
