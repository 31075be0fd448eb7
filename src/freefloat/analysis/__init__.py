"""Questions to a spacecraft, answered offline: linear models, natural modes, maps of its workspace."""

from freefloat.analysis.linear_model import LinearModel, linearise
from freefloat.analysis.vibration_modes import VibrationModes, vibration_modes
from freefloat.analysis.workspace import disturbance_map, singularity_map

__all__ = ["LinearModel", "VibrationModes", "disturbance_map", "linearise", "singularity_map", "vibration_modes"]
