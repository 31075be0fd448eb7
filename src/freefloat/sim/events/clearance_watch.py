"""Instants at which a clearance closes or opens: found inside a step by partial steps, without changing the motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Clearance, State
from freefloat.sim.events.clearance_dips import Step, lowest_margins
from freefloat.sim.events.clearance_motion import pair_motion
from freefloat.sim.events.clearance_pairs import (
    Pair,
    compiled_distances,
    pair_titles,
    placed_shapes,
    shape_margins,
    smallest_of_pairs,
    watched_pairs,
)
from freefloat.sim.system.clearance_state import ClearanceState
from freefloat.sim.system.system import System, SystemState, Tick
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.errors import ModelError
from freefloat.values.tracing import cond

_UNSEEN = 1e-3  # [m]: more than this may not pass unseen between two looks
_NARROW = 1e-13  # of the step: an instant is found
_ROUNDS = 60  # of halving for each pair, at most

Advance = Callable[[Any], SystemState]  # the state after a part of the step [s]


def begin_clearances(system: System, start: tuple[State, ...] | None) -> ClearanceState | tuple[()]:
    """The state of clearances at the start, () if none has a limit; a run that would end at once raises an error.

    Where the start is not known (it is traced), everything is taken as open.
    """
    if not _limited_clearances(system):
        return ()
    pairs, stops = _pairs(system), _stops(system)
    count = len(pairs)
    shapes = sum(len(placed_shapes(system.world, a)) * len(placed_shapes(system.world, b)) for a, b in pairs)
    closed = np.zeros(count, np.int32)
    if start is not None:
        limits = np.asarray(_limits(system))
        away = compiled_distances(system.world, pairs, start)
        closed = (away <= limits).astype(np.int32)
        for k in np.flatnonzero(closed * stops):
            raise ModelError(
                f"{_titles(system)[k]} are {away[k]:.4g} m apart at the start, within the limit of {limits[k]:g} m at "
                "which the run would end. Start farther apart, lower the limit, or ignore the pair."
            )
    none, whole = np.zeros(count), np.zeros(count, np.int32)
    return ClearanceState(closed, none, none, whole, np.zeros((), np.int32), np.zeros(shapes), none, none)


def watch_clearances(system: System, state: SystemState, advance: Advance, tick: Tick, h: Scalar) -> SystemState:
    """The state after a step, with the pairs that closed or opened in it."""
    after, before = advance(h), state.clearances
    assert isinstance(before, ClearanceState)
    world, pairs, limits, was = system.world, _pairs(system), _limits(system), before.closed > 0

    def margins_after(s: Scalar) -> Vector:
        return shape_margins(world, pairs, limits, advance(s).states)[0]

    margins, owners = shape_margins(world, pairs, limits, after.states)
    speeds = pair_motion(world, pairs, after.states).speed
    # After the first step margins are known; at the start a batch may have moved its bodies since `begin`.
    first = cond(state.tick == 0, lambda: shape_margins(world, pairs, limits, state.states)[0], lambda: before.margins)
    step = Step(first, margins, jnp.maximum(before.speeds, speeds)[owners], h)
    now = smallest_of_pairs(margins, owners) <= 0.0
    dipped, inside, unseen = cond(
        jnp.any(step.may_dip),
        lambda: _dips(margins_after, step, owners, was | now, _rate_fall(system, state, after, h)),
        lambda: (jnp.zeros(len(pairs), bool), jnp.zeros(len(pairs)), jnp.zeros(len(pairs))),
    )
    changed = now != was
    once, again = cond(
        jnp.any(changed | dipped),
        lambda: _instants(
            lambda s: smallest_of_pairs(margins_after(s), owners) <= 0.0, was, changed, dipped, inside, h
        ),
        lambda: (jnp.zeros(len(pairs)), jnp.zeros(len(pairs))),
    )
    closes, opens = (changed & now) | dipped, (changed & was) | dipped
    ends = jnp.any(closes & (_stops(system) > 0))
    return dataclasses.replace(
        after,
        clearances=ClearanceState(
            closed=now.astype(jnp.int32),
            closed_at=jnp.where(closes, tick.t + once, before.closed_at),
            opened_at=jnp.where(opens, tick.t + jnp.where(dipped, again, once), before.opened_at),
            changes=(before.changes + changed + 2 * dipped).astype(jnp.int32),
            stopped=(before.stopped + ends).astype(jnp.int32),
            margins=margins,
            speeds=speeds,
            unseen=jnp.maximum(before.unseen, unseen),
        ),
    )


def _rate_fall(system: System, state: SystemState, after: SystemState, h: Scalar) -> Vector:
    first, last = (pair_motion(system.world, _pairs(system), x.states) for x in (state, after))
    return first.rate_fall(last, h)


def _dips(
    margins_after: Callable[[Scalar], Vector], step: Step, owners: np.ndarray, seen: Numeric, rate_fall: Vector
) -> tuple[Numeric, Vector, Vector]:
    """Flags of pairs that close and open in a step, an instant at which each is closed [s], and what may be unseen [m].

    A pair that turns may come closer twice: between two looks by a step of K h^2 / 8 (see `gap_dips`).
    """
    lowest, at = lowest_margins(margins_after, step)
    each = smallest_of_pairs(lowest, owners)
    worst = jnp.stack([at[some][jnp.argmin(lowest[some])] for some in _shapes_of_pairs(owners)])
    near = smallest_of_pairs(jnp.where(step.may_dip, 0.0, 1.0), owners) < 0.5
    hidden = 0.125 * rate_fall * step.h**2
    uncertain = near & ~seen & (each > 0.0) & (each < hidden)
    return (each <= 0.0) & ~seen, worst, jnp.where(uncertain, hidden - each, 0.0)


def _shapes_of_pairs(owners: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(owners == k) for k in range(int(np.max(owners)) + 1)]


def _instants(
    closed_after: Callable[[Scalar], Numeric],
    was: Numeric,
    changed: Numeric,
    dipped: Numeric,
    inside: Vector,
    h: Scalar,
) -> tuple[Vector, Vector]:
    """Time at which each changing pair closes or opens within the step [s]: bisection, the widest interval first.

    For pairs that close and open again both instants are found: before and after `inside`, when they are closed.
    """
    count = was.shape[0]
    low = jnp.concatenate([jnp.zeros(count), jnp.where(dipped, inside, h)])
    high = jnp.concatenate([jnp.where(changed, h, jnp.where(dipped, inside, 0.0)), jnp.full(count, 1.0) * h])
    was = jnp.concatenate([was, jnp.ones(count, bool)])

    def wide(ends: tuple[Vector, Vector, Numeric]) -> Numeric:
        low, high, rounds = ends
        return (jnp.max(high - low) > _NARROW * h) & (rounds < _ROUNDS * was.shape[0])

    def halve(ends: tuple[Vector, Vector, Numeric]) -> tuple[Vector, Vector, Numeric]:
        low, high, rounds = ends
        i = jnp.argmax(high - low)
        s = 0.5 * (low[i] + high[i])
        inside, later = (low < s) & (s < high), jnp.tile(closed_after(s), 2) == was
        return jnp.where(inside & later, s, low), jnp.where(inside & ~later, s, high), rounds + 1

    found = jax.lax.while_loop(wide, halve, (low, high, jnp.zeros((), jnp.int32)))[1]
    return found[:count], found[count:]


# ---- reports


def clearance_events(system: System, records: SystemState) -> Iterator[dict[str, Any]]:
    """Events of pairs that closed or opened between records, or were closed at the start."""
    if not isinstance(records.clearances, ClearanceState):
        return
    state = jax.tree.map(np.asarray, records.clearances)
    limits = np.asarray(_limits(system))
    for k, title in enumerate(_titles(system)):
        if state.closed[0, k] and not int(records.tick[0]):
            yield _event(0.0, title, "closed", limits[k], "from the start ")
        changes = np.diff(state.changes[:, k])
        for i in np.flatnonzero(changes) + 1:
            is_closed = bool(state.closed[i, k])
            if is_closed or changes[i - 1] > 1:
                yield _event(float(state.closed_at[i, k]), title, "closed", limits[k])
            if not is_closed or changes[i - 1] > 1:
                yield _event(float(state.opened_at[i, k]), title, "opened", limits[k])


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
    """Number of the record at which a clearance ends the run, and the status; None if the run goes on."""
    if not isinstance(block.clearances, ClearanceState) or not isinstance(before.clearances, ClearanceState):
        return None
    found = np.flatnonzero(np.asarray(block.clearances.stopped) > int(before.clearances.stopped))
    if not found.size:
        return None
    at, stops = int(found[0]), _stops(system) > 0
    state = jax.tree.map(lambda x: np.asarray(x)[at], block.clearances)
    changes = state.changes - np.asarray(before.clearances.changes)
    new = np.flatnonzero(stops & ((changes > 1) | ((state.closed > 0) & (changes > 0))))
    first = min(new, key=lambda k: state.closed_at[k])
    return at, f"stopped at {state.closed_at[first]:.9g} s: clearance of {_titles(system)[first]} closed"


def clearance_warnings(system: System, records: SystemState) -> tuple[str, ...]:
    """Warnings for pairs that turn fast and may have come closer than was seen, with a step [s] that would do."""
    if not isinstance(records.clearances, ClearanceState):
        return ()
    unseen = np.asarray(records.clearances.unseen)[-1]
    return tuple(
        f"Clearance of {title}: the bodies turn so fast that between two looks they may have come up to "
        f"{1e3 * most:.3g} mm closer than the limit, unseen. dt = {system.dt * np.sqrt(_UNSEEN / most):.2g} s would do."
        for title, most in zip(_titles(system), unseen, strict=True)
        if most > _UNSEEN
    )


def _limited_clearances(system: System) -> tuple[Clearance, ...]:
    return tuple(part for part in system.clearances if part.limit is not None)


def _pairs(system: System) -> tuple[Pair, ...]:
    return tuple(pair for part in _limited_clearances(system) for pair in watched_pairs(system, part))


def _titles(system: System) -> tuple[str, ...]:
    return tuple(title for part in _limited_clearances(system) for title in pair_titles(part))


def _stops(system: System) -> np.ndarray:
    return np.array([int(part.stop) for part in _limited_clearances(system) for _ in part.pairs], dtype=np.int32)


def _limits(system: System) -> Vector:
    """Limit of every pair [m]."""
    limits = [jnp.asarray(part.limit, float) for part in _limited_clearances(system) for _ in part.pairs]
    return jnp.stack(limits)
