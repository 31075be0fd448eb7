"""Virtual facilities: one that tracks perfectly, and cells of industrial robots in MuJoCo."""

from freefloat.hil.cell.ideal import IdealCell, ideal_robot

__all__ = ["IdealCell", "ideal_robot"]
