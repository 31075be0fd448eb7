"""MJCF, the robot description of MuJoCo, read by MuJoCo itself."""

from freefloat.readers.mjcf.reader import lint_mjcf, read_mjcf

__all__ = ["lint_mjcf", "read_mjcf"]
