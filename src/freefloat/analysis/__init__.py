"""Offline analysis of a spacecraft or an experiment: linear models, modes, workspace maps, parameter identification."""

from freefloat.analysis.free_linear_model import FreeLinearModel, linearise_free
from freefloat.analysis.identification import (
    Identification,
    IdentificationError,
    Identifier,
    NotIdentifiable,
    Sensitivities,
    identify,
    sensor_data,
)
from freefloat.analysis.linear_model import LinearModel, linearise
from freefloat.analysis.orbit_model import OrbitModel, linearise_in_orbit, trim_in_orbit
from freefloat.analysis.vibration_modes import VibrationModes, vibration_modes
from freefloat.analysis.workspace import disturbance_map, singularity_map

__all__ = [
    "FreeLinearModel",
    "Identification",
    "IdentificationError",
    "Identifier",
    "LinearModel",
    "NotIdentifiable",
    "OrbitModel",
    "Sensitivities",
    "VibrationModes",
    "disturbance_map",
    "identify",
    "linearise",
    "linearise_free",
    "linearise_in_orbit",
    "sensor_data",
    "singularity_map",
    "trim_in_orbit",
    "vibration_modes",
]
