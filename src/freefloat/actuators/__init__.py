"""Actuators: what is commanded and pushes or moves a spacecraft, with limits; and failures that wrap parts."""

from freefloat.actuators.control_moment_gyros import ControlMomentGyros
from freefloat.actuators.failures import (
    BlindSensor,
    DeadWheel,
    DriftingSensor,
    FrozenSensor,
    OpenThruster,
    StuckJoint,
    WeakActuator,
)
from freefloat.actuators.ideal_forces import IdealBaseWrench, IdealFrameForces
from freefloat.actuators.joint_motors import JointMotors, RateDrives, joint_motor_channels, limit_joint_torques
from freefloat.actuators.magnetorquers import Magnetorquers
from freefloat.actuators.standard import standard_actuators
from freefloat.actuators.switches import Brakes, Latches
from freefloat.actuators.thrusters import Thruster, Thrusters, ValveState, torque_pairs
from freefloat.actuators.wheel_motors import WheelMotors, limit_wheel_torques, limited_port_torques, wheel_channel

__all__ = [
    "BlindSensor",
    "Brakes",
    "ControlMomentGyros",
    "DeadWheel",
    "DriftingSensor",
    "FrozenSensor",
    "IdealBaseWrench",
    "IdealFrameForces",
    "JointMotors",
    "Latches",
    "Magnetorquers",
    "OpenThruster",
    "RateDrives",
    "StuckJoint",
    "Thruster",
    "Thrusters",
    "ValveState",
    "WeakActuator",
    "WheelMotors",
    "joint_motor_channels",
    "limit_joint_torques",
    "limit_wheel_torques",
    "limited_port_torques",
    "standard_actuators",
    "torque_pairs",
    "wheel_channel",
]
