"""Laws: what decides the motion and the forces of a spacecraft."""

from freefloat.control.attitude import AttitudeHold
from freefloat.control.attitude_filter import AttitudeFilter, EstimatedAttitudeHold
from freefloat.control.capture import ApproachLimits, CaptureApproach, Proximity, UnreachableError, spline_to
from freefloat.control.inverse_kinematics import Reach, reach
from freefloat.control.joint_servo import Friction, JointServo
from freefloat.control.joint_spline import HoldJoints, JointSpline
from freefloat.control.laws import ForceLaw, LawError, MemoryLaw, Motion, MotionLaw, Remembering, motion_of
from freefloat.control.paths import Line, Path, Turn
from freefloat.control.profiles import Profile, Quintic, Trapezoid
from freefloat.control.pulse import WrenchPulse
from freefloat.control.reactionless import ReactionlessTurn
from freefloat.control.resolved_acceleration import ResolvedAcceleration
from freefloat.control.resolved_motion import ResolvedMotion, SatelliteBasedMotion
from freefloat.control.target import DriftingTarget, PerfectEye
from freefloat.control.thrusters import Thruster, Thrusters, torque_pairs
from freefloat.control.unloading import MomentumUnloading
from freefloat.control.visual_servo import CameraEye
from freefloat.control.workspace import disturbance_map, singularity_map

__all__ = [
    "ApproachLimits",
    "AttitudeFilter",
    "AttitudeHold",
    "CameraEye",
    "CaptureApproach",
    "DriftingTarget",
    "EstimatedAttitudeHold",
    "ForceLaw",
    "Friction",
    "HoldJoints",
    "JointServo",
    "JointSpline",
    "LawError",
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
    "Reach",
    "ReactionlessTurn",
    "Remembering",
    "ResolvedAcceleration",
    "ResolvedMotion",
    "SatelliteBasedMotion",
    "Thruster",
    "Thrusters",
    "Trapezoid",
    "Turn",
    "UnreachableError",
    "WrenchPulse",
    "disturbance_map",
    "motion_of",
    "reach",
    "singularity_map",
    "spline_to",
    "torque_pairs",
]
