"""NASA Goddard's flexible-body satellite on a robotic mass simulator."""

from freefloat.scenarios.goddard.rehearsal import GoddardRehearsal
from freefloat.scenarios.goddard.release import GoddardAsymmetric, GoddardSymmetric

__all__ = ["GoddardAsymmetric", "GoddardRehearsal", "GoddardSymmetric"]
