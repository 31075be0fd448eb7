"""Questions to a spacecraft or an experiment, answered offline: linear models, natural modes, workspace maps."""

from freefloat.analysis.free_linear_model import FreeLinearModel, linearise_free
from freefloat.analysis.linear_model import LinearModel, linearise
from freefloat.analysis.vibration_modes import VibrationModes, vibration_modes
from freefloat.analysis.workspace import disturbance_map, singularity_map

__all__ = [
    "FreeLinearModel",
    "LinearModel",
    "VibrationModes",
    "disturbance_map",
    "linearise",
    "linearise_free",
    "singularity_map",
    "vibration_modes",
]
