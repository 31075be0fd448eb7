"""A gravity-gradient station: flexible bus, travelling arm and two plate arrays under linear-quadratic control."""

from freefloat.scenarios.station.libration import StationLibration
from freefloat.scenarios.station.recovery import StationRecovery
from freefloat.scenarios.station.travel import StationTravel

__all__ = ["StationLibration", "StationRecovery", "StationTravel"]
