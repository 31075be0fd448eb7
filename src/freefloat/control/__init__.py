"""On-board software: motion and forces of a spacecraft, computed from measurements alone."""

from typing import TYPE_CHECKING

from freefloat.control.attitude import AttitudeHold
from freefloat.control.attitude_filter import AttitudeFilter
from freefloat.control.bdot_damping import BdotDamping
from freefloat.control.capture import ApproachLimits, CaptureApproach, UnreachableError, spline_to
from freefloat.control.capture_gains import CaptureGains, CaptureLimits
from freefloat.control.capture_reference import CaptureReference, MeetingState, measured_meeting_state
from freefloat.control.capture_schedule import CAPTURE_PHASES, CaptureSchedule
from freefloat.control.circle import Circle
from freefloat.control.compliant_capture import CompliantCapture, CompliantCaptureMemory
from freefloat.control.grasp_mechanisms import GraspMechanism, ParallelJaw, ProbeAndDrogue, ThreeWireSnare
from freefloat.control.grasping import GraspOnMessage, TimedGrasp
from freefloat.control.gyro_steering import GyroSteering
from freefloat.control.joint_damping import JointHold, ReactionlessDamping
from freefloat.control.joint_motion import JointMotion
from freefloat.control.joint_servo import JointServo
from freefloat.control.joint_spline import HoldJoints, JointSpline
from freefloat.control.measured import Motion, measured_motion, measured_positions, measured_state
from freefloat.control.mechanical_grasp import MechanicalGrasp
from freefloat.control.orbit_attitude import OrbitAttitude, attitude_at
from freefloat.control.paths import Line, Path, Turn
from freefloat.control.picture_update import Disturbance, PictureNoise
from freefloat.control.pose_spline import PoseSpline
from freefloat.control.pose_spring import PoseSpring
from freefloat.control.profiles import Profile, Quintic, Trapezoid
from freefloat.control.rate_software import RateSoftware
from freefloat.control.reactionless_turn import ReactionlessTurn
from freefloat.control.resolved_acceleration import ResolvedAcceleration
from freefloat.control.resolved_motion import ResolvedMotion, SatelliteBasedMotion
from freefloat.control.target_filter import TargetFilter
from freefloat.control.target_guess import TargetGuess
from freefloat.control.timed_path import FunctionPath, TimedPath
from freefloat.control.unloading import MomentumUnloading
from freefloat.control.visual_servo import TargetTracker
from freefloat.renamed import renamed_names

__all__ = [
    "CAPTURE_PHASES",
    "ApproachLimits",
    "AttitudeFilter",
    "AttitudeHold",
    "BdotDamping",
    "CaptureApproach",
    "CaptureGains",
    "CaptureLimits",
    "CaptureReference",
    "CaptureSchedule",
    "Circle",
    "CompliantCapture",
    "CompliantCaptureMemory",
    "Disturbance",
    "FunctionPath",
    "GraspMechanism",
    "GraspOnMessage",
    "GyroSteering",
    "HoldJoints",
    "JointHold",
    "JointMotion",
    "JointServo",
    "JointSpline",
    "Line",
    "MechanicalGrasp",
    "MeetingState",
    "MomentumUnloading",
    "Motion",
    "OrbitAttitude",
    "ParallelJaw",
    "Path",
    "PictureNoise",
    "PoseSpline",
    "PoseSpring",
    "ProbeAndDrogue",
    "Profile",
    "Quintic",
    "RateSoftware",
    "ReactionlessDamping",
    "ReactionlessTurn",
    "ResolvedAcceleration",
    "ResolvedMotion",
    "SatelliteBasedMotion",
    "TargetFilter",
    "TargetGuess",
    "TargetTracker",
    "ThreeWireSnare",
    "TimedGrasp",
    "TimedPath",
    "Trapezoid",
    "Turn",
    "UnreachableError",
    "attitude_at",
    "measured_meeting_state",
    "measured_motion",
    "measured_positions",
    "measured_state",
    "spline_to",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
