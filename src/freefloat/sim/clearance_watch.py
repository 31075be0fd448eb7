"""When a clearance closes or opens: found inside the step, by partial steps, without touching the motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Clearance, State
from freefloat.sim.clearance_pairs import Pair, compiled_distances, margins, pair_titles, watched_pairs
from freefloat.sim.system import System, SystemState
from freefloat.sim.tick import Tick
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.errors import ModelError

_NARROW = 1e-13  # of the step: an instant is found
_ROUNDS = 60  # of halving for each pair, at most

Advance = Callable[[Any], SystemState]  # the state after a part of the step [s]


@record
class ClearanceState:
    """Of all pairs that have a limit, one clearance after the other."""

    closed: Numeric  # int32: 1 while a pair is closer than its limit
    changed_at: Vector  # when it last closed or opened [s]
    changes: Numeric  # int32: how often it did
    stopped: Numeric  # int32: steps in which one closed that ends the run


def begin_clearances(system: System, start: tuple[State, ...] | None) -> ClearanceState | tuple[()]:
    """At the start; nothing where no clearance has a limit. A run that would end at once is refused.

    Where the start is not known (it is traced), everything is taken as open.
    """
    if not _limited(system):
        return ()
    pairs, stops = _pairs(system), _stops(system)
    closed = np.zeros(len(pairs), np.int32)
    if start is not None:
        limits = np.asarray(_limits(system))
        away = compiled_distances(system.world, pairs, start)
        closed = (away <= limits).astype(np.int32)
        for k in np.flatnonzero(closed * stops):
            raise ModelError(
                f"{_titles(system)[k]} are {away[k]:.4g} m apart at the start, within the limit of {limits[k]:g} m at "
                "which the run would end. Start farther apart, lower the limit, or ignore the pair."
            )
    return ClearanceState(closed, np.zeros(len(pairs)), np.zeros(len(pairs), np.int32), np.zeros((), np.int32))


def watch_clearances(system: System, loop: SystemState, advance: Advance, tick: Tick, h: Scalar) -> SystemState:
    """The state after a step, with what closed or opened in it."""
    after, before = advance(h), loop.clearances
    limits = _limits(system)
    pairs, was = _pairs(system), before.closed > 0

    def closed_after(s: Scalar) -> Numeric:
        return margins(system.world, pairs, limits, advance(s).states) <= 0.0

    now = margins(system.world, pairs, limits, after.states) <= 0.0
    changed = now != was
    since = jax.lax.cond(
        jnp.any(changed), lambda: _instants(closed_after, was, changed, h), lambda: jnp.zeros(len(pairs))
    )
    ends = jnp.any(changed & now & (_stops(system) > 0))
    return dataclasses.replace(
        after,
        clearances=ClearanceState(
            closed=now.astype(jnp.int32),
            changed_at=jnp.where(changed, tick.t + since, before.changed_at),
            changes=(before.changes + changed).astype(jnp.int32),
            stopped=(before.stopped + ends).astype(jnp.int32),
        ),
    )


def _instants(closed_after: Callable[[Scalar], Numeric], was: Numeric, changed: Numeric, h: Scalar) -> Vector:
    """When each of the pairs that change does so within the step [s]: halving, the widest interval first."""
    high = jnp.where(changed, h, 0.0)

    def wide(ends: tuple[Vector, Vector, Numeric]) -> Numeric:
        low, high, rounds = ends
        return (jnp.max(high - low) > _NARROW * h) & (rounds < _ROUNDS * was.shape[0])

    def halve(ends: tuple[Vector, Vector, Numeric]) -> tuple[Vector, Vector, Numeric]:
        low, high, rounds = ends
        i = jnp.argmax(high - low)
        s = 0.5 * (low[i] + high[i])
        inside, later = (low < s) & (s < high), closed_after(s) == was
        return jnp.where(inside & later, s, low), jnp.where(inside & ~later, s, high), rounds + 1

    start = jnp.zeros_like(high), high, jnp.zeros((), jnp.int32)
    return jax.lax.while_loop(wide, halve, start)[1]


# ---- telling


def clearance_events(system: System, records: SystemState) -> Iterator[dict[str, Any]]:
    """What closed and opened between records, and what was closed at the start."""
    if not isinstance(records.clearances, ClearanceState):
        return
    state = jax.tree.map(np.asarray, records.clearances)
    limits = np.asarray(_limits(system))
    for k, title in enumerate(_titles(system)):
        if state.closed[0, k] and not int(records.tick[0]):
            yield _event(0.0, title, "closed", limits[k], "from the start ")
        for i in np.flatnonzero(np.diff(state.changes[:, k])) + 1:
            kind = "closed" if state.closed[i, k] else "opened"
            yield _event(float(state.changed_at[i, k]), title, kind, limits[k])


def _event(time: float, title: str, kind: str, limit: float, when: str = "") -> dict[str, Any]:
    words = f"closer than {limit:g} m" if kind == "closed" else f"farther than {limit:g} m again"
    return {
        "time": time,
        "name": title,
        "kind": f"clearance {kind}",
        "label": f"{title}: {when}{words}",
        "limit": limit,
    }


def stop_of(system: System, before: SystemState, block: SystemState) -> tuple[int, str] | None:
    """Number of the record at which a run ends by a clearance, and why; None where it goes on."""
    if not isinstance(block.clearances, ClearanceState):
        return None
    found = np.flatnonzero(np.asarray(block.clearances.stopped) > int(before.clearances.stopped))
    if not found.size:
        return None
    at, stops = int(found[0]), _stops(system) > 0
    state = jax.tree.map(lambda x: np.asarray(x)[at], block.clearances)
    new = np.flatnonzero(stops & (state.closed > 0) & (state.changes > before.clearances.changes))
    first = min(new, key=lambda k: state.changed_at[k])
    return at, f"stopped at {state.changed_at[first]:.9g} s: clearance of {_titles(system)[first]} closed"


def _limited(system: System) -> tuple[Clearance, ...]:
    return tuple(part for part in system.clearances if part.limit is not None)


def _pairs(system: System) -> tuple[Pair, ...]:
    return tuple(pair for part in _limited(system) for pair in watched_pairs(system, part))


def _titles(system: System) -> tuple[str, ...]:
    return tuple(title for part in _limited(system) for title in pair_titles(part))


def _stops(system: System) -> np.ndarray:
    return np.array([int(part.stop) for part in _limited(system) for _ in part.pairs], dtype=np.int32)


def _limits(system: System) -> Vector:
    """Of every pair [m]."""
    limits = [jnp.asarray(part.limit, float) for part in _limited(system) for _ in part.pairs]
    return jnp.stack(limits)
