"""Laws: what decides the motion and the forces of a spacecraft."""

from freefloat.control.attitude import AttitudeHold
from freefloat.control.attitude_filter import AttitudeFilter
from freefloat.control.capture import ApproachLimits, CaptureApproach, Proximity, UnreachableError, spline_to
from freefloat.control.joint_servo import Friction, JointServo
from freefloat.control.joint_spline import HoldJoints, JointSpline
from freefloat.control.laws import ForceLaw, MemoryLaw, Motion, MotionLaw, Remembering, motion_of
from freefloat.control.paths import Line, Path, Turn
from freefloat.control.profiles import Profile, Quintic, Trapezoid
from freefloat.control.reactionless_turn import ReactionlessTurn
from freefloat.control.resolved_acceleration import ResolvedAcceleration
from freefloat.control.resolved_motion import ResolvedMotion, SatelliteBasedMotion
from freefloat.control.target import DriftingTarget, PerfectEye
from freefloat.control.unloading import MomentumUnloading
from freefloat.control.visual_servo import CameraEye

__all__ = [
    "ApproachLimits",
    "AttitudeFilter",
    "AttitudeHold",
    "CameraEye",
    "CaptureApproach",
    "DriftingTarget",
    "ForceLaw",
    "Friction",
    "HoldJoints",
    "JointServo",
    "JointSpline",
    "Line",
    "MemoryLaw",
    "MomentumUnloading",
    "Motion",
    "MotionLaw",
    "Path",
    "PerfectEye",
    "Profile",
    "Proximity",
    "Quintic",
    "ReactionlessTurn",
    "Remembering",
    "ResolvedAcceleration",
    "ResolvedMotion",
    "SatelliteBasedMotion",
    "Trapezoid",
    "Turn",
    "UnreachableError",
    "motion_of",
    "spline_to",
]
