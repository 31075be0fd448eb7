"""Virtual facilities: an ideal one that tracks perfectly, and cells of industrial robots in MuJoCo."""

from freefloat.hil.cell.beams import HangingBeams
from freefloat.hil.cell.gripper import Gripper
from freefloat.hil.cell.ideal import IdealCell, IdealHold, ideal_robot
from freefloat.hil.cell.mjcf import Station
from freefloat.hil.cell.mockups import Mockup, client_frame, grasp_ring, probe, servicer_arm
from freefloat.hil.cell.presets import GODDARD_START, envisat_cell, envisat_start, goddard_cell, goddard_settings
from freefloat.hil.cell.robots import kr120, sia10d
from freefloat.hil.cell.settings import CellSettings, SensorSettings, ServoSettings
from freefloat.hil.cell.virtual import VirtualCell

__all__ = [
    "GODDARD_START",
    "CellSettings",
    "Gripper",
    "HangingBeams",
    "IdealCell",
    "IdealHold",
    "Mockup",
    "SensorSettings",
    "ServoSettings",
    "Station",
    "VirtualCell",
    "client_frame",
    "envisat_cell",
    "envisat_start",
    "goddard_cell",
    "goddard_settings",
    "grasp_ring",
    "ideal_robot",
    "kr120",
    "probe",
    "servicer_arm",
    "sia10d",
]
