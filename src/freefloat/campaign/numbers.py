"""From draws to the numbers of each run, which compiled code uses instead of those of the experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.campaign.dispersions import BoundDispersion
from freefloat.campaign.places import NumberCatalogue
from freefloat.model import State
from freefloat.sim import Experiment, System
from freefloat.values.arrays import is_traced


class Numbers:
    """The entries of an experiment's arrays that differ from run to run, as one row of numbers for each run."""

    def __init__(self, experiment: Experiment, bound: Sequence[BoundDispersion], places: NumberCatalogue) -> None:
        self._places, self._bound = places, tuple(bound)
        touched: dict[int, set[int]] = {}
        for spread in bound:
            for place, group in spread.targets:
                whole = range(places.leaves[place.leaf].size) if place.turns else group
                touched.setdefault(place.leaf, set()).update(whole)
        self.entries = {leaf: np.array(sorted(some)) for leaf, some in sorted(touched.items())}
        ends = np.cumsum([0, *(len(some) for some in self.entries.values())])
        self.columns = {leaf: slice(a, b) for leaf, a, b in zip(self.entries, ends[:-1], ends[1:], strict=True)}
        self.size = int(ends[-1])
        self.nominal = self._row_of({leaf: places.leaves[leaf] for leaf in self.entries})
        self.experiment = experiment

    def _row_of(self, leaves: dict[int, np.ndarray]) -> np.ndarray:
        parts = [leaves[leaf].ravel()[some] for leaf, some in self.entries.items()]
        return np.concatenate([np.zeros(0), *parts])

    def of_draws(self, draws: np.ndarray) -> np.ndarray:
        """Numbers of the runs (runs, numbers) from their draws (runs, draws)."""
        arrays = {leaf: np.repeat(self._places.leaves[leaf].ravel()[None], len(draws), 0) for leaf in self.entries}
        first = 0
        for spread in self._bound:
            own = draws[:, first : first + spread.count]
            first += spread.count
            turned: dict[int, np.ndarray] = {}
            for value, (place, group) in zip(own.T, spread.targets, strict=True):
                if place.turns:
                    turned.setdefault(place.leaf, np.zeros((len(draws), 3)))[:, list(group)] = value[:, None]
                else:
                    _change(arrays[place.leaf], list(group), value[:, None], spread.how)
            for leaf, vectors in turned.items():
                arrays[leaf] = _turn(arrays[leaf], vectors)
        parts = [arrays[leaf][:, some] for leaf, some in self.entries.items()]
        return np.concatenate([np.zeros((len(draws), 0)), *parts], axis=1)

    def leaf_values(self, leaf: int, rows: np.ndarray) -> np.ndarray:
        """Values of one array of the experiment in each run, (runs, *shape)."""
        base = self._places.leaves[leaf]
        values = np.repeat(base.ravel()[None], len(rows), 0)
        if leaf in self.entries:
            values[:, self.entries[leaf]] = rows[:, self.columns[leaf]]
        return values.reshape(len(rows), *base.shape)

    def system_and_start(self, row: Any, run: Any) -> tuple[System, tuple[State, ...]]:
        """System and start of one run; sensors get the number of the run, so that each run has its own sensor errors.

        Where `run` is None the sensor errors are those of the experiment.
        """
        xp: Any = jnp if is_traced(row, run) else np
        leaves: list[Any] = list(self._places.leaves)
        for leaf, some in self.entries.items():
            base, values = leaves[leaf], row[self.columns[leaf]]
            if len(some) == base.size:
                leaves[leaf] = values.reshape(base.shape)
            elif xp is jnp:
                leaves[leaf] = jnp.asarray(base).ravel().at[some].set(values).reshape(base.shape)
            else:
                flat = base.ravel().copy()
                flat[some] = values
                leaves[leaf] = flat.reshape(base.shape)
        if run is not None:
            for leaf in self._places.runs:
                leaves[leaf] = xp.asarray(run)
        return jax.tree.unflatten(self._places.structure, leaves)

    @property
    def has_run_numbers(self) -> bool:
        """Whether a part of the experiment, such as a sensor with noise, depends on the number of the run."""
        return bool(self._places.runs)

    def __fingerprint__(self) -> tuple[Any, ...]:
        """Key by which compiled code is found: all that is constant over the runs, without values of varied entries."""
        leaves: list[Any] = list(self._places.leaves)
        for leaf, some in self.entries.items():
            flat = leaves[leaf].ravel().copy()
            flat[some] = np.nan
            leaves[leaf] = flat.reshape(leaves[leaf].shape)
        return jax.tree.unflatten(self._places.structure, leaves), self.entries, self._places.runs


def _change(array: np.ndarray, places: list[int], value: np.ndarray, how: str) -> None:
    if how == "set":
        array[:, places] = value
    elif how == "add":
        array[:, places] += value
    else:
        array[:, places] *= value


def _turn(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Quaternions (runs, 4) or rotation matrices (runs, 9), turned about their own axes by rotation vectors [rad]."""
    from scipy.spatial.transform import Rotation

    by = Rotation.from_rotvec(vectors)
    if values.shape[1] == 4:
        return (Rotation.from_quat(values, scalar_first=True) * by).as_quat(scalar_first=True)
    return (values.reshape(-1, 3, 3) @ by.as_matrix()).reshape(-1, 9)
