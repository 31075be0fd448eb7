"""Sensors: what is true becomes what is measured, with rate, noise, bias, quantisation, latency and dropouts."""

from freefloat.sensors.camera import CameraMemory, RelativePose, RelativePoseCamera
from freefloat.sensors.encoder import JointEncoder
from freefloat.sensors.gyro import Gyro
from freefloat.sensors.imperfection import Imperfection
from freefloat.sensors.noise import normal, threefry, uniform
from freefloat.sensors.star_tracker import StarTracker

__all__ = [
    "CameraMemory",
    "Gyro",
    "Imperfection",
    "JointEncoder",
    "RelativePose",
    "RelativePoseCamera",
    "StarTracker",
    "normal",
    "threefry",
    "uniform",
]
