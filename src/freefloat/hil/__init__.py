"""Rehearsal (hardware in the loop): the same experiment with its contact and motion in a facility of robots."""

from typing import TYPE_CHECKING

from freefloat.hil.delay import DelayCompensation, estimate_delay, measure_delay
from freefloat.hil.delayed_contact import DelayMargin, ExpectedContact, critical_delay, delay_margin, restitution
from freefloat.hil.expected_vibration import ExpectedVibration
from freefloat.hil.facility import ArmCommand, Facility, FacilityReading, MotionCommand, RobotDescription, RobotReading
from freefloat.hil.grasp import Grasp
from freefloat.hil.limits import Limits
from freefloat.hil.passivity import Passivity
from freefloat.hil.record.log import Log, read_log
from freefloat.hil.record.replay import run_of_log
from freefloat.hil.rehearsal import Rehearsal, RobotAssignment
from freefloat.hil.rehearse import rehearse
from freefloat.hil.sensor_checks import SensorCheck
from freefloat.renamed import renamed_names

__all__ = [
    "ArmCommand",
    "DelayCompensation",
    "DelayMargin",
    "ExpectedContact",
    "ExpectedVibration",
    "Facility",
    "FacilityReading",
    "Grasp",
    "Limits",
    "Log",
    "MotionCommand",
    "Passivity",
    "Rehearsal",
    "RobotAssignment",
    "RobotDescription",
    "RobotReading",
    "SensorCheck",
    "critical_delay",
    "delay_margin",
    "estimate_delay",
    "measure_delay",
    "read_log",
    "rehearse",
    "restitution",
    "run_of_log",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
