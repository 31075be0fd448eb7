"""Questions to a spacecraft, answered offline: linear models, maps of its workspace."""

from freefloat.analysis.linear_model import LinearModel, linearise
from freefloat.analysis.workspace import disturbance_map, singularity_map

__all__ = ["LinearModel", "disturbance_map", "linearise", "singularity_map"]
