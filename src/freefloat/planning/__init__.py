"""Planning: motions of arm and base to a grasp within all limits, found by optimisation with exact derivatives."""

from freefloat.planning.capture import PlanSettings, plan_capture, straight_capture
from freefloat.planning.cell_room import CellRoom
from freefloat.planning.flight import PlanFlight, flight_experiment, flight_rehearsal
from freefloat.planning.limits import MotionLimits
from freefloat.planning.margins import Margin
from freefloat.planning.plan import Plan
from freefloat.planning.task import CaptureTask

__all__ = [
    "CaptureTask",
    "CellRoom",
    "Margin",
    "MotionLimits",
    "Plan",
    "PlanFlight",
    "PlanSettings",
    "flight_experiment",
    "flight_rehearsal",
    "plan_capture",
    "straight_capture",
]
