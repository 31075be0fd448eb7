"""Linear-quadratic control of anything given by matrices: modes, regulators, filters, margins, linear motion.

SciPy solves; what is scaled, measured and refused is written here.
"""

from freefloat.control.lqr.filters import KalmanFilter, design_kalman, design_lqg
from freefloat.control.lqr.frequency_response import FrequencyResponse, frequency_grid
from freefloat.control.lqr.linear_controller import LinearController
from freefloat.control.lqr.linear_motion import LinearMotion, move, named_start, overshoot, period_of, settling_time
from freefloat.control.lqr.loops import close_loop, loop_gain
from freefloat.control.lqr.margins import LoopMargin, RobustnessReport, robustness
from freefloat.control.lqr.mode_poles import loop_poles, mode_poles
from freefloat.control.lqr.mode_reach import ModeReach, controllability, observability
from freefloat.control.lqr.reduction import Reduction, balanced_truncation
from freefloat.control.lqr.refusals import DesignRefused
from freefloat.control.lqr.regulator import Regulator, design_lqr, lyapunov_cost
from freefloat.control.lqr.sampling import sample, sampled_cost
from freefloat.control.lqr.second_order import SecondOrderModel, StructureModes
from freefloat.control.lqr.spillover import ModeChange, Spillover, spillover
from freefloat.control.lqr.state_space import Scaling, StateSpace
from freefloat.control.lqr.structures import spacecraft_structure

__all__ = [
    "DesignRefused",
    "FrequencyResponse",
    "KalmanFilter",
    "LinearController",
    "LinearMotion",
    "LoopMargin",
    "ModeChange",
    "ModeReach",
    "Reduction",
    "Regulator",
    "RobustnessReport",
    "Scaling",
    "SecondOrderModel",
    "Spillover",
    "StateSpace",
    "StructureModes",
    "balanced_truncation",
    "close_loop",
    "controllability",
    "design_kalman",
    "design_lqg",
    "design_lqr",
    "frequency_grid",
    "loop_gain",
    "loop_poles",
    "lyapunov_cost",
    "mode_poles",
    "move",
    "named_start",
    "observability",
    "overshoot",
    "period_of",
    "robustness",
    "sample",
    "sampled_cost",
    "settling_time",
    "spacecraft_structure",
    "spillover",
]
