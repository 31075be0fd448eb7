"""Model of a spacecraft: bodies, joints, wheels and frames in a tree. It contains no forces and no time."""

from typing import TYPE_CHECKING

from freefloat.model.actuator import Actuator, CommandPort, PortCommands, Switches
from freefloat.model.clearance import Clearance
from freefloat.model.commands import (
    BaseWrench,
    Brake,
    Command,
    FrameForces,
    JointRates,
    JointTorques,
    Latch,
    PortCommand,
    Release,
    ThrusterDuty,
    WheelTorques,
)
from freefloat.model.connections import Connection, Contact, JointBrake, Place
from freefloat.model.failure import Failure
from freefloat.model.flexibility import JointFlexibility
from freefloat.model.magnetic_field import MagneticField, UniformMagneticField
from freefloat.model.modal import ModalBody, Node, Rail
from freefloat.model.part_kinds import (
    Action,
    Clock,
    Effect,
    Field,
    Interaction,
    Measurements,
    Part,
    Sensor,
    SensorMemory,
    Software,
    Truth,
)
from freefloat.model.parts import Follow, Frame, Joint, JointLimits, RigidBody, Wheel
from freefloat.model.quantity import Quantity
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.state import State
from freefloat.model.world import World
from freefloat.renamed import renamed_names

__all__ = [
    "Action",
    "Actuator",
    "BaseWrench",
    "Brake",
    "Clearance",
    "Clock",
    "Command",
    "CommandPort",
    "Connection",
    "Contact",
    "Effect",
    "Failure",
    "Field",
    "Follow",
    "Frame",
    "FrameForces",
    "Interaction",
    "Joint",
    "JointBrake",
    "JointFlexibility",
    "JointLimits",
    "JointRates",
    "JointTorques",
    "Latch",
    "MagneticField",
    "Measurements",
    "ModalBody",
    "Node",
    "Part",
    "Place",
    "PortCommand",
    "PortCommands",
    "Quantity",
    "Rail",
    "Release",
    "RigidBody",
    "Sensor",
    "SensorMemory",
    "Software",
    "Spacecraft",
    "State",
    "Switches",
    "ThrusterDuty",
    "Truth",
    "UniformMagneticField",
    "Wheel",
    "WheelTorques",
    "World",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
