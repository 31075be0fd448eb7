"""Controllability and observability of modes, by name.

Single eigenvectors are not enough: of two modes that are equal to 1e-9 any mixture is an eigenvector, and the mixture
hides the mode that is not reached. So modes of one frequency are tested together, and the effect of damping and
gyroscopic terms by Hautus' test, the smallest singular value of [lambda - A, B], which needs no eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from freefloat.control.lqr.second_order import SLOWEST, SecondOrderModel
from freefloat.control.lqr.state_space import StateSpace

LIMIT = 1e-6  # measures below this are rounding: the mode is not reached, or not seen
STABLE_DECAY = 1e-6  # what decays at least as fast as this needs no control [1/s]
_SUSPECT = 1e3  # times the limit: eigenvectors that are reached so little get a closer test


@dataclass(frozen=True)
class ModeReach:
    """Measure of each group of modes of equal frequency: its smallest singular value."""

    names: tuple[str, ...]
    frequencies: np.ndarray  # of each group [rad/s]
    measures: np.ndarray
    limit: float
    verb: str  # reached by the inputs, seen by the sensors

    @property
    def missed_modes(self) -> tuple[str, ...]:
        """Names of the modes below the limit."""
        return tuple(name for name, m in zip(self.names, self.measures, strict=True) if m < self.limit)

    def __str__(self) -> str:
        marks = [f"   not {self.verb}" if m < self.limit else "" for m in self.measures]
        lines = [f"{m:10.3e}  {name}{mark}" for m, name, mark in zip(self.measures, self.names, marks, strict=True)]
        return "\n".join(lines)


def controllability(model: SecondOrderModel, *, limit: float = LIMIT) -> ModeReach:
    """Controllability of each mode: the smallest singular value of Phi^T Bf over modes of equal frequency."""
    rows = model.modes.shapes.T @ model.Bf
    return _mode_reach(model, [rows[list(group)].T for group in model.modes.groups], limit, "reached")


def observability(model: SecondOrderModel, *, limit: float = LIMIT) -> ModeReach:
    """Observability of each mode that moves at unit speed; a gyro does not see the position of a free mode."""
    modes = model.modes
    w = np.abs(modes.frequencies)
    slow = np.maximum(w, SLOWEST)
    columns = np.vstack([model.Cp @ modes.shapes / slow, model.Cv @ modes.shapes * (w / slow)])
    return _mode_reach(model, [columns[:, list(group)] for group in modes.groups], limit, "seen")


def _mode_reach(model: SecondOrderModel, blocks: list[np.ndarray], limit: float, verb: str) -> ModeReach:
    groups = model.modes.groups
    return ModeReach(
        tuple(model.modes.group_name(group) for group in groups),
        np.array([model.modes.frequencies[group[0]] for group in groups]),
        np.array([_smallest_singular_value(block) for block in blocks]),
        limit,
        verb,
    )


def _smallest_singular_value(block: np.ndarray) -> float:
    """Smallest of as many singular values as there are columns; zero where there are fewer rows than columns."""
    if block.shape[0] < block.shape[1]:
        return 0.0
    return float(np.linalg.svd(block, compute_uv=False)[-1])


def unreached_names(model: StateSpace, structure: SecondOrderModel | None, limit: float = LIMIT) -> tuple[str, ...]:
    """Names of modes that neither decay nor are reached by an input, by Hautus' test; empty: stabilisable."""
    z = model.scaled_model()
    found = _unreached_poles(z.A, z.B, model.period, limit)
    return tuple(dict.fromkeys(_mode_name(*pole, model, structure) for pole in found))


def unseen_names(model: StateSpace, structure: SecondOrderModel | None, limit: float = LIMIT) -> tuple[str, ...]:
    """Names of modes that neither decay nor are seen by an output; empty: detectable."""
    z = model.scaled_model()
    found = _unreached_poles(z.A.T, z.C.T, model.period, limit)
    return tuple(dict.fromkeys(_mode_name(*pole, model, structure) for pole in found))


def _unreached_poles(
    A: np.ndarray, B: np.ndarray, period: float | None, limit: float
) -> list[tuple[complex, np.ndarray]]:
    """Poles that do not decay, and left vectors v with v (lambda - A) = 0 and v B = 0."""
    sizes = np.linalg.norm(B, axis=0)
    B = B / np.where(sizes > 0.0, sizes, 1.0)
    poles, left = linalg.eig(A, left=True, right=False)  # pyright: ignore[reportAssignmentType]
    staying = np.real(poles) > -STABLE_DECAY if period is None else np.abs(poles) > np.exp(-STABLE_DECAY * period)
    watched = np.flatnonzero(staying & (np.imag(poles) >= 0.0))
    suspects = poles[[k for k in watched if _cluster_reach(poles, left, B, poles[k]) < _SUSPECT * limit]]
    found = []
    for pole in suspects[np.argsort(np.abs(suspects))]:
        vectors, values, _ = np.linalg.svd(np.hstack([pole * np.eye(len(A)) - A, B]), full_matrices=False)
        found += [(pole, vectors[:, k]) for k in np.flatnonzero(values < limit)]
    return found


def _cluster_reach(poles: np.ndarray, left: np.ndarray, B: np.ndarray, pole: complex) -> float:
    """Smallest singular value of the inputs over all mixtures of eigenvectors of poles that are nearly equal."""
    near = np.abs(poles - pole) <= 1e-6 * abs(pole) + 1e-12 * np.max(np.abs(poles))
    basis = np.linalg.qr(left[:, near])[0]
    return _smallest_singular_value(B.T @ basis.conj())


def _mode_name(pole: complex, vector: np.ndarray, model: StateSpace, structure: SecondOrderModel | None) -> str:
    """Name of the mode that a vector in scaled coordinates belongs to."""
    size = np.abs(vector) ** 2
    if structure is not None and len(size) == 2 * len(structure.M):
        modes, n = structure.modes, len(structure.M)
        share = [np.sum(size[list(g)] + size[[n + k for k in g]]) for g in modes.groups]
        return modes.group_name(modes.groups[int(np.argmax(share))])
    scaling = model.scaling
    weight = np.abs(scaling.T_inverse.T @ vector) / np.maximum(np.linalg.norm(scaling.T_inverse, axis=0), 1e-300)
    written = f"{pole.real:.4g}" if abs(pole.imag) < 1e-9 else f"{pole.real:.4g} +- {pole.imag:.4g}i"
    return f"pole {written} ({model.states[int(np.argmax(weight))]})"
