"""The algebraic Riccati equation in scaled coordinates, continuous and sampled, and the quality of its solution.

A solver may return a wrong matrix without a warning, above all where the numbers of a model differ by many orders of
magnitude. So the equation is solved in coordinates where they are of similar size (modal coordinates, unit input
weights), and the residual of every solution is computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from freefloat.control.lqr.refusals import DesignError
from freefloat.control.lqr.state_space import StateSpace
from freefloat.values.short_text import record_text

RESIDUAL = 1e-9  # largest residual, relative to the sizes of the terms, of a solution that is used
DECAY = 1e-6  # slowest decay of a loop that counts as stable [1/s]
_STATES_OVER_INPUTS = 1e3  # |Q| over |B B'| in scaled coordinates: where both solvers lose the fewest digits
_ENOUGH, _ROUNDS = 1e-14, 60  # of doubling: relative change at its end, and rounds


@dataclass(frozen=True)
class RiccatiSolution:
    """Solution P > 0 and gain u = -F x of a Riccati equation, with measures of their quality."""

    P: np.ndarray
    F: np.ndarray
    residual: float  # relative to the sizes of the terms of the equation
    least: float  # smallest over largest eigenvalue of P in scaled coordinates
    poles: np.ndarray  # of the closed loop

    __repr__ = record_text  # one line, without arrays


def solve_riccati(
    model: StateSpace, Q: np.ndarray, R: np.ndarray, cross: np.ndarray | None = None, method: str = "schur"
) -> RiccatiSolution:
    """Solution of min int x'Qx + u'Ru + 2 x'(cross)u, measured but not yet checked; a sum for sampled models.

    Methods: `schur`, or `doubling` for a continuous model without cross terms.
    """
    A, B, s, period = model.A, model.B, model.scaling, model.period
    N = np.zeros((len(A), B.shape[1])) if cross is None else cross
    Az, B1, Qz = s.T_inverse @ A @ s.T, s.T_inverse @ B, s.T.T @ Q @ s.T
    root = np.linalg.cholesky(R)
    B1 = linalg.solve_triangular(root, B1.T, lower=True).T  # R = 1
    N1 = linalg.solve_triangular(root, (s.T.T @ N).T, lower=True).T
    # Q and R divided by beta, which then multiplies P.
    beta = np.sqrt(_size(Qz) / _size(B1 @ B1.T) / _STATES_OVER_INPUTS)
    Bz, Qz, Nz, one = np.sqrt(beta) * B1, _symmetric(Qz) / beta, N1 / np.sqrt(beta), np.eye(B.shape[1])
    try:
        if method == "doubling":
            Pz = _solve_by_doubling(Az, Bz, Qz)
        elif period is None:
            Pz = linalg.solve_continuous_are(Az, Bz, Qz, one, s=Nz if cross is not None else None)
        else:
            Pz = linalg.solve_discrete_are(Az, Bz, Qz, one, s=Nz if cross is not None else None)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise DesignError(f"The Riccati equation has no stabilising solution that could be found: {error}") from error
    Pz = _symmetric(Pz)
    if not np.all(np.isfinite(Pz)):
        raise DesignError("The Riccati equation gave numbers that are not finite. Scale states and inputs.")
    weight = one if period is None else one + Bz.T @ Pz @ Bz
    Fz = linalg.solve(weight, (Bz.T @ Pz @ (np.eye(len(Az)) if period is None else Az)) + Nz.T, assume_a="pos")
    P = beta * _symmetric(s.T_inverse.T @ Pz @ s.T_inverse)
    F = linalg.solve_triangular(root.T, np.sqrt(beta) * Fz, lower=False) @ s.T_inverse
    eigenvalues = np.linalg.eigvalsh(Pz)
    scaled = _relative_residual(Az, Bz, Qz, Pz, Fz, Nz, period)
    residual = max(scaled, _relative_residual(A, B, Q, P, F, N, period))
    least = eigenvalues[0] / max(float(np.max(np.abs(eigenvalues))), np.finfo(float).tiny)
    return RiccatiSolution(P, F, residual, float(least), np.linalg.eigvals(Az - Bz @ Fz))


def _solve_by_doubling(A: np.ndarray, B: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Stabilising solution P of A'P + PA - PBB'P + Q = 0 by structure-preserving doubling.

    Chu, Fan, Lin, Linear Algebra and its Applications 396 (2005). Several times faster than Schur vectors; it loses
    digits where a closed loop is nearly critical.
    """
    n, G = len(A), B @ B.T
    one = np.eye(n)
    poles = np.linalg.eigvals(A)
    gamma = np.sqrt(max(float(np.max(np.abs(poles))), 1e-3))
    while np.min(np.abs(poles - gamma)) < 0.05 * gamma:  # not a pole
        gamma *= 1.1
    # Cayley transform of the Hamiltonian matrix into a symplectic pair.
    A_gamma = A - gamma * one
    W = A_gamma + G @ np.linalg.solve(A_gamma.T, Q)
    V = np.linalg.inv(W)
    Ak = one + 2.0 * gamma * V
    Gk = 2.0 * gamma * V @ G @ np.linalg.inv(A_gamma.T)
    Hk = 2.0 * gamma * np.linalg.solve(A_gamma.T, Q @ V)
    for _ in range(_ROUNDS):
        solved = np.linalg.solve(one + Gk @ Hk, np.hstack([Ak, Gk]))
        step = Ak.T @ Hk @ solved[:, :n]
        Gk = Gk + Ak @ solved[:, n:] @ Ak.T
        Ak = Ak @ solved[:, :n]
        Hk = Hk + 0.5 * (step + step.T)
        Gk, change = 0.5 * (Gk + Gk.T), np.linalg.norm(step)
        if change < _ENOUGH * np.linalg.norm(Hk):
            return Hk
    raise np.linalg.LinAlgError(f"doubling did not settle in {_ROUNDS} rounds")


def require_reliable(found: RiccatiSolution, period: float | None, definite: bool, what: str) -> None:
    """Raise an error if a solution cannot be trusted."""
    if not found.residual <= RESIDUAL:
        raise DesignError(
            f"{what}: the Riccati equation is badly conditioned, its relative residual is {found.residual:.1e} "
            f"(limit {RESIDUAL:g}). Give a SecondOrderModel, which is scaled by its modes, or scale states and inputs."
        )
    slowest = slowest_decay(found.poles, period)
    if not slowest > DECAY:
        raise DesignError(
            f"{what}: the loop is not stable, its slowest pole decays at {slowest:.1e} 1/s (limit {DECAY:g}): "
            "something is hardly reached or hardly seen. Move an actuator or a sensor, or weigh more of the motion."
        )
    if found.least < -1e-12 or (definite and found.least <= 0.0):
        raise DesignError(
            f"{what}: the solution is not positive (smallest over largest eigenvalue {found.least:.1e}): it is wrong. "
            "Scale states and inputs."
        )


def slowest_decay(poles: np.ndarray, period: float | None) -> float:
    """Smallest decay rate [1/s]; negative where something grows."""
    if period is None:
        return float(-np.max(np.real(poles)))
    return float(-np.log(max(np.max(np.abs(poles)), np.finfo(float).tiny)) / period)


def _relative_residual(A, B, Q, P, F, N, period: float | None) -> float:
    """Residual of the Riccati equation, relative to the sizes of its terms (Frobenius)."""
    continuous = period is None
    terms = [A.T @ P, P @ A] if continuous else [A.T @ P @ A, -P]
    terms += [Q, -((P if continuous else A.T @ P) @ B + N) @ F]
    return _size(np.sum(terms, axis=0)) / sum(_size(term) for term in terms)


def _size(matrix: np.ndarray) -> float:
    return max(float(np.linalg.norm(matrix)), np.finfo(float).tiny)


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)
