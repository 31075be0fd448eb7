"""Linear-quadratic regulator with checks: a gain that stabilises, or an error that says why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from freefloat.control.lqr.mode_reach import LIMIT, unreached_names, unseen_names
from freefloat.control.lqr.refusals import DesignError, require_matrix, require_weight, weight_rows
from freefloat.control.lqr.riccati import RiccatiSolution, require_reliable, slowest_decay, solve_riccati
from freefloat.control.lqr.second_order import SecondOrderModel
from freefloat.control.lqr.state_space import StateSpace
from freefloat.values.checks import require_all
from freefloat.values.errors import ModelError
from freefloat.values.short_text import record_text
from freefloat.values.suggestions import did_you_mean

_ROUNDING = 1e-14  # a residual below is rounding, whose size depends on the machine


@dataclass(frozen=True)
class Regulator:
    """Gain of u = -gain x, its cost x'Px, and the residual of the Riccati equation."""

    model: StateSpace
    gain: np.ndarray  # (inputs, states)
    P: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    residual: float  # of the Riccati equation, relative to its terms
    poles: np.ndarray  # of the closed loop
    cross: np.ndarray | None = None  # 2 x'(cross)u in the cost of a sampled loop

    __repr__ = record_text  # one line, without arrays

    def cost(self, x0: np.ndarray) -> float:
        """Cost of coming to rest from x0."""
        return float(x0 @ self.P @ x0)

    @property
    def closed_loop(self) -> StateSpace:
        """Model with its loop closed; inputs are added to the regulator's."""
        m = self.model
        A, C = m.A - m.B @ self.gain, m.C - m.D @ self.gain
        return StateSpace(A, m.B, C, m.D, m.states, m.inputs, m.outputs, m.period, m.scaling)

    @property
    def commands(self) -> StateSpace:
        """Closed loop with the commands u = -gain x as outputs."""
        m = self.model
        names = tuple(f"{name} command" for name in m.inputs)
        return StateSpace(m.A - m.B @ self.gain, m.B, -self.gain, None, m.states, m.inputs, names, m.period, m.scaling)

    def compensator(self, period: float | None = None) -> StateSpace:
        """Gain as a compensator from the measured state to commands, for a loop that is run at a period [s]."""
        n, m = len(self.model.states), len(self.model.inputs)
        period = self.model.period if period is None else period
        nothing = np.zeros((0, 0)), np.zeros((0, n)), np.zeros((m, 0))
        return StateSpace(*nothing, -self.gain, (), self.model.states, self.model.inputs, period)

    def entry(self, input_name: str, state: str) -> float:
        """One element of the gain, by names."""
        for kind, name, known in (("input", input_name, self.model.inputs), ("state", state, self.model.states)):
            if name not in known:
                listed = f"{kind.capitalize()}s: {', '.join(known)}.{did_you_mean(name, known)}"
                raise ModelError(f"The regulator has no {kind} '{name}'. {listed}")
        return float(self.gain[self.model.inputs.index(input_name), self.model.states.index(state)])

    def __str__(self) -> str:
        decay = slowest_decay(self.poles, self.model.period)
        residual = f"{self.residual:.0e}" if self.residual > _ROUNDING else "at rounding"
        return (
            f"Regulator of {len(self.model.states)} states by {len(self.model.inputs)} inputs: "
            f"slowest decay {decay:.4g} 1/s, residual {residual}"
        )


def design_lqr(
    model: Any, Q: Any, R: Any, *, cross: Any = None, limit: float = LIMIT, method: str = "schur"
) -> Regulator:
    """Gain that minimises int x'Qx + u'Ru dt of a `SecondOrderModel` or a model with A and B; a sum if it is sampled.

    Q and R are matrices, diagonals, or one number for all. An error names modes that neither decay nor are reached,
    modes that neither decay nor have a cost, and badly conditioned equations.
    """
    structure, plain = split_model(model)
    Q, R, cross, _ = require_all(
        lambda: require_weight("Q", Q, plain.states, definite=False),
        lambda: require_weight("R", R, plain.inputs, definite=True),
        lambda: _require_cross(cross, plain),
        lambda: _require_method(method),
    )
    require_all(
        lambda: require_stabilisable(plain, structure, limit),
        lambda: require_weighted_modes(plain, structure, Q, limit),
    )
    found = solve_checked(plain, Q, R, cross, method, "LQR")
    return Regulator(plain, found.F, found.P, Q, R, found.residual, found.poles, cross)


def _require_cross(cross: Any, model: StateSpace) -> np.ndarray | None:
    if cross is None:
        return None
    return require_matrix("cross", cross, (len(model.states), len(model.inputs)), "states by inputs")


def _require_method(method: str) -> None:
    if method not in ("schur", "doubling"):
        raise ModelError(f"There is no method '{method}'. Methods: schur, doubling.")


def split_model(model: Any) -> tuple[SecondOrderModel | None, StateSpace]:
    """Structure, or None where there is none, and its first-order form."""
    if isinstance(model, SecondOrderModel):
        return model, model.state_space
    return None, StateSpace.of(model)


def solve_checked(
    model: StateSpace, Q: np.ndarray, R: np.ndarray, cross: np.ndarray | None, method: str, what: str
) -> RiccatiSolution:
    """Solution of the Riccati equation that has passed every check."""
    found = solve_riccati(model, Q, R, cross, method)
    require_reliable(found, model.period, len(weight_rows(Q)) == len(Q) and cross is None, what)
    return found


def require_stabilisable(model: StateSpace, structure: SecondOrderModel | None, limit: float = LIMIT) -> None:
    """Raise an error if modes of a model neither decay nor are reached."""
    if missed := unreached_names(model, structure, limit):
        raise DesignError(
            f"No input reaches {_mode_list(missed)}. Inputs: {', '.join(model.inputs)}. Move an actuator off the line "
            "where the mode does not move, add one, or give the structure damping.",
            missed,
        )


def require_weighted_modes(
    model: StateSpace, structure: SecondOrderModel | None, Q: np.ndarray, limit: float = LIMIT
) -> None:
    """Raise an error if the weights do not see a mode that does not decay by itself."""
    rows = weight_rows(Q)
    if len(rows) == len(Q):
        return
    if not len(rows):
        raise DesignError(
            "Q weighs nothing: the best is to do nothing, which stabilises nothing. Give the states weights in Q."
        )
    seen = StateSpace(model.A, model.B, rows, states=model.states, period=model.period, scaling=model.scaling)
    if missed := unseen_names(seen, structure, limit):
        raise DesignError(
            f"Q does not weigh {_mode_list(missed)}, which would be left as it is. Give a state that moves a weight.",
            missed,
        )


def lyapunov_cost(model: StateSpace, gain: np.ndarray, Q: np.ndarray, R: np.ndarray, x0: np.ndarray) -> float:
    """Cost int x'Qx + u'Ru of the loop u = -gain x from x0, by Lyapunov's equation, without Riccati's."""
    s = model.scaling
    A = s.T_inverse @ (model.A - model.B @ gain) @ s.T
    W = s.T.T @ (Q + gain.T @ R @ gain) @ s.T
    solve = linalg.solve_continuous_lyapunov if model.period is None else linalg.solve_discrete_lyapunov
    X = solve(A.T, -W) if model.period is None else solve(A.T, W)
    z = s.T_inverse @ x0
    return float(z @ X @ z)


def _mode_list(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} modes: " + "; ".join(names)
