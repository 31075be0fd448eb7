"""What a spacecraft is: bodies, joints, wheels and frames in a tree. Knows nothing of forces or time."""

from freefloat.model.modal import ModalBody, Node, Rail
from freefloat.model.parts import Follow, Frame, Joint, JointLimits, RigidBody, Wheel
from freefloat.model.readers.urdf.reader import UrdfNote, read_urdf
from freefloat.model.readers.urdf.writer import write_urdf
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.state import State

__all__ = [
    "Follow",
    "Frame",
    "Joint",
    "JointLimits",
    "ModalBody",
    "Node",
    "Rail",
    "RigidBody",
    "Spacecraft",
    "State",
    "UrdfNote",
    "Wheel",
    "read_urdf",
    "write_urdf",
]
