"""Ready spacecraft as data, every number with its source."""

from freefloat.library.ets7 import ets7
from freefloat.library.srms import srms, srms_payload
from freefloat.library.station import STATION_ATTITUDE, StationReference, station, station_reference

__all__ = [
    "STATION_ATTITUDE",
    "StationReference",
    "ets7",
    "srms",
    "srms_payload",
    "station",
    "station_reference",
]
