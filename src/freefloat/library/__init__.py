"""Ready spacecraft as data, every number with its source."""

from typing import TYPE_CHECKING

from freefloat.lazy_names import unknown_names
from freefloat.library.control_moment_gyros import PYRAMID_SKEW, with_control_moment_gyro, with_gyro_pyramid
from freefloat.library.envisat import ENVISAT_SPIN_DEG_S, envisat, envisat_start
from freefloat.library.ets7 import ets7
from freefloat.library.servicer import SERVICER_CAPTURE, SERVICER_FOLDED, servicer, servicer_start
from freefloat.library.srms import srms, srms_payload
from freefloat.library.station import STATION_ATTITUDE, StationReference, station, station_reference

__all__ = [
    "ENVISAT_SPIN_DEG_S",
    "PYRAMID_SKEW",
    "SERVICER_CAPTURE",
    "SERVICER_FOLDED",
    "STATION_ATTITUDE",
    "StationReference",
    "envisat",
    "envisat_start",
    "ets7",
    "servicer",
    "servicer_start",
    "srms",
    "srms_payload",
    "station",
    "station_reference",
    "with_control_moment_gyro",
    "with_gyro_pyramid",
]

if not TYPE_CHECKING:
    __getattr__ = unknown_names(__name__, __all__)
