"""Sensors: measured values from true ones, with sampling rate, noise, bias, quantisation, latency and dropouts."""

from typing import TYPE_CHECKING

from freefloat.renamed import renamed_names
from freefloat.sensors.accelerometer import Accelerometer, SpecificForce
from freefloat.sensors.camera import RelativePoseCamera
from freefloat.sensors.deflection import Deflection
from freefloat.sensors.encoder import JointEncoder, MotorEncoder
from freefloat.sensors.force_torque import ForceTorqueSensor, JointWrench
from freefloat.sensors.gyro import Gyro
from freefloat.sensors.ideal import Ideal, IdealMeasurements, measurable_text, true_value
from freefloat.sensors.imperfection import Imperfection, ImperfectSensor, noise_key
from freefloat.sensors.magnetometer import Magnetometer
from freefloat.sensors.noise import normal, threefry, uniform
from freefloat.sensors.range_finder import Distance, RangeSensor
from freefloat.sensors.star_tracker import StarTracker

__all__ = [
    "Accelerometer",
    "Deflection",
    "Distance",
    "ForceTorqueSensor",
    "Gyro",
    "Ideal",
    "IdealMeasurements",
    "ImperfectSensor",
    "Imperfection",
    "JointEncoder",
    "JointWrench",
    "Magnetometer",
    "MotorEncoder",
    "RangeSensor",
    "RelativePoseCamera",
    "SpecificForce",
    "StarTracker",
    "measurable_text",
    "noise_key",
    "normal",
    "threefry",
    "true_value",
    "uniform",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
