"""Linear-quadratic regulator with guards: a gain that holds, or a refusal that says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from freefloat.control.lqr.mode_reach import LIMIT, unreached_names, unseen_names
from freefloat.control.lqr.refusals import DesignRefused, require_matrix, require_weight, weight_rows
from freefloat.control.lqr.riccati import Riccati, judge, slowest_decay, solve_riccati
from freefloat.control.lqr.second_order import SecondOrderModel
from freefloat.control.lqr.state_space import StateSpace
from freefloat.values.checks import require_all
from freefloat.values.errors import ModelError

_ROUNDING = 1e-14  # a residual below is rounding, whose size depends on the machine


@dataclass(frozen=True)
class Regulator:
    """u = -gain x, the cost x'Px, and how well the Riccati equation holds."""

    model: StateSpace
    gain: np.ndarray  # (inputs, states)
    P: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    residual: float  # of the Riccati equation, relative to its terms
    poles: np.ndarray  # of the closed loop
    cross: np.ndarray | None = None  # 2 x'(cross)u in the cost of a sampled loop

    def cost(self, x0: np.ndarray) -> float:
        """What it costs to come to rest from x0."""
        return float(x0 @ self.P @ x0)

    @property
    def closed_loop(self) -> StateSpace:
        """The model with its loop closed; inputs are added to the regulator's."""
        m = self.model
        A, C = m.A - m.B @ self.gain, m.C - m.D @ self.gain
        return StateSpace(A, m.B, C, m.D, m.states, m.inputs, m.outputs, m.period, m.scaling)

    @property
    def commands(self) -> StateSpace:
        """The closed loop with the commands u = -gain x as outputs."""
        m = self.model
        names = tuple(f"{name} command" for name in m.inputs)
        return StateSpace(m.A - m.B @ self.gain, m.B, -self.gain, None, m.states, m.inputs, names, m.period, m.scaling)

    def compensator(self, period: float | None = None) -> StateSpace:
        """The gain as a compensator from the measured state to commands, for a loop that is run at a period [s]."""
        n, m = len(self.model.states), len(self.model.inputs)
        period = self.model.period if period is None else period
        nothing = np.zeros((0, 0)), np.zeros((0, n)), np.zeros((m, 0))
        return StateSpace(*nothing, -self.gain, (), self.model.states, self.model.inputs, period)

    def entry(self, input_name: str, state: str) -> float:
        """One element of the gain, by names."""
        for kind, name, known in (("input", input_name, self.model.inputs), ("state", state, self.model.states)):
            if name not in known:
                raise ModelError(f"The regulator has no {kind} '{name}'. {kind.capitalize()}s: {', '.join(known)}.")
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

    Q and R are matrices, diagonals, or one number for all. Refused by name: modes that neither decay nor are reached,
    modes that neither decay nor cost anything, badly conditioned equations.
    """
    structure, plain = split(model)
    Q, R, cross, _ = require_all(
        lambda: require_weight("Q", Q, plain.states, definite=False),
        lambda: require_weight("R", R, plain.inputs, definite=True),
        lambda: _require_cross(cross, plain),
        lambda: _require_method(method),
    )
    require_all(
        lambda: require_stabilisable(plain, structure, limit),
        lambda: require_costly(plain, structure, Q, limit),
    )
    found = solve_guarded(plain, Q, R, cross, method, "LQR")
    return Regulator(plain, found.F, found.P, Q, R, found.residual, found.poles, cross)


def _require_cross(cross: Any, model: StateSpace) -> np.ndarray | None:
    if cross is None:
        return None
    return require_matrix("cross", cross, (len(model.states), len(model.inputs)), "states by inputs")


def _require_method(method: str) -> None:
    if method not in ("schur", "doubling"):
        raise ModelError(f"There is no method '{method}'. Methods: schur, doubling.")


def split(model: Any) -> tuple[SecondOrderModel | None, StateSpace]:
    """A structure, where there is one, and its first-order form."""
    if isinstance(model, SecondOrderModel):
        return model, model.state_space
    return None, StateSpace.of(model)


def solve_guarded(
    model: StateSpace, Q: np.ndarray, R: np.ndarray, cross: np.ndarray | None, method: str, what: str
) -> Riccati:
    """A solution that has passed every guard."""
    found = solve_riccati(model, Q, R, cross, method)
    judge(found, model.period, len(weight_rows(Q)) == len(Q) and cross is None, what)
    return found


def require_stabilisable(model: StateSpace, structure: SecondOrderModel | None, limit: float = LIMIT) -> None:
    """Refuse a model with modes that neither decay nor are reached."""
    if missed := unreached_names(model, structure, limit):
        raise DesignRefused(
            f"No input reaches {_several(missed)}. Inputs: {', '.join(model.inputs)}. Move an actuator off the line "
            "where the mode does not move, add one, or give the structure damping.",
            missed,
        )


def require_costly(model: StateSpace, structure: SecondOrderModel | None, Q: np.ndarray, limit: float = LIMIT) -> None:
    """Refuse weights that do not see a mode which does not decay by itself."""
    rows = weight_rows(Q)
    if len(rows) == len(Q):
        return
    if not len(rows):
        raise DesignRefused(
            "Q weighs nothing: the best is to do nothing, which stabilises nothing. Give the states weights in Q."
        )
    seen = StateSpace(model.A, model.B, rows, states=model.states, period=model.period, scaling=model.scaling)
    if missed := unseen_names(seen, structure, limit):
        raise DesignRefused(
            f"Q does not weigh {_several(missed)}, which would be left as it is. Give a state that moves a weight.",
            missed,
        )


def lyapunov_cost(model: StateSpace, gain: np.ndarray, Q: np.ndarray, R: np.ndarray, x0: np.ndarray) -> float:
    """int x'Qx + u'Ru of the loop u = -gain x from x0, by Lyapunov's equation, without Riccati's."""
    s = model.scaling
    A = s.T_inverse @ (model.A - model.B @ gain) @ s.T
    W = s.T.T @ (Q + gain.T @ R @ gain) @ s.T
    solve = linalg.solve_continuous_lyapunov if model.period is None else linalg.solve_discrete_lyapunov
    X = solve(A.T, -W) if model.period is None else solve(A.T, W)
    z = s.T_inverse @ x0
    return float(z @ X @ z)


def _several(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} modes: " + "; ".join(names)
