"""When a clearance closes or opens: found inside the step, by partial steps, without touching the motion."""

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
from freefloat.sim.system.system import System, SystemState
from freefloat.sim.system.tick import Tick
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.errors import ModelError
from freefloat.values.tracing import cond

_UNSEEN = 1e-3  # [m]: more than this may not pass unseen between two looks
_NARROW = 1e-13  # of the step: an instant is found
_ROUNDS = 60  # of halving for each pair, at most

Advance = Callable[[Any], SystemState]  # the state after a part of the step [s]


@record
class ClearanceState:
    """Of all pairs that have a limit, one clearance after the other."""

    closed: Numeric  # int32: 1 while a pair is closer than its limit
    closed_at: Vector  # when it last closed [s]
    opened_at: Vector  # when it last opened [s]
    changes: Numeric  # int32: how often it did either
    stopped: Numeric  # int32: steps in which one closed that ends the run
    margins: Vector  # of all pairs of shapes: distance less the limit, or less than that where they are far [m]
    speeds: Vector  # of all pairs: no distance changes faster than this [m/s]
    unseen: Vector  # of all pairs: how much closer than was seen they may have come between two looks [m]

    @property
    def changed_at(self) -> Numeric:
        """When each pair last closed or opened [s]."""
        return jnp.maximum(self.closed_at, self.opened_at)


def begin_clearances(system: System, start: tuple[State, ...] | None) -> ClearanceState | tuple[()]:
    """At the start; nothing where no clearance has a limit. A run that would end at once is refused.

    Where the start is not known (it is traced), everything is taken as open.
    """
    if not _limited(system):
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


def watch_clearances(system: System, loop: SystemState, advance: Advance, tick: Tick, h: Scalar) -> SystemState:
    """The state after a step, with what closed or opened in it."""
    after, before = advance(h), loop.clearances
    world, pairs, limits, was = system.world, _pairs(system), _limits(system), before.closed > 0

    def margins_after(s: Scalar) -> Vector:
        return shape_margins(world, pairs, limits, advance(s).states)[0]

    margins, owners = shape_margins(world, pairs, limits, after.states)
    speeds = pair_motion(world, pairs, after.states).speed
    # After the first step margins are known; at the start a batch may have moved its bodies since `begin`.
    first = cond(loop.tick == 0, lambda: shape_margins(world, pairs, limits, loop.states)[0], lambda: before.margins)
    step = Step(first, margins, jnp.maximum(before.speeds, speeds)[owners], h)
    now = smallest_of_pairs(margins, owners) <= 0.0
    dipped, inside, unseen = cond(
        jnp.any(step.may_dip),
        lambda: _dips(margins_after, step, owners, was | now, _rate_fall(system, loop, after, h)),
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


def _rate_fall(system: System, loop: SystemState, after: SystemState, h: Scalar) -> Vector:
    first, last = (pair_motion(system.world, _pairs(system), x.states) for x in (loop, after))
    return first.rate_fall(last, h)


def _dips(
    margins_after: Callable[[Scalar], Vector], step: Step, owners: np.ndarray, seen: Numeric, rate_fall: Vector
) -> tuple[Numeric, Vector, Vector]:
    """Flags of pairs that close and open within a step, an instant at which each is closed [s], and what is unseen.

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
    """When each of the pairs that change does so within the step [s]: halving, the widest interval first.

    Of those that close and open again both instants: before and after one at which they are closed, `inside`.
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
    """Number of the record at which a run ends by a clearance, and why; None where it goes on."""
    if not isinstance(block.clearances, ClearanceState):
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
    """Pairs that turn so fast within a step that they may have come closer than was seen, with a step that would do."""
    if not isinstance(records.clearances, ClearanceState):
        return ()
    unseen = np.asarray(records.clearances.unseen)[-1]
    return tuple(
        f"Clearance of {title}: the bodies turn so fast that between two looks they may have come up to "
        f"{1e3 * most:.3g} mm closer than the limit, unseen. dt = {system.dt * np.sqrt(_UNSEEN / most):.2g} s would do."
        for title, most in zip(_titles(system), unseen, strict=True)
        if most > _UNSEEN
    )


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
