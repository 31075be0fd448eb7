"""What a spacecraft is: bodies, joints, wheels and frames in a tree. Knows nothing of forces or time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from freefloat.model.clearance import Clearance
from freefloat.model.commands import (
    BaseWrench,
    Brake,
    Command,
    FrameForces,
    JointRates,
    JointTorques,
    Latch,
    Release,
    ThrusterDuty,
    WheelTorques,
)
from freefloat.model.connections import Connection, Contact, JointBrake, Place
from freefloat.model.flexibility import JointFlexibility
from freefloat.model.modal import ModalBody, Node, Rail
from freefloat.model.parts import Follow, Frame, Joint, JointLimits, RigidBody, Wheel
from freefloat.model.ports import (
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
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.state import State
from freefloat.model.world import World

if TYPE_CHECKING:
    from freefloat.model.readers.mjcf.reader import read_mjcf
    from freefloat.model.readers.reports import ReadingNote
    from freefloat.model.readers.sdf.reader import read_sdf
    from freefloat.model.readers.urdf.reader import read_urdf
    from freefloat.model.readers.urdf.writer import write_urdf

__all__ = [
    "Action",
    "BaseWrench",
    "Brake",
    "Clearance",
    "Clock",
    "Command",
    "Connection",
    "Contact",
    "Effect",
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
    "Measurements",
    "ModalBody",
    "Node",
    "Part",
    "Place",
    "Rail",
    "ReadingNote",
    "Release",
    "RigidBody",
    "Sensor",
    "SensorMemory",
    "Software",
    "Spacecraft",
    "State",
    "ThrusterDuty",
    "Truth",
    "Wheel",
    "WheelTorques",
    "World",
    "read_mjcf",
    "read_sdf",
    "read_urdf",
    "write_urdf",
]

_READERS = {
    "ReadingNote": "reports",
    "read_mjcf": "mjcf.reader",
    "read_sdf": "sdf.reader",
    "read_urdf": "urdf.reader",
    "write_urdf": "urdf.writer",
}


def __getattr__(name: str) -> Any:
    """Files of robots are read by few: XML and its checks are loaded when somebody does."""
    if name not in _READERS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.readers.{_READERS[name]}"), name)
