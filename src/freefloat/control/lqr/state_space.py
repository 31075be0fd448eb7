"""A linear model in first-order form with names, continuous or sampled, with well-scaled coordinates."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from freefloat.control.lqr.refusals import require_matrix, require_names
from freefloat.values.checks import require_all, set_fields
from freefloat.values.errors import ModelError
from freefloat.values.short_text import TextDisplay, names_line, record_text
from freefloat.values.suggestions import did_you_mean


@dataclass(frozen=True)
class Scaling:
    """Coordinates z with x = T z in which the numbers of a model are similar in size."""

    T: np.ndarray
    T_inverse: np.ndarray

    __repr__ = record_text  # one line, without arrays

    @property
    def dual(self) -> Scaling:
        """Scaling of the transposed model, on which filters are designed."""
        return Scaling(self.T_inverse.T, self.T.T)


@dataclass(frozen=True)
class StateSpace(TextDisplay):
    """d/dt x = A x + B u, y = C x + D u; with a `period` [s] x(k+1) = A x(k) + B u(k). SI units, names on every row.

    C is the identity where it is not given. `scaling` is found by balancing A where it is not given.
    """

    A: Any  # (states, states); arrays, or lists that become arrays
    B: Any  # (states, inputs)
    C: Any = None  # (outputs, states)
    D: Any = None  # (outputs, inputs)
    states: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    period: float | None = None
    scaling: Any = None  # a Scaling

    def __post_init__(self) -> None:
        n, m = len(np.atleast_1d(self.A)), np.shape(self.B)[-1] if np.ndim(self.B) == 2 else 0
        states = tuple(self.states) or tuple(f"x{k + 1}" for k in range(n))
        C = np.eye(n) if self.C is None else self.C
        count = len(np.atleast_1d(C))
        numbered = states if self.C is None else tuple(f"y{k + 1}" for k in range(count))
        D = np.zeros((count, m)) if self.D is None else self.D
        A, B, C, D, states, inputs, outputs, _ = require_all(
            lambda: require_matrix("A", self.A, (n, n), "square"),
            lambda: require_matrix("B", self.B, (n, m), "one row for each state"),
            lambda: require_matrix("C", C, (count, n), "one column for each state"),
            lambda: require_matrix("D", D, (count, m), "outputs by inputs"),
            lambda: require_names("States", states, n),
            lambda: require_names("Inputs", self.inputs or [f"u{k + 1}" for k in range(m)], m),
            lambda: require_names("Outputs", self.outputs, count) if self.outputs else numbered,
            self._require_period,
        )
        set_fields(self, A=A, B=B, C=C, D=D, states=states, inputs=inputs, outputs=outputs)
        if self.scaling is None:
            set_fields(self, scaling=balancing_scaling(A))

    def _require_period(self) -> None:
        if self.period is not None and not (np.isfinite(self.period) and self.period > 0.0):
            raise ModelError(f"The period of a sampled model must be positive [s], got {self.period}.")

    @staticmethod
    def of(model: Any) -> StateSpace:
        """Model from any record with A, B, C, D and names, such as `analysis.LinearModel`."""
        if isinstance(model, StateSpace):
            return model
        states, inputs, outputs = (_numbered_names(getattr(model, kind)) for kind in ("states", "inputs", "outputs"))
        return StateSpace(model.A, model.B, model.C, model.D, states, inputs, outputs)

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A, found in scaled coordinates."""
        return np.linalg.eigvals(self.scaled_model().A)

    def scaled_model(self) -> StateSpace:
        """Model in its scaled coordinates, whose states are numbered."""
        s = self.scaling
        n = len(self.A)
        A, B, C = s.T_inverse @ self.A @ s.T, s.T_inverse @ self.B, self.C @ s.T
        itself, names = Scaling(np.eye(n), np.eye(n)), tuple(f"z{k + 1}" for k in range(n))
        return dataclasses.replace(self, A=A, B=B, C=C, states=names, scaling=itself)

    def submodel(self, *, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> StateSpace:
        """Model with some of its inputs and outputs only, in the order given."""
        columns, rows = name_indices("input", self.inputs, inputs), name_indices("output", self.outputs, outputs)
        return dataclasses.replace(
            self,
            B=self.B[:, columns],
            C=self.C[rows],
            D=self.D[np.ix_(rows, columns)],
            inputs=tuple(self.inputs[k] for k in columns),
            outputs=tuple(self.outputs[k] for k in rows),
        )

    def __repr__(self) -> str:
        return f"<{str(self).partition(chr(10))[0]}>"

    def __str__(self) -> str:
        kind = "continuous" if self.period is None else f"sampled every {self.period:g} s"
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        listed = zip(("state", "input", "output"), (self.states, self.inputs, self.outputs), strict=True)
        return "\n".join((f"Linear model, {kind}: {sizes}", *(names_line(*names) for names in listed)))


def name_indices(kind: str, known: Sequence[str], names: Sequence[str] | None) -> list[int]:
    """Indices of names; an unknown name raises an error with the list of known ones."""
    if names is None:
        return list(range(len(known)))
    if unknown := [name for name in names if name not in known]:
        listed = f"{kind.capitalize()}s: {', '.join(known)}.{did_you_mean(unknown[0], known)}"
        raise ModelError(f"The linear model has no {kind} '{unknown[0]}'. {listed}")
    return [list(known).index(name) for name in names]


def balancing_scaling(A: np.ndarray) -> Scaling:
    """Diagonal scaling by powers of two that makes rows and columns of A similar in size."""
    if not len(A):
        return Scaling(A, A)
    _, (scale, _) = linalg.matrix_balance(A, permute=False, separate=True)  # pyright: ignore[reportGeneralTypeIssues]
    return Scaling(np.diag(scale), np.diag(1.0 / scale))


def _numbered_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names in which those that occur several times get numbers."""
    many = {name for name in names if list(names).count(name) > 1}
    found, seen = [], dict.fromkeys(many, 0)
    for name in names:
        if name in many:
            seen[name] += 1
        found.append(f"{name} {seen[name]}" if name in many else name)
    return tuple(found)
