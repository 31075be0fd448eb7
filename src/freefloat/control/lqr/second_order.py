"""A structure in second-order form, M p'' + (G + C) p' + K p = Bf u, with names; and its natural modes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import linalg

from freefloat.control.lqr.refusals import DesignError, require_matrix, require_names
from freefloat.control.lqr.state_space import Scaling, StateSpace, name_indices
from freefloat.values.checks import require_all, set_fields
from freefloat.values.errors import ModelError
from freefloat.values.short_text import TextDisplay, record_text

SLOWEST = 1e-2  # displacements of slower modes are scaled as if they had this frequency [rad/s]
_EQUAL = 1e-6  # frequencies that differ by less, relative, belong to one group
_ALIKE = 0.8  # components that move nearly as much as the one that moves most are named beside it
_WORST = 1e13  # conditioning of the mass matrix, without the effect of units, beyond which its modes are useless


@dataclass(frozen=True)
class SecondOrderModel:
    """Structure M p'' + (G + C) p' + K p = Bf u and y = (Cp, Cv) (p, p'), in SI units.

    `coordinates` named `array 1 3` belong to the component `array 1`. G is gyroscopic, C damps. Outputs are all
    coordinates and their rates where none are given.
    """

    M: Any  # arrays, or lists that become arrays
    K: Any
    Bf: Any  # (coordinates, inputs)
    G: Any = None
    C: Any = None
    coordinates: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    Cp: Any = None  # (outputs, coordinates)
    Cv: Any = None  # (outputs, rates)

    __repr__ = record_text  # one line, without arrays

    def __post_init__(self) -> None:
        n = len(np.atleast_1d(self.M))
        m = np.shape(self.Bf)[-1] if np.ndim(self.Bf) == 2 else 0
        names = tuple(self.coordinates) or tuple(f"p{k + 1}" for k in range(n))
        Cp, Cv, numbered = self._default_sensors(names)
        count = len(np.atleast_1d(Cp))
        given = {name: np.zeros((n, n)) if (x := getattr(self, name)) is None else x for name in "MKGC"}
        checked = require_all(
            lambda: _require_mass(require_matrix("M", given["M"], (n, n), "square")),
            *(partial(require_matrix, name, given[name], (n, n), "square") for name in "KGC"),
            lambda: require_matrix("Bf", self.Bf, (n, m), "one row for each coordinate"),
            lambda: require_matrix("Cp", Cp, (count, n), "one column for each coordinate"),
            lambda: require_matrix("Cv", Cv, (count, n), "one column for each coordinate"),
            lambda: require_names("Coordinates", names, n),
            lambda: require_names("Inputs", self.inputs or [f"u{k + 1}" for k in range(m)], m),
            lambda: require_names("Outputs", self.outputs, count) if self.outputs else numbered,
        )
        fields = ("M", "K", "G", "C", "Bf", "Cp", "Cv", "coordinates", "inputs", "outputs")
        set_fields(self, **dict(zip(fields, checked, strict=True)))

    def _default_sensors(self, names: tuple[str, ...]) -> tuple[Any, Any, tuple[str, ...]]:
        """Cp, Cv and names of the outputs where none are given: all coordinates and their rates, or numbers."""
        n = len(np.atleast_1d(self.M))
        if self.Cp is None and self.Cv is None:
            return np.eye(2 * n)[:, :n], np.eye(2 * n)[:, n:], (*names, *(f"{name} rate" for name in names))
        count = len(np.atleast_1d(self.Cp if self.Cp is not None else self.Cv))
        Cp, Cv = (np.zeros((count, n)) if given is None else given for given in (self.Cp, self.Cv))
        return Cp, Cv, tuple(f"y{k + 1}" for k in range(count))

    @cached_property
    def modes(self) -> StructureModes:
        """Natural modes of M and the symmetric part of K, without the effects of G and C."""
        squared, shapes = linalg.eigh(0.5 * (self.K + self.K.T), self.M)
        # Below this a squared frequency is rounding: the mode is free.
        rounding = 10.0 * len(squared) * np.finfo(float).eps * np.max(np.abs(squared), initial=0.0)
        squared = np.where(np.abs(squared) < rounding, 0.0, squared)
        shares = _component_shares(self, shapes)
        return StructureModes(np.sign(squared) * np.sqrt(np.abs(squared)), shapes, *shares)

    @cached_property
    def state_space(self) -> StateSpace:
        """First-order form with x = (p, p'), scaled by its modes (not by inverting anything)."""
        n, factor = len(self.M), linalg.cho_factor(self.M)
        A = np.block(
            [
                [np.zeros((n, n)), np.eye(n)],
                [-linalg.cho_solve(factor, self.K), -linalg.cho_solve(factor, self.G + self.C)],
            ]
        )
        B = np.vstack([np.zeros((n, self.Bf.shape[1])), linalg.cho_solve(factor, self.Bf)])
        states = (*self.coordinates, *(f"{name} rate" for name in self.coordinates))
        C = np.hstack([self.Cp, self.Cv])
        return StateSpace(A, B, C, None, states, self.inputs, self.outputs, scaling=self._modal_scaling())

    def _modal_scaling(self) -> Scaling:
        Phi, slow = self.modes.shapes, np.maximum(np.abs(self.modes.frequencies), SLOWEST)
        back = Phi.T @ self.M  # the inverse of Phi
        return Scaling(_block_diagonal(Phi / slow, Phi), _block_diagonal(slow[:, None] * back, back))

    def with_inputs(self, names: Sequence[str]) -> SecondOrderModel:
        """Structure with some of its inputs only."""
        places = name_indices("input", self.inputs, names)
        return _copy_with(self, Bf=self.Bf[:, places], inputs=tuple(self.inputs[k] for k in places))

    def with_outputs(self, Cp: np.ndarray, Cv: np.ndarray, names: Sequence[str]) -> SecondOrderModel:
        """Structure with other sensors."""
        return _copy_with(self, Cp=Cp, Cv=Cv, outputs=tuple(names))

    def keep_modes(self, kept: Sequence[int]) -> SecondOrderModel:
        """Structure with some of its modes only, in modal coordinates, as a model for the design of a controller."""
        wanted = sorted({int(k) for k in kept})
        if not wanted or wanted[0] < 0 or wanted[-1] >= len(self.M):
            raise ModelError(f"Modes are numbered 0 to {len(self.M) - 1}; got {list(kept)}.")
        Phi = self.modes.shapes[:, wanted]
        matrices = {name: Phi.T @ getattr(self, name) @ Phi for name in "KGC"}
        return SecondOrderModel(
            M=np.eye(len(wanted)),
            **matrices,
            Bf=Phi.T @ self.Bf,
            coordinates=tuple(self.modes.names[k] for k in wanted),
            inputs=self.inputs,
            outputs=self.outputs,
            Cp=self.Cp @ Phi,
            Cv=self.Cv @ Phi,
        )


@dataclass(frozen=True)
class StructureModes(TextDisplay):
    """Modes with unit modal mass, ascending; a negative frequency is that of an instability, sqrt(-w^2) [1/s]."""

    frequencies: np.ndarray  # [rad/s]
    shapes: np.ndarray  # (coordinates, modes)
    components: tuple[str, ...]
    shares: np.ndarray  # (components, modes) of the kinetic energy, each column sums to one

    __repr__ = record_text  # one line, without arrays

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of modes of equal frequency: within a group any mixture of shapes is a shape."""
        found: list[list[int]] = []
        for k, w in enumerate(self.frequencies):
            before = self.frequencies[found[-1][-1]] if found else None
            if before is not None and abs(w - before) <= _EQUAL * max(abs(w), abs(before)):
                found[-1].append(k)
            else:
                found.append([k])
        return tuple(tuple(group) for group in found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names such as `mode 5, array 1 + array 2, 0.4999 rad/s`: number, components that move most, frequency."""
        return tuple(
            f"mode {k + 1}, {self.main_components((k,))}, {_frequency_text(w)}" for k, w in enumerate(self.frequencies)
        )

    def group_name(self, group: Sequence[int]) -> str:
        """Name of one mode, or of several with one frequency."""
        if len(group) == 1:
            return self.names[group[0]]
        numbers = f"modes {group[0] + 1} to {group[-1] + 1}"
        return f"{numbers}, {self.main_components(group)}, {_frequency_text(self.frequencies[group[0]])}"

    def main_components(self, group: Sequence[int]) -> str:
        """Names of the components that move most."""
        shares = np.sum(self.shares[:, list(group)], axis=1)
        return " + ".join(self.components[k] for k in np.flatnonzero(shares >= _ALIKE * np.max(shares)))

    def __str__(self) -> str:
        return "\n".join(self.names)


def _block_diagonal(*matrices: np.ndarray) -> np.ndarray:
    return np.asarray(linalg.block_diag(*matrices))


def component_of(coordinate: str) -> str:
    """Component of a coordinate: `array 1` of `array 1 3`; a name without a number after it is its own component."""
    return re.sub(r"(?<=.) \d+$", "", coordinate)


def _component_shares(model: SecondOrderModel, shapes: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    of = [component_of(name) for name in model.coordinates]
    components = tuple(dict.fromkeys(of))
    energy = np.abs(shapes * (model.M @ shapes))
    rows = np.array([np.sum(energy[[c == name for c in of]], axis=0) for name in components])
    return components, rows / np.sum(rows, axis=0)


def _frequency_text(frequency: float) -> str:
    if frequency < 0.0:
        return f"unstable at {-frequency:.4g} 1/s"
    return f"{frequency:.5g} rad/s" if frequency > 0.0 else "free"


def _require_mass(M: np.ndarray) -> np.ndarray:
    if np.max(np.abs(M - M.T), initial=0.0) > 1e-9 * np.max(np.abs(M), initial=0.0):
        raise ModelError("M must be symmetric: a mass matrix comes from a kinetic energy. Give (M + M^T)/2.")
    diagonal = np.diag(M)
    if np.any(diagonal <= 0.0):
        raise ModelError(f"M must be positive definite: coordinate {int(np.argmin(diagonal)) + 1} has no mass.")
    scale = 1.0 / np.sqrt(diagonal)
    eigenvalues = np.linalg.eigvalsh(scale[:, None] * M * scale)
    if eigenvalues[0] <= 0.0:
        raise ModelError(f"M must be positive definite: a scaled eigenvalue is {eigenvalues[0]:.3g}.")
    if eigenvalues[-1] / eigenvalues[0] > _WORST:
        raise DesignError(
            f"M is badly conditioned ({eigenvalues[-1] / eigenvalues[0]:.1e}, units apart): some coordinates nearly "
            "move together. Leave one of them out, or reduce the structure by Craig-Bampton."
        )
    return M


def _copy_with(model: SecondOrderModel, **fields: object) -> SecondOrderModel:
    """Copy of a model with other inputs or outputs; its modes are the same and are not computed again."""
    copy = dataclasses.replace(model, **fields)  # pyright: ignore[reportArgumentType]
    if "modes" in model.__dict__:
        copy.__dict__["modes"] = model.modes
    return copy
