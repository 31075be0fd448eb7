"""Laws: what decides the motion and the forces of a spacecraft."""

from freefloat.control.attitude import AttitudeHold
from freefloat.control.joint_spline import HoldJoints, JointSpline
from freefloat.control.laws import ForceLaw, MemoryLaw, Motion, MotionLaw, Remembering, motion_of
from freefloat.control.paths import Line, Path, Turn
from freefloat.control.profiles import Profile, Quintic, Trapezoid
from freefloat.control.pulse import WrenchPulse
from freefloat.control.resolved_motion import ResolvedMotion, SatelliteBasedMotion

__all__ = [
    "AttitudeHold",
    "ForceLaw",
    "HoldJoints",
    "JointSpline",
    "Line",
    "MemoryLaw",
    "Motion",
    "MotionLaw",
    "Path",
    "Profile",
    "Quintic",
    "Remembering",
    "ResolvedMotion",
    "SatelliteBasedMotion",
    "Trapezoid",
    "Turn",
    "WrenchPulse",
    "motion_of",
]
