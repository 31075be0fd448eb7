"""The end of a run as plain arrays, from which another run goes on with the same bits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from freefloat.model import State
from freefloat.sim.system.system import SystemState


@dataclass(frozen=True)
class SavedState:
    """Every number that changes while a system runs, by its path in the state; and the start of the run."""

    leaves: Mapping[str, np.ndarray]
    start: Mapping[str, np.ndarray]  # states at the very start, against which attitude is reported
    adaptive_step: float = 0.0  # that would be tried next [s]

    @staticmethod
    def of(state: SystemState, start: tuple[State, ...], adaptive_step: float) -> SavedState:
        """The saved state of a system's state; `start`: states at the start of the run."""
        return SavedState(_flat(state), _flat(start), adaptive_step)

    def restore(self, like: SystemState, start: tuple[State, ...]) -> tuple[SystemState, tuple[State, ...]]:
        """The state and the start, as records with the structure of an experiment's own."""
        return _unflat(self.leaves, like), _unflat(self.start, start)

    def as_arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, to write into a file."""
        named = {f"saved.end{path}": value for path, value in self.leaves.items()}
        named |= {f"saved.start{path}": value for path, value in self.start.items()}
        return named | {"saved.adaptive_step": np.asarray(self.adaptive_step)}

    @staticmethod
    def from_arrays(named: Mapping[str, np.ndarray]) -> SavedState | None:
        """The saved state from the arrays of a file; None if it has none."""
        if "saved.adaptive_step" not in named:
            return None
        parts = {
            kind: {
                _path_of_today(name.removeprefix(f"saved.{kind}")): values
                for name, values in named.items()
                if name.startswith(f"saved.{kind}")
            }
            for kind in ("end", "start")
        }
        return SavedState(parts["end"], parts["start"], float(named["saved.adaptive_step"]))


def _path_of_today(path: str) -> str:
    """A path in the state, from a file in which it may have an older name."""
    path = path.replace(".ledger.turning", ".ledger.angular_impulse_com")
    path = re.sub(r"^\.valves\b", ".actuators", path)
    path = re.sub(r"^\.plants\[0\]\.inner\b", ".plants.interactions", path)
    path = re.sub(r"^\.plants\[0\]\.wheels\b", ".plants.wheels", path)
    return re.sub(r"^\.plants\[(\d+)\]", r".plants.crafts[\1]", path)


def _flat(tree: Any) -> dict[str, np.ndarray]:
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def _unflat(saved: Mapping[str, np.ndarray], like: Any) -> Any:
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    wanted = {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}
    if missing := [path for path in wanted if path not in saved] + [path for path in saved if path not in wanted]:
        raise ValueError(
            f"The run was made by another experiment: its state differs at '{missing[0]}'. Continue it with the "
            "experiment that made it: the same spacecraft, sensors and software, in the same order."
        )
    for path, leaf in wanted.items():
        if (saved[path].shape, saved[path].dtype) != (leaf.shape, leaf.dtype):
            raise ValueError(
                f"The run was made by another experiment: '{path}' is {saved[path].dtype}{list(saved[path].shape)} in "
                f"the run and {leaf.dtype}{list(leaf.shape)} here. Continue it with the experiment that made it."
            )
    return jax.tree_util.tree_unflatten(structure, [saved[path] for path in wanted])
