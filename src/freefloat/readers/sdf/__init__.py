"""SDF, the robot description of Gazebo, where it is a tree."""

from freefloat.readers.sdf.reader import lint_sdf, read_sdf

__all__ = ["lint_sdf", "read_sdf"]
