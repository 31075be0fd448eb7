"""Many runs of one system side by side in compiled code, a part at a time, so that somebody can watch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from freefloat.engine import Compiled
    from freefloat.model import State
    from freefloat.sim.simulate import Progress
    from freefloat.sim.system import SystemState

_PART = 64  # runs between two reports of progress; results do not depend on it


def stack(entries: Iterable[Any]) -> Any:
    """Records of one kind as one, with a leading axis."""
    import jax

    return jax.tree.map(lambda *leaves: np.stack([np.asarray(x) for x in leaves]), *entries)


def with_states(loop: SystemState, *states: State) -> SystemState:
    """The loop with its spacecraft in other states."""
    plants = tuple(dataclasses.replace(p, state=state) for p, state in zip(loop.plants, states, strict=True))
    return dataclasses.replace(loop, plants=plants)


def recorded(
    advance: Compiled,
    loops: Any,
    *held: np.ndarray,
    steps: int,
    record_every: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """The recorded loops of all runs; every array has the runs along its first axis and time along its second."""
    import jax

    total, parts = len(jax.tree.leaves(loops)[0]), []
    for first in range(0, total, _PART):
        some = jax.tree.map(lambda leaf, first=first: leaf[first : first + _PART], (loops, *held))
        parts.append(advance.rollout_batch(*some, steps=steps, record_every=record_every, threads=threads).record)
        if progress is not None:
            progress(min(first + _PART, total), total)
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
