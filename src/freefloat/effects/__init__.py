"""What pushes a spacecraft: the gravity gradient of its orbit, thrusters, a wrench from outside; orbital motion."""

from freefloat.effects.circular_orbit import EARTH_GRAVITY, EARTH_RADIUS, CircularOrbit
from freefloat.effects.co_rotation import co_rotating_state
from freefloat.effects.gravity_gradient import GravityGradient, gravity_gradient_torque
from freefloat.effects.relative_motion import RelativeState, relative_drift, transition_matrix
from freefloat.effects.thrusters import Thruster, Thrusters, torque_pairs
from freefloat.effects.wrench_pulse import WrenchPulse

__all__ = [
    "EARTH_GRAVITY",
    "EARTH_RADIUS",
    "CircularOrbit",
    "GravityGradient",
    "RelativeState",
    "Thruster",
    "Thrusters",
    "WrenchPulse",
    "co_rotating_state",
    "gravity_gradient_torque",
    "relative_drift",
    "torque_pairs",
    "transition_matrix",
]
