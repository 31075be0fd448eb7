"""Passivity observer and controller: the energy that a delay adds to a contact is observed and removed again.

A cell shows the contact a motion that is late. What comes back as a force then does more work on the simulated
spacecraft than the contact has taken: the delay is a spring that pushes harder than it was pressed. The observer sums
F . (V_hw - V_sim) over time, which is what the delay has absorbed; where the sum becomes negative it has given, and
the controller takes as much from the simulated motion by a damper that lasts one cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp

from freefloat.dynamics import frame_jacobian, frame_pose, spd_solve
from freefloat.dynamics.factorisation import factorise
from freefloat.dynamics.row_response import symmetric_sum
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose, linear
from freefloat.values import record
from freefloat.values.arrays import Mat6, Matrix, Scalar, Vec6
from freefloat.values.checks import require_bounds, require_quantity
from freefloat.values.compiling import compiled_on_call

SLOWEST = 1e-6  # [m/s]; from a slower motion no energy is taken


@dataclass(frozen=True)
class Passivity:
    """Settings of the controller; `controls=False` observes only."""

    controls: bool = True
    share: float = 0.5  # of the momentum at the port that one cycle may take at most

    def __post_init__(self) -> None:
        require_bounds(self, {"share": ""}, above=0.0)
        require_quantity("Passivity.share", self.share, "", most=1.0)


@record
class CorrectedWrench:
    """A wrench corrected by the controller, and the energy that the delay has absorbed since the start."""

    wrench: Vec6  # [N, N m]
    energy: Scalar  # W [J]; below zero the delay has given


def observe_energy(energy: Scalar, wrench: Vec6, V_hw: Vec6, V_sim: Vec6, cycle: Scalar | float) -> Scalar:
    """Absorbed energy W [J] at the end of a cycle: W + F . (V_hw - V_sim) Ts, all at the port in its axes."""
    return energy + (jnp.asarray(wrench) @ (jnp.asarray(V_hw) - jnp.asarray(V_sim))) * cycle


def correct_wrench(
    energy: Scalar, wrench: Vec6, V_sim: Vec6, mobility: Mat6, cycle: Scalar | float, share: Scalar | float
) -> CorrectedWrench:
    """Corrected wrench F' = F - a Lam V, Lam = mobility^-1: the damper takes -W, at most a share of the momentum.

    a = min(-W / (Ts V^T Lam V), share / Ts). In one dimension Lam is the reduced mass mu, and alpha = a mu.
    """
    V = jnp.asarray(V_sim)
    push = spd_solve(mobility, V)  # Lam V, the momentum at the port
    double_energy = V @ push
    slowest = SLOWEST**2 * 3.0 / jnp.trace(linear(linear(mobility).T))
    acts = (energy < 0.0) & (double_energy > slowest)
    safe = jnp.where(acts, double_energy, 1.0)
    a = jnp.where(acts, jnp.minimum(-energy / (cycle * safe), share / cycle), 0.0)
    return CorrectedWrench(wrench=wrench - a * push, energy=energy + a * jnp.where(acts, double_energy, 0.0) * cycle)


@compiled_on_call
def port_mobility(
    craft: Spacecraft,
    state: State,
    frame: str,
    given: tuple[int, ...],
    others: tuple[tuple[Spacecraft, State, str], ...],
) -> Mat6:
    """Mobility Lam^-1 = J M^-1 J^T + A M_t^-1 A^T: twist of a frame relative to what it touches, per impulse at it.

    `others` is what it touches: a frame of a spacecraft, empty for the floor; A transforms that frame's twist.
    """
    parts = [_own_mobility(craft, state, frame_jacobian(craft, state.q, frame), given)]
    X_NP = state.X_NB @ frame_pose(craft, state.q, frame)
    for other, its, touched in others:
        A = (X_NP.inverse() @ its.X_NB @ frame_pose(other, its.q, touched)).adjoint()
        parts.append(_own_mobility(other, its, A @ frame_jacobian(other, its.q, touched), ()))
    return symmetric_sum(parts)


def _own_mobility(craft: Spacecraft, state: State, J: Matrix, given: tuple[int, ...]) -> Mat6:
    factor = factorise(craft, state.q, given)
    z = factor.reduce(J.T)
    return z.T @ (factor.weights[:, None] * z)


def relative_twist(V_a: Vec6, X_PB: Pose, V_b: Vec6) -> Vec6:
    """Twist of a frame P relative to a body whose twist at its frame B is V_b, in P axes."""
    return V_a - X_PB.twist_to_A(V_b)
