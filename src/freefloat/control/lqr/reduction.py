"""Balanced truncation: a controller's model with fewer states, with a bound on the error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from freefloat.control.lqr.mode_reach import STABLE_DECAY
from freefloat.control.lqr.refusals import DesignError
from freefloat.control.lqr.state_space import StateSpace
from freefloat.values.errors import ModelError
from freefloat.values.short_text import record_text


@dataclass(frozen=True)
class TruncatedModel:
    """A model with fewer states. Its transfer matrix is within `bound` of the original's at every frequency."""

    model: StateSpace
    singular_values: np.ndarray  # Hankel, of the stable part, descending
    bound: float  # twice the sum of those left out, in units of outputs over inputs
    kept_unstable: int  # states of the part that does not decay: always kept

    __repr__ = record_text  # one line, without arrays


def balanced_truncation(model: StateSpace, states: int) -> TruncatedModel:
    """Model with so many states; the part that does not decay is kept whole, the rest is balanced and truncated."""
    if model.period is not None:
        raise ModelError("Balanced truncation takes a continuous model: reduce first, then sample.")
    z = model.scaled_model()
    first, second = _split_by_decay(z)
    fixed, stable = len(first[0]), second
    kept = states - fixed
    if not 0 <= kept <= len(stable[0]):
        raise DesignError(f"{states} states cannot be: {fixed} do not decay and stay, of {len(z.A)} in all.")
    A, B, C = stable
    left, right, values = _balancing_bases(A, B, C, kept)
    A2, B2, C2 = linalg.block_diag(first[0], left.T @ A @ right), np.vstack([first[1], left.T @ B]), None
    C2 = np.hstack([first[2], C @ right])
    names = tuple(f"balanced {k + 1}" for k in range(states))
    reduced = StateSpace(A2, B2, C2, z.D, names, z.inputs, z.outputs)
    return TruncatedModel(reduced, values, 2.0 * float(np.sum(values[kept:])), fixed)


def _split_by_decay(z: StateSpace) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Decoupled blocks (A, B, C) of the part that does not decay and of the part that does."""
    T, U, count = linalg.schur(z.A, output="real", sort=lambda re, im: re > -STABLE_DECAY)  # pyright: ignore
    X = linalg.solve_sylvester(T[:count, :count], -T[count:, count:], -T[:count, count:])
    B, C = U.T @ z.B, z.C @ U
    first = T[:count, :count], B[:count] - X @ B[count:], C[:, :count]
    return first, (T[count:, count:], B[count:], C[:, count:] + C[:, :count] @ X)


def _balancing_bases(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, kept: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left and right bases of the states kept, and all Hankel singular values (square-root method)."""
    if not len(A):
        return np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0)
    reach = _gramian_root(linalg.solve_continuous_lyapunov(A, -B @ B.T))
    seen = _gramian_root(linalg.solve_continuous_lyapunov(A.T, -C.T @ C))
    U, values, Vt = np.linalg.svd(seen.T @ reach)
    if kept and values[kept - 1] <= 1e-13 * values[0]:
        enough = int(np.sum(values > 1e-13 * values[0]))
        raise DesignError(f"Only {enough} states of the decaying part are both reached and seen; {kept} are asked for.")
    scale = 1.0 / np.sqrt(values[:kept])
    return seen @ U[:, :kept] * scale, reach @ Vt[:kept].T * scale, values


def _gramian_root(gramian: np.ndarray) -> np.ndarray:
    """Root S with S S' the Gramian, which rounding may have left slightly indefinite."""
    values, vectors = np.linalg.eigh(0.5 * (gramian + gramian.T))
    return vectors * np.sqrt(np.maximum(values, 0.0))
