"""Combinations of parameters that the data do not determine, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.analysis.identification.levenberg_marquardt import LARGEST, ROUNDING, Decomposition

_SHOWN = 1e-2  # of the largest share: smaller ones are left out of the words
_ALIKE = 1e-3
_LISTED = 8  # parameters that are listed in one sentence


@dataclass(frozen=True)
class UnidentifiableChange:
    """A change of parameters that the data cannot show."""

    names: tuple[str, ...]
    changes: tuple[float, ...]  # of each parameter, in its unit
    units: tuple[str, ...]
    deviation: float  # standard deviation of the whole change, in units of it; infinite: it has no effect at all
    common: bool  # whether it is a common factor of all of them

    def __str__(self) -> str:
        effect = "has no effect on the data" if np.isinf(self.deviation) else "is hidden by the noise"
        if len(self.names) == 1:
            return f"{self.names[0]} {effect}."
        listed = ", ".join(self.names) if len(self.names) <= _LISTED else f"all {len(self.names)} that are not zero"
        if self.common:
            return f"Only ratios of {listed} can be told: a common factor {effect}."
        changes = (f"{n} {c:+.3g} {u}" for n, c, u in zip(self.names, self.changes, self.units, strict=True))
        return f"{listed} appear only in combination: {', '.join(changes)} together {effect}."


def find_unidentifiable(
    parts: Decomposition, names: tuple[str, ...], units: tuple[str, ...], values: np.ndarray, scale: np.ndarray
) -> tuple[UnidentifiableChange, ...]:
    """Changes that span the space which the data do not determine, each with as few parameters as possible."""
    hidden = parts.combinations[:, ~parts.identifiable]
    found, common = [], values / scale
    columns = _sparse_basis(hidden)
    if len(columns) > 1 and _lies_in(hidden, common):
        columns.insert(0, common)  # listed by itself as well: the other columns hide it
    for column in columns:
        kept = np.abs(column) > _SHOWN * np.max(np.abs(column))
        effect = float(np.linalg.norm(parts.values * (parts.combinations.T @ column)))
        nothing = effect <= ROUNDING * parts.values[0] * np.linalg.norm(column) * len(column)
        changes = scale * column
        found.append(
            UnidentifiableChange(
                names=tuple(name for name, keep in zip(names, kept, strict=True) if keep),
                changes=tuple(map(float, changes[kept])),
                units=tuple(unit for unit, keep in zip(units, kept, strict=True) if keep),
                deviation=np.inf if nothing else LARGEST / effect,
                common=_is_common_factor(changes / scale, values / scale, kept),
            )
        )
    return tuple(found)


def _sparse_basis(basis: np.ndarray) -> list[np.ndarray]:
    """Basis of the same space with many zeros, in the order of parameters (elimination with the largest pivot)."""
    columns, pivots = basis.copy(), dict[int, int]()
    while len(pivots) < columns.shape[1]:
        left = [k for k in range(columns.shape[1]) if k not in pivots]
        row, place = np.unravel_index(np.argmax(np.abs(columns[:, left])), (len(columns), len(left)))
        own = left[int(place)]
        pivots[own] = int(row)
        columns[:, own] /= columns[row, own]
        for other in range(columns.shape[1]):
            if other != own:
                columns[:, other] -= columns[row, other] * columns[:, own]
    return [columns[:, k] for k in sorted(pivots, key=lambda k: pivots[k])]


def _lies_in(basis: np.ndarray, direction: np.ndarray) -> bool:
    """Whether a direction lies in the space of an orthonormal basis."""
    outside = direction - basis @ (basis.T @ direction)
    return bool(np.linalg.norm(outside) < _ALIKE * np.linalg.norm(direction))


def _is_common_factor(change: np.ndarray, values: np.ndarray, kept: np.ndarray) -> bool:
    """Whether a change is proportional to the values themselves."""
    if np.count_nonzero(kept) < 2 or not np.any(values[kept]):
        return False
    factor = float(change[kept] @ values[kept]) / float(values[kept] @ values[kept])
    return bool(np.max(np.abs(change[kept] - factor * values[kept])) < _ALIKE * np.max(np.abs(change)))
