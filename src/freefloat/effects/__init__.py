"""Forces on a spacecraft that nobody commands: orbit, joints, contact, external wrenches; also orbital motion."""

from typing import TYPE_CHECKING

from freefloat.effects.circular_orbit import EARTH_GRAVITY, EARTH_RADIUS, CircularOrbit
from freefloat.effects.co_rotation import PlaceInOrbit, co_rotating_state, co_rotating_states
from freefloat.effects.contact import CompliantContact
from freefloat.effects.earth_magnetic_field import EarthMagneticField
from freefloat.effects.elliptic_orbit import EARTH_J2, EllipticOrbit, eccentric_anomaly
from freefloat.effects.gravity_gradient import GravityGradient
from freefloat.effects.joint_friction import Friction, JointFriction
from freefloat.effects.joint_spring import JointSpring
from freefloat.effects.relative_gravity import gravity_gradient_torque
from freefloat.effects.relative_motion import RelativeState, relative_drift, transition_matrix
from freefloat.effects.wrench_pulse import WrenchPulse
from freefloat.effects.wrench_steps import WrenchSteps
from freefloat.renamed import renamed_names

__all__ = [
    "EARTH_GRAVITY",
    "EARTH_J2",
    "EARTH_RADIUS",
    "CircularOrbit",
    "CompliantContact",
    "EarthMagneticField",
    "EllipticOrbit",
    "Friction",
    "GravityGradient",
    "JointFriction",
    "JointSpring",
    "PlaceInOrbit",
    "RelativeState",
    "WrenchPulse",
    "WrenchSteps",
    "co_rotating_state",
    "co_rotating_states",
    "eccentric_anomaly",
    "gravity_gradient_torque",
    "relative_drift",
    "transition_matrix",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
