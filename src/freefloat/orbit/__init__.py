"""The orbit around the spacecraft: circular motion, the orbital frame, gravity gradient, relative motion."""

from freefloat.orbit.circular import EARTH_GRAVITY, EARTH_RADIUS, CircularOrbit
from freefloat.orbit.drift import co_rotating
from freefloat.orbit.gravity_gradient import GravityGradient, gravity_gradient_torque
from freefloat.orbit.relative_motion import RelativeState, relative_drift, transition_matrix

__all__ = [
    "EARTH_GRAVITY",
    "EARTH_RADIUS",
    "CircularOrbit",
    "GravityGradient",
    "RelativeState",
    "co_rotating",
    "gravity_gradient_torque",
    "relative_drift",
    "transition_matrix",
]
