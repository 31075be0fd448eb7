"""Which runs could not exist: bodies with an impossible inertia, and numbers that a part refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from freefloat.campaign.numbers import Numbers
from freefloat.sim import Experiment
from freefloat.sim.system.varied_numbers import number_names

_ROUNDING = 1e-9  # as in the inertia lint: what printed tables round
_HALVINGS = 60


class PhysicalDraws:
    """Judges rows of numbers. Bodies are judged as they are; what else a part refuses is taken to be beyond a bound.

    Bounds are looked for once, number by number with the others as they are in the experiment, where a draw lies
    outside all that was found possible before.
    """

    def __init__(self, experiment: Experiment, numbers: Numbers) -> None:
        self._numbers = numbers
        names = list(number_names(experiment.system).values())
        self._bodies = _dispersed_bodies(names, numbers)
        of_bodies = [numbers.columns[leaf] for pair in self._bodies for leaf in pair if leaf in numbers.columns]
        self._alone = np.ones(numbers.size, bool)  # numbers that are judged by a bound of their own
        of_start = [columns for leaf, columns in numbers.columns.items() if leaf >= len(names)]
        for columns in (*of_bodies, *of_start):
            self._alone[columns] = False
        self._check(numbers.nominal)
        self._good = np.stack([numbers.nominal, numbers.nominal])  # [least, most] that are known to be possible
        self._first_bad = np.array([np.full(numbers.size, -np.inf), np.full(numbers.size, np.inf)])

    def impossible(self, rows: np.ndarray) -> np.ndarray:
        """(runs,) bool."""
        bad = ~np.all(np.isfinite(rows), axis=1)
        for mass, inertia in self._bodies:
            bad |= impossible_bodies(self._numbers.leaf_values(mass, rows), self._numbers.leaf_values(inertia, rows))
        for side, worst in ((0, np.fmin.reduce(rows, 0)), (1, np.fmax.reduce(rows, 0))):
            for k in np.flatnonzero(self._alone):
                self._look(int(k), side, float(worst[k]))
        return (
            bad
            | np.any(rows < self._good[0], axis=1, where=self._alone)
            | np.any(rows > self._good[1], axis=1, where=self._alone)
        )

    def _look(self, k: int, side: int, worst: float) -> None:
        """Move the bound of number k to a draw beyond it, or as far towards it as is possible."""
        sign = (-1.0, 1.0)[side]
        if sign * (worst - self._good[side, k]) <= 0.0 or sign * (worst - self._first_bad[side, k]) >= 0.0:
            return
        if self._holds(k, worst):
            self._good[side, k] = worst
            return
        low, high = self._good[side, k], worst
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._holds(k, middle) else (low, middle)
        self._good[side, k], self._first_bad[side, k] = low, high

    def _holds(self, k: int, value: float) -> bool:
        row = self._numbers.nominal.copy()
        row[k] = value
        try:
            self._check(row)
        except ValueError:
            return False
        return True

    def _check(self, row: np.ndarray) -> None:
        """Let every spacecraft and part look at its numbers."""
        system, _ = self._numbers.fill(row, 0)
        for craft in system.world.crafts:
            _built_again(craft).check()
        for part in system.parts:
            _built_again(part).check(system.spacecraft_of(part))


def _dispersed_bodies(names: list[str], numbers: Numbers) -> list[tuple[int, int]]:
    """Leaves of mass and inertia of every rigid body that has a dispersed number."""
    found = []
    for mass, name in enumerate(names):
        owner, _, field = name.rpartition(".")
        if field != "mass" or mass + 2 >= len(names) or names[mass + 2] != f"{owner}.inertia":
            continue
        if mass in numbers.entries or mass + 2 in numbers.entries:
            found.append((mass, mass + 2))
    return found


def impossible_bodies(mass: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Whether each pair of mass (runs,) and inertia (runs, 3, 3) can belong to no rigid body."""
    sound = np.isfinite(mass) & np.all(np.isfinite(inertia), axis=(1, 2))
    safe = np.where(sound[:, None, None], inertia, np.eye(3))
    size = np.maximum(np.max(np.abs(safe), axis=(1, 2)), 1e-300)
    crooked = np.max(np.abs(safe - np.swapaxes(safe, 1, 2)), axis=(1, 2)) > _ROUNDING * size
    moments = np.linalg.eigvalsh(0.5 * (safe + np.swapaxes(safe, 1, 2)))
    least, middle, most = moments.T
    return ~sound | (mass <= 0.0) | crooked | (least <= 0.0) | (least + middle < most - _ROUNDING * size)


def _built_again(value: Any) -> Any:
    """A record made anew from its fields, so that everything in it checks its numbers."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(_built_again, value))
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value.item() if isinstance(value, np.ndarray) and value.shape == () else value
    given = {f.name: _built_again(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
    return type(value)(**given)
