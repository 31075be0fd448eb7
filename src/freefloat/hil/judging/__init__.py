"""Go or no-go: a rehearsal judged from its run, its log, the simulation and what the mission declares."""

from freefloat.hil.judging.acceptance import Acceptance
from freefloat.hil.judging.curves import verdict_curves
from freefloat.hil.judging.evidence import Evidence
from freefloat.hil.judging.inertias import InertiaEstimate, Motion, estimate_inertia
from freefloat.hil.judging.judge import judge_rehearsal
from freefloat.hil.judging.signing import describe_facility, sign
from freefloat.hil.judging.workspace import refused

__all__ = [
    "Acceptance",
    "Evidence",
    "InertiaEstimate",
    "Motion",
    "describe_facility",
    "estimate_inertia",
    "judge_rehearsal",
    "refused",
    "sign",
    "verdict_curves",
]
