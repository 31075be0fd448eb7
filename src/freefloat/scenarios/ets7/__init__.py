"""ETS-VII: five experiments of a free-flying robot in orbit (Yoshida, 2003)."""

from freefloat.scenarios.ets7.capture import Ets7Capture
from freefloat.scenarios.ets7.gjm import Ets7Gjm
from freefloat.scenarios.ets7.gravity_gradient import Ets7GravityGradient
from freefloat.scenarios.ets7.rns import Ets7Rns
from freefloat.scenarios.ets7.satellite_based import Ets7SatelliteBased

__all__ = ["Ets7Capture", "Ets7Gjm", "Ets7GravityGradient", "Ets7Rns", "Ets7SatelliteBased"]
