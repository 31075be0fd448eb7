"""Ready spacecraft as data, every number with its source."""

from freefloat.library.ets7 import ets7
from freefloat.library.srms import srms, srms_payload
from freefloat.library.station import station

__all__ = ["ets7", "srms", "srms_payload", "station"]
