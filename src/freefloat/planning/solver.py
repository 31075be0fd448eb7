"""IPOPT, by the package `ipyopt`: an interior-point method for sparse nonlinear programmes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.planning.programme import Programme
from freefloat.values.errors import ModelError

_SOLVED = (0, 1)  # to the tolerance; to the acceptable one
_WORDS = {
    0: "solved",
    1: "solved to an acceptable level",
    2: "infeasible: no motion nearby keeps all limits",
    -1: "stopped at the largest number of iterations",
    -2: "infeasible: restoration failed",
    3: "stopped: steps too small",
    4: "stopped: diverging",
    -4: "stopped: out of time",
}


@dataclass(frozen=True)
class SolverAnswer:
    """Result of the solver."""

    x: np.ndarray
    effort: float
    solved: bool
    words: str
    iterations: int


def require_ipopt() -> Any:
    """The package `ipyopt`; raises an error that says how to install it."""
    try:
        return importlib.import_module("ipyopt")
    except ImportError as error:
        raise ModelError(
            "Planning needs IPOPT by the package ipyopt, which is not installed: pip install 'freefloat[plan]'."
        ) from error


def solve(programme: Programme, guess: np.ndarray, iterations: int, seconds: float) -> SolverAnswer:
    """Solve from a guess of the free control points, within a number of iterations and a processor time [s]."""
    ipopt = require_ipopt()
    low, high = programme.bounds
    least, most = programme.limits
    exact = programme.programs.curvature is not None
    problem = ipopt.Problem(
        guess.size,
        low,
        high,
        least.size,
        least,
        most,
        programme.slope_places,
        programme.curvature_places,
        programme.effort,
        programme.effort_slope,
        programme.constraints,
        programme.constraint_slopes,
        *([programme.curvature] if exact else []),
        ipopt_options=_options(iterations, seconds, exact),
    )
    x, effort, status = problem.solve(np.clip(guess, low, high))
    return SolverAnswer(
        np.array(x),
        float(effort),
        status in _SOLVED,
        _WORDS.get(status, f"stopped: IPOPT's status {status}"),
        int(problem.stats.get("n_iter", 0)),
    )


def _options(iterations: int, seconds: float, exact: bool) -> dict[str, Any]:
    return {
        "print_level": 0,
        "sb": "yes",
        "max_iter": iterations,
        "max_cpu_time": seconds,
        "tol": 1e-4,
        "constr_viol_tol": 1e-6,
        "acceptable_tol": 1e-3,
        "acceptable_constr_viol_tol": 1e-5,
        "mu_strategy": "adaptive",
        "hessian_approximation": "exact" if exact else "limited-memory",
    }
