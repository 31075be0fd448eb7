"""Identification of parameters from measurements: estimates, covariance, and parameters that are not identifiable."""

from freefloat.analysis.identification.identify import Identifier, identify
from freefloat.analysis.identification.result import Identification, IdentificationError, NotIdentifiable
from freefloat.analysis.identification.sensitivities import Sensitivities
from freefloat.analysis.identification.sensor_data import sensor_data

__all__ = [
    "Identification",
    "IdentificationError",
    "Identifier",
    "NotIdentifiable",
    "Sensitivities",
    "identify",
    "sensor_data",
]
