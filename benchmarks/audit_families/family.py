"""A family of random runs: structures, each compiled once, and numbers drawn anew for every run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import freefloat as ff


@dataclass(frozen=True)
class Family:
    """How to draw a run: topology and parts follow from the number of the structure, all else from the generator."""

    title: str
    structures: int
    runs: int  # of a thousand
    draw: Callable[[int, np.random.Generator], ff.Experiment]

    def experiment(self, structure: int, seed: int) -> ff.Experiment:
        """The run with a seed; the same one every time."""
        return self.draw(structure, np.random.default_rng([structure, seed]))
