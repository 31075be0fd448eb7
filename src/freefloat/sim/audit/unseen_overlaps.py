"""Check after a run, from recorded states, whether bodies may have overlapped within a step without being noticed.

A gap that closes and opens within a step is found as long as no acceleration in it exceeds twice the mean (`gap_dips`).
Where the acceleration changes by j h within a step of length h, it may exceed that by j h less the mean, and a gap be
lower by an eighth of that times h^2. j is measured from the velocities at neighbouring records. Where something pushed
or was caught in between, the step was made of shorter ones that follow the error, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import jax
import numpy as np

from freefloat.model import Truth
from freefloat.model.part_kinds import Approach
from freefloat.sim.events.gap_dips import UNSEEN_JUMP
from freefloat.sim.motion.constraint_rows import contact_approach
from freefloat.sim.system.system import System, SystemState
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.spatial import angular, linear

_WIDE = 2.0  # so many times as far as anything comes between two records: far away


def overlap_warnings(system: System, records: SystemState) -> tuple[str, ...]:
    """Warnings for contacts that may have overlapped unseen by over 1 mm within a step, with a better step [s]."""
    titles = (*(part.title for part in system.interactions), *(f"Contact '{x.name}'" for x in system.world.contacts))
    ticks = np.asarray(records.tick)
    if not titles or len(ticks) < 4:
        return ()
    quiet = _quiet_intervals(system, records)
    worst = [
        float(np.max(_unseen_depths(history, ticks, system.dt) * quiet))
        for history in _contact_histories(system, records)
    ]
    return tuple(
        _sentence(title, most, system.dt) for title, most in zip(titles, worst, strict=True) if most > UNSEEN_JUMP
    )


def _sentence(title: str, most: float, dt: float) -> str:
    return (
        f"{title}: the acceleration changes so fast that bodies may have overlapped by up to {1e3 * most:.3g} mm "
        f"within a step, unseen. dt = {dt * np.cbrt(UNSEEN_JUMP / most):.2g} s would do."
    )


@dataclass(frozen=True)
class _ContactHistory:
    """Approach of one contact at all records (leading axis: record)."""

    gap: np.ndarray  # the smallest [m]
    velocity: np.ndarray  # (records, 6): see `Approach`
    lever: np.ndarray  # [m]


def _contact_histories(system: System, records: SystemState) -> Iterator[_ContactHistory]:
    """Approaches of every interaction, and of every contact without compliance."""

    def approaches_at(system: System, state: SystemState) -> tuple[list[Approach], Approach | None]:
        world = system.world
        between = [part.approach(Truth(world, state.states)) for part in system.interactions]
        return between, contact_approach(world, state.states, state.modes) if world.contacts else None

    first = jax.tree.map(lambda x: np.asarray(x)[0], records)
    between, rigid = compile_system(approaches_at, system, first).batch(records, in_axes=(0,))
    for approach in between:
        yield _ContactHistory(np.min(approach.gaps, axis=1), np.asarray(approach.velocity), np.asarray(approach.lever))
    for k in range(len(system.world.contacts)):
        yield _ContactHistory(rigid.gaps[:, k], rigid.velocity[:, :, k], rigid.lever[:, k])


def _quiet_intervals(system: System, records: SystemState) -> np.ndarray:
    """Flags of intervals between records in which no contact acted, nor in those beside them."""
    busy = np.zeros(len(records.tick) - 1, bool)
    for own in records.plants.interactions:
        busy |= np.diff(np.asarray(own.work)) != 0.0
    if system.world.has_events:
        busy |= np.diff(np.asarray(records.modes.log.count)) != 0
    return ~(busy[:-2] | busy[1:-1] | busy[2:])


def _unseen_depths(history: _ContactHistory, ticks: np.ndarray, dt: float) -> np.ndarray:
    """Depth of an overlap that may have passed in a step of each interval but the first and the last [m]."""
    gaps, velocity, lever = history.gap, history.velocity, history.lever
    span = dt * np.diff(ticks)
    change = np.diff(velocity, axis=0) / span[:, None]  # mean accelerations
    middle = 0.5 * (span[1:] + span[:-1])
    reach = np.maximum(lever[1:], lever[:-1])
    jerk = _size(np.diff(change, axis=0), reach[1:]) / middle
    more = np.maximum(jerk[1:], jerk[:-1]) * dt - _size(change, reach)[1:-1]
    speed = _size(velocity, lever)
    near = gaps[1:] + gaps[:-1] < _WIDE * np.maximum(speed[1:], speed[:-1]) * span
    apart = (gaps[1:] > 0.0) & (gaps[:-1] > 0.0)
    return np.where((near & apart)[1:-1], 0.125 * np.maximum(more, 0.0) * dt**2, 0.0)


def _size(twist: np.ndarray, lever: np.ndarray) -> np.ndarray:
    """Largest speed of a point on a lever with a twist."""
    return np.linalg.norm(linear(twist.T), axis=0) + lever * np.linalg.norm(angular(twist.T), axis=0)
