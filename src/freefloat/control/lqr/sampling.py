"""Sampling of a continuous model: inputs held between samples, exactly, with whole and fractional delay."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import linalg

from freefloat.control.lqr.state_space import Scaling, StateSpace
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError


def transition_matrices(model: StateSpace, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Matrices e^(A t) and int_0^t e^(A s) ds B, by one exponential in scaled coordinates."""
    s, n = model.scaling, len(model.A)
    found = linalg.expm(duration * _held_inputs(model))
    return s.T @ found[:n, :n] @ s.T_inverse, s.T @ found[:n, n:]


def _held_inputs(model: StateSpace) -> np.ndarray:
    """Matrix of the motion of (x, u) in scaled coordinates while the inputs u are held."""
    s, n, m = model.scaling, len(model.A), model.B.shape[1]
    block = np.zeros((n + m, n + m))
    block[:n, :n], block[:n, n:] = s.T_inverse @ model.A @ s.T, s.T_inverse @ model.B
    return block


def sample(model: StateSpace, period: float, delay: float = 0.0) -> StateSpace:
    """Model at samples; commands are held over a period and act `delay` seconds late.

    Earlier commands become states: `pitch torque, 1 sample ago`.
    """
    require_number("The period", period, "s", above=0.0)
    require_number("The delay", delay, "s", least=0.0)
    if model.period is not None:
        raise ModelError(f"The model is sampled already, every {model.period:g} s.")
    whole = int(delay / period + 1e-9)
    late = max(delay - whole * period, 0.0)  # the part of a sample in which the command before it still acts
    late = 0.0 if late < 1e-9 * period else late
    A, B = transition_matrices(model, period)
    if whole == 0 and late == 0.0:
        return dataclasses.replace(model, A=A, B=B, period=period)
    now, (rest, _) = transition_matrices(model, period - late)[1], transition_matrices(model, period - late)
    before = rest @ transition_matrices(model, late)[1]
    return _with_delay_line(model, A, now, before if late else None, whole, period)


def _with_delay_line(
    model: StateSpace, A: np.ndarray, now: np.ndarray, before: np.ndarray | None, whole: int, period: float
) -> StateSpace:
    """Model with states (x, u 1 sample ago, u 2 samples ago, ...); u of `whole` samples ago and the one before act."""
    n, m = len(A), now.shape[1]
    depth = whole + (before is not None)
    full, inputs = np.zeros((n + depth * m, n + depth * m)), np.zeros((n + depth * m, m))
    full[:n, :n] = A
    for ago, effect in ((whole, now), (whole + 1, before)):
        if effect is None:
            continue
        if ago == 0:
            inputs[:n] = effect
        else:
            full[:n, n + (ago - 1) * m : n + ago * m] = effect
    inputs[n : n + m] = np.eye(m)
    for k in range(1, depth):
        full[n + k * m : n + (k + 1) * m, n + (k - 1) * m : n + k * m] = np.eye(m)
    names = [f"{name}, {k + 1} sample{'s' * (k > 0)} ago" for k in range(depth) for name in model.inputs]
    s = model.scaling
    scaling = Scaling(*(np.asarray(linalg.block_diag(T, np.eye(depth * m))) for T in (s.T, s.T_inverse)))
    C, D = np.hstack([model.C, np.zeros((len(model.C), depth * m))]), np.array(model.D)
    if np.any(D):
        raise ModelError("A model whose inputs act on its outputs at once (D) cannot be sampled with a delay.")
    states = (*model.states, *names)
    return StateSpace(full, inputs, C, D, states, model.inputs, model.outputs, period, scaling)


def sampled_cost(
    model: StateSpace, Q: np.ndarray, R: np.ndarray, period: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights (Q, R, cross) of samples with the cost of int x'Qx + u'Ru dt, inputs held over a period.

    int_0^T E(t)' W E(t) dt by halving the period until a series does, then doubling: W(2t) = W(t) + E' W(t) E.
    """
    s, n, block = model.scaling, len(model.A), _held_inputs(model)
    W = linalg.block_diag(s.T.T @ Q @ s.T, R)
    halvings = max(int(np.ceil(np.log2(max(np.linalg.norm(block, 2) * period, 1e-300)))) + 3, 0)
    h = period / 2**halvings
    term = total = h * W  # Taylor series of the integral: terms h^(k+1)/(k+1)! of the k-th derivative of E' W E
    for k in range(1, 20):
        term = (block.T @ term + term @ block) * (h / (k + 1))
        total = total + term
    E = linalg.expm(h * block)
    for _ in range(halvings):
        total, E = total + E.T @ total @ E, E @ E
    Ti = s.T_inverse
    return Ti.T @ total[:n, :n] @ Ti, total[n:, n:], Ti.T @ total[:n, n:]
