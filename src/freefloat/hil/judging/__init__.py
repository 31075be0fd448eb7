"""Go or no-go: a rehearsal is judged from its run, its log, the simulation and the declarations of the mission."""

from freefloat.hil.judging.acceptance import Acceptance
from freefloat.hil.judging.curves import verdict_curves
from freefloat.hil.judging.evidence import Evidence
from freefloat.hil.judging.inertias import BodyMotion, InertiaEstimate, estimate_inertia
from freefloat.hil.judging.judge import judge_rehearsal
from freefloat.hil.judging.signing import describe_facility, sign
from freefloat.hil.judging.workspace import refusal_criterion

__all__ = [
    "Acceptance",
    "BodyMotion",
    "Evidence",
    "InertiaEstimate",
    "describe_facility",
    "estimate_inertia",
    "judge_rehearsal",
    "refusal_criterion",
    "sign",
    "verdict_curves",
]
