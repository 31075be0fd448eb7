"""Find physically impossible draws: bodies with an impossible inertia, and numbers that a part rejects."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from freefloat.campaign.numbers import Numbers
from freefloat.sim import Experiment
from freefloat.sim.system.varied_numbers import number_names

_ROUNDING = 1e-9  # as in the inertia lint: the rounding of printed tables
_HALVINGS = 60


class PhysicalDraws:
    """Finds rows of impossible numbers. Inertias are checked directly; every other number is assumed to have bounds.

    Bounds are searched number by number, with the others as in the experiment, when a draw lies outside the range that
    is known to be possible.
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
        """Whether the numbers of each run are impossible, bool (runs,)."""
        bad = ~np.all(np.isfinite(rows), axis=1)
        for mass, inertia in self._bodies:
            bad |= impossible_bodies(self._numbers.leaf_values(mass, rows), self._numbers.leaf_values(inertia, rows))
        for side, worst in ((0, np.fmin.reduce(rows, 0)), (1, np.fmax.reduce(rows, 0))):
            for k in np.flatnonzero(self._alone):
                self._widen_bound(int(k), side, float(worst[k]))
        beyond = (rows < self._good[0]) | (rows > self._good[1])
        return bad | np.any(beyond, axis=1, where=self._alone)

    def _widen_bound(self, k: int, side: int, worst: float) -> None:
        """Move the bound of number k to a draw beyond it, or as far towards it as the parts accept."""
        sign = (-1.0, 1.0)[side]
        if sign * (worst - self._good[side, k]) <= 0.0 or sign * (worst - self._first_bad[side, k]) >= 0.0:
            return
        if self._is_possible(k, worst):
            self._good[side, k] = worst
            return
        low, high = self._good[side, k], worst
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._is_possible(k, middle) else (low, middle)
        self._good[side, k], self._first_bad[side, k] = low, high

    def _is_possible(self, k: int, value: float) -> bool:
        row = self._numbers.nominal.copy()
        row[k] = value
        try:
            self._check(row)
        except ValueError:
            return False
        return True

    def _check(self, row: np.ndarray) -> None:
        """Let every spacecraft and part check its numbers; an impossible one raises an error."""
        system, _ = self._numbers.system_and_start(row, 0)
        for craft in system.world.crafts:
            _rebuild_record(craft).check()
        for part in system.parts:
            _rebuild_record(part).check(system.spacecraft_of(part))


def _dispersed_bodies(names: list[str], numbers: Numbers) -> list[tuple[int, int]]:
    """Leaves of mass and inertia of every rigid body that has a dispersed number."""
    bodies = []
    for mass, name in enumerate(names):
        owner, _, field = name.rpartition(".")
        if field != "mass" or mass + 2 >= len(names) or names[mass + 2] != f"{owner}.inertia":
            continue
        if mass in numbers.entries or mass + 2 in numbers.entries:
            bodies.append((mass, mass + 2))
    return bodies


def impossible_bodies(mass: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Whether mass (runs,) and inertia (runs, 3, 3) of each run are impossible for a rigid body."""
    sound = np.isfinite(mass) & np.all(np.isfinite(inertia), axis=(1, 2))
    safe = np.where(sound[:, None, None], inertia, np.eye(3))
    size = np.maximum(np.max(np.abs(safe), axis=(1, 2)), 1e-300)
    asymmetric = np.max(np.abs(safe - np.swapaxes(safe, 1, 2)), axis=(1, 2)) > _ROUNDING * size
    moments = np.linalg.eigvalsh(0.5 * (safe + np.swapaxes(safe, 1, 2)))
    least, middle, most = moments.T
    return ~sound | (mass <= 0.0) | asymmetric | (least <= 0.0) | (least + middle < most - _ROUNDING * size)


def _rebuild_record(value: Any) -> Any:
    """A record constructed again from its fields, so that everything in it checks its numbers."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(_rebuild_record, value))
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value.item() if isinstance(value, np.ndarray) and value.shape == () else value
    fields = {f.name: _rebuild_record(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
    return type(value)(**fields)
