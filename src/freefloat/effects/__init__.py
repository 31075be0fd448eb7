"""Forces on a spacecraft: orbit, joints, wheels, thrusters, external wrenches; also orbital motion and failures."""

from typing import TYPE_CHECKING

from freefloat.effects.circular_orbit import EARTH_GRAVITY, EARTH_RADIUS, CircularOrbit
from freefloat.effects.co_rotation import PlaceInOrbit, co_rotating_state, co_rotating_states
from freefloat.effects.contact import CompliantContact
from freefloat.effects.earth_magnetic_field import EarthMagneticField
from freefloat.effects.elliptic_orbit import EARTH_J2, EllipticOrbit, eccentric_anomaly
from freefloat.effects.failures import BlindSensor, DeadWheel, Failure, OpenThruster, StuckJoint
from freefloat.effects.gravity_gradient import GravityGradient
from freefloat.effects.joint_friction import Friction, JointFriction
from freefloat.effects.joint_motors import joint_motor_channels, limit_joint_torques
from freefloat.effects.joint_spring import JointSpring
from freefloat.effects.relative_gravity import gravity_gradient_torque
from freefloat.effects.relative_motion import RelativeState, relative_drift, transition_matrix
from freefloat.effects.thrusters import Thruster, Thrusters, ValveState, torque_pairs
from freefloat.effects.wheel_motors import limit_wheel_torques, wheel_channel
from freefloat.effects.wrench_pulse import WrenchPulse
from freefloat.effects.wrench_steps import WrenchSteps
from freefloat.renamed import renamed_names

__all__ = [
    "EARTH_GRAVITY",
    "EARTH_J2",
    "EARTH_RADIUS",
    "BlindSensor",
    "CircularOrbit",
    "CompliantContact",
    "DeadWheel",
    "EarthMagneticField",
    "EllipticOrbit",
    "Failure",
    "Friction",
    "GravityGradient",
    "JointFriction",
    "JointSpring",
    "OpenThruster",
    "PlaceInOrbit",
    "RelativeState",
    "StuckJoint",
    "Thruster",
    "Thrusters",
    "ValveState",
    "WrenchPulse",
    "WrenchSteps",
    "co_rotating_state",
    "co_rotating_states",
    "eccentric_anomaly",
    "gravity_gradient_torque",
    "joint_motor_channels",
    "limit_joint_torques",
    "limit_wheel_torques",
    "relative_drift",
    "torque_pairs",
    "transition_matrix",
    "wheel_channel",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
