"""Entries of the event log: what happened to each connection, brake and contact at one instant."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp

from freefloat.dynamics.impact import Impact
from freefloat.dynamics.momentum import momentum_about_origin
from freefloat.dynamics.relative_rows import Rows, row_jacobian
from freefloat.model import State, World
from freefloat.sim.system import event_log
from freefloat.sim.system.event_log import LogEntry
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector


@record
class EventFlags:
    """Flags of the events at an instant, by number of the connection, brake and contact."""

    latch: Numeric
    release: Numeric
    refuse: Numeric
    brake: Numeric
    free: Numeric
    slip: Numeric
    stick: Numeric
    hit: Numeric
    lift: Numeric


def log_events(
    world: World,
    states: tuple[State, ...],
    log: event_log.EventLog,
    what: EventFlags,
    rests: Numeric,
    impact: Impact,
    every: tuple[Rows, ...],
    times: tuple[Scalar, Vector],
) -> event_log.EventLog:
    """The log with an entry for every event that happened.

    `every`: the rows of the impact; `times`: now, and how long the bounces of each contact that rests would have taken.
    """
    (t, left), n, b = times, len(world.connections), len(world.brakes)
    J = row_jacobian(world.crafts, states, every)
    momenta = [momentum_about_origin(craft, state) for craft, state in zip(world.crafts, states, strict=True)]
    kinds = [*_kinds_of_connections(what, n), *_kinds_of_brakes(what, b), *_kinds_of_contacts(what, rests)]
    first = 0
    for i, (rows, (kind, happened)) in enumerate(zip(every, kinds, strict=True)):
        at, first = slice(first, first + rows.count), first + rows.count
        impulse, mean = impact.impulse[at], 0.5 * (impact.before[at] + impact.after[at])
        a, c = _sides(world, i)
        wrench = jnp.zeros(6)
        if n <= i < n + b:
            wrench = wrench.at[0].set(impulse[0])
        elif a != c:  # within one spacecraft nothing is handed over
            wrench = states[c].X_NB.wrench_to_A((J[c][at].T @ impulse)[:6])
        later = jnp.where(rests[i - n - b], left[i - n - b], 0.0) if i >= n + b else 0.0
        momentum_a, momentum_c = (jnp.zeros(6) if side < 0 else momenta[side] for side in (a, c))
        log = log.add(LogEntry(t + later, i, kind, -(impulse @ mean), wrench, momentum_a, momentum_c), happened)
    return log


def _kinds_of_connections(what: EventFlags, count: int) -> Iterator[tuple[Numeric, Flag]]:
    """Kind of event of each connection, and whether there is one."""
    for i in range(count):
        kind = jnp.where(what.latch[i], event_log.LATCHED, event_log.RELEASED)
        yield jnp.where(what.refuse[i], event_log.REFUSED, kind), what.latch[i] | what.release[i] | what.refuse[i]


def _kinds_of_brakes(what: EventFlags, count: int) -> Iterator[tuple[Numeric, Flag]]:
    for i in range(count):
        kind = jnp.where(what.brake[i], event_log.BRAKED, event_log.FREED)
        kind = jnp.where(what.slip[i], event_log.SLIPS, jnp.where(what.stick[i], event_log.STICKS, kind))
        yield kind, what.brake[i] | what.free[i] | what.slip[i] | what.stick[i]


def _kinds_of_contacts(what: EventFlags, rests: Numeric) -> Iterator[tuple[Numeric, Flag]]:
    for i in range(rests.shape[0]):
        kind = jnp.where(what.hit[i], event_log.BOUNCED, event_log.LIFTED)
        yield jnp.where(rests[i], event_log.RESTS, kind), what.hit[i] | what.lift[i]


def _sides(world: World, i: int) -> tuple[int, int]:
    """Numbers of the spacecraft of both frames of connection, brake or contact number i; -1 for a frame fixed in N."""
    n, b = len(world.connections), len(world.brakes)
    if n <= i < n + b:
        c = world.names.index(world.brakes[i - n].craft)
        return c, c
    pair = world.connections[i] if i < n else world.contacts[i - n - b]
    first, second = (pair.a, pair.b) if i < n else (pair.b, pair.a)
    a, c = (world.names.index(place.craft) if place.craft else -1 for place in (first, second))
    return a, c
