"""Linear-quadratic control of systems given by matrices: modes, regulators, filters, margins, linear motion.

SciPy solves the equations; scaling, checks of solutions and errors are written here.
"""

from typing import TYPE_CHECKING

from freefloat.control.lqr.filters import KalmanFilter, design_kalman, design_lqg
from freefloat.control.lqr.frequency_response import FrequencyResponse, frequency_grid
from freefloat.control.lqr.linear_controller import LinearController
from freefloat.control.lqr.linear_motion import (
    LinearMotion,
    mean_period,
    named_start,
    overshoot,
    settling_time,
    simulate_linear,
)
from freefloat.control.lqr.loops import close_loop, loop_gain
from freefloat.control.lqr.margins import LoopMargin, RobustnessReport, robustness
from freefloat.control.lqr.mode_poles import loop_poles, mode_poles
from freefloat.control.lqr.mode_reach import ModeReach, controllability, observability
from freefloat.control.lqr.reduction import TruncatedModel, balanced_truncation
from freefloat.control.lqr.refusals import DesignError
from freefloat.control.lqr.regulator import Regulator, design_lqr, lyapunov_cost
from freefloat.control.lqr.sampling import sample, sampled_cost
from freefloat.control.lqr.second_order import SecondOrderModel, StructureModes
from freefloat.control.lqr.spillover import ModeChange, Spillover, spillover
from freefloat.control.lqr.state_space import Scaling, StateSpace
from freefloat.control.lqr.structures import spacecraft_structure
from freefloat.renamed import renamed_names

__all__ = [
    "DesignError",
    "FrequencyResponse",
    "KalmanFilter",
    "LinearController",
    "LinearMotion",
    "LoopMargin",
    "ModeChange",
    "ModeReach",
    "Regulator",
    "RobustnessReport",
    "Scaling",
    "SecondOrderModel",
    "Spillover",
    "StateSpace",
    "StructureModes",
    "TruncatedModel",
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
    "mean_period",
    "mode_poles",
    "named_start",
    "observability",
    "overshoot",
    "robustness",
    "sample",
    "sampled_cost",
    "settling_time",
    "simulate_linear",
    "spacecraft_structure",
    "spillover",
]

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)
