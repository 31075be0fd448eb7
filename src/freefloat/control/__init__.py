"""Laws: what decides the motion and the forces of a spacecraft."""

from freefloat.control.laws import ForceLaw, MemoryLaw, Motion, MotionLaw, motion_of
from freefloat.control.paths import Line
from freefloat.control.pulse import WrenchPulse
from freefloat.control.resolved_motion import ResolvedMotion

__all__ = [
    "ForceLaw",
    "Line",
    "MemoryLaw",
    "Motion",
    "MotionLaw",
    "ResolvedMotion",
    "WrenchPulse",
    "motion_of",
]
