"""MJCF, the robot description of MuJoCo, which reads it for us."""

from freefloat.readers.mjcf.reader import lint_mjcf, read_mjcf

__all__ = ["lint_mjcf", "read_mjcf"]
