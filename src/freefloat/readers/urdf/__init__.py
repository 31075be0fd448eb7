"""URDF, the robot description of ROS: reading, checking and writing."""

from freefloat.readers.urdf.reader import lint_urdf, read_urdf
from freefloat.readers.urdf.writer import write_urdf

__all__ = ["lint_urdf", "read_urdf", "write_urdf"]
