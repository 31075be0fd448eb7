"""Wheels that become full within a step: the instant is located, and from there on no torque drives them further.

Which wheels are full is held over a segment of a step, so that no torque jumps inside one. A segment ends where a
wheel reaches its largest momentum (regula falsi, Illinois). A system without wheels that have a finite `max_momentum`
and a driver has no loop here at all. Its torque is limited in `actuators.wheel_motors`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.actuators.wheel_motors import full_wheels, momentum_capacity, spin_momentum
from freefloat.model import World
from freefloat.sim.motion.cut_steps import Advance, RateOf
from freefloat.sim.system.system import System, SystemState
from freefloat.sim.system.world_state import WheelLog, WorldState
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector, is_traced

# Torques that all software asks of the limited wheels, at a time.
CommandedTorques = Callable[[WorldState, Scalar], Vector]
OVER = 1e-12  # relative: a wheel has more than it can have
TOGETHER = 1e-11  # relative: it has become full with the one that was located
_NARROW = 1e-15  # of the step, and of the time
_BISECT = 4  # rounds after which a search that has not ended halves its interval
_ROUNDS = 100  # for each wheel, at most
_NEVER = -1e30  # [s]
_AGAIN = 0.99  # of its capacity: a wheel that had less becomes full anew


def limited_wheels(world: World, driven: tuple[tuple[int, str], ...]) -> tuple[tuple[int, str], ...]:
    """The driven wheels (number of the spacecraft, name) that may become full."""
    capacities = [world.crafts[c].wheels[world.crafts[c].wheel_names.index(name)].max_momentum for c, name in driven]
    return tuple(
        wheel for wheel, most in zip(driven, capacities, strict=True) if is_traced(most) or np.isfinite(most).all()
    )


def wheel_momenta(system: System, plants: WorldState) -> Vector:
    """Spin momentum of every limited wheel [N m s]."""
    crafts = system.world.crafts
    return jnp.concatenate([spin_momentum(crafts[c], plants[c].state, (w,)) for c, w in system.wiring.limited_wheels])


def held_full(system: System, plants: WorldState, asked: Vector) -> Vector:
    """Sign of each limited wheel that is full and driven outward at the beginning of a segment, +1 or -1, else 0."""
    crafts = system.world.crafts
    full = [full_wheels(crafts[c], plants[c].state, (w,)) for c, w in system.wiring.limited_wheels]
    full = jnp.concatenate(full)
    return jnp.where(full * asked > 0.0, full, 0.0)


def most_momenta(system: System, momenta: Vector) -> Vector:
    """Largest momentum of each limited wheel in a segment [N m s]: its capacity, or its present momentum if larger."""
    crafts = system.world.crafts
    capacity = [momentum_capacity(crafts[c], (w,)) for c, w in system.wiring.limited_wheels]
    return jnp.maximum(jnp.maximum(jnp.concatenate(capacity), jnp.abs(momenta)), 1e-12)


@record
class _Filling:
    """Loop state: `plants` after the time `done` of the segment; an attempt of the length `trial` comes next."""

    plants: WorldState
    full: Vector  # +1, -1 or 0, held
    settled: Numeric  # wheels that are not looked at any more in this segment
    done: Scalar  # [s]
    trial: Scalar  # [s]
    searching: Flag  # for the instant at which a wheel becomes full, between low and high after `done`
    low: Scalar
    high: Scalar
    at_low: Scalar
    at_high: Scalar
    side: Numeric  # int32: which end moved last
    rounds: Numeric  # int32


def advance_with_wheels(
    system: System, advance: Advance, plants: WorldState, rate_of: RateOf, asked: CommandedTorques, t: Scalar, h: Scalar
) -> WorldState:
    """Integrate from t over h; wheels that become full on the way get no more torque outward."""
    momenta = wheel_momenta(system, plants)
    most = most_momenta(system, momenta)
    full = held_full(system, plants, asked(plants, t + _NARROW * h))
    # Zeros that the engine does not know to be zeros: it would trace the loop anew for each that it finds changing.
    nothing = jnp.minimum(jnp.abs(t), 0.0)
    count = nothing.astype(jnp.int32)
    first = _Filling(
        plants=logged_wheels(system, plants, momenta, full, t),
        full=full,
        settled=full != 0.0,
        done=nothing,
        trial=h + nothing,
        searching=count > 0,
        low=nothing,
        high=nothing,
        at_low=nothing,
        at_high=nothing,
        side=count,
        rounds=count,
    )

    def attempt(p: _Filling) -> _Filling:
        reached = advance(p.plants, lambda on: rate_of(on, p.full), t + p.done, p.trial)
        return _decide(system, p, reached, asked, most, t, h)

    limit = _ROUNDS * (len(system.wiring.limited_wheels) + 1)
    return jax.lax.while_loop(lambda p: (p.done < h) & (p.rounds < limit), attempt, first).plants


def _decide(
    system: System, p: _Filling, reached: WorldState, asked: CommandedTorques, most: Vector, t: Scalar, h: Scalar
) -> _Filling:
    """The next loop state: the attempt is accepted, or the instant at which a wheel became full is searched."""
    momenta = wheel_momenta(system, reached)
    room = jnp.where(p.settled, 1.0, 1.0 - jnp.abs(momenta) / most)
    value = jnp.min(room)  # negative once a wheel has too much
    over = value < -OVER
    begins = ~p.searching & over
    low = jnp.where(p.searching & ~over, p.trial, jnp.where(begins, 0.0, p.low))
    high = jnp.where(over, p.trial, p.high)
    side = jnp.where(over, 1, -1).astype(jnp.int32)
    half = jnp.where(p.searching & (side == p.side), 0.5, 1.0)  # Illinois: the end that stays counts half
    before = jnp.min(jnp.where(p.settled, 1.0, 1.0 - jnp.abs(wheel_momenta(system, p.plants)) / most))
    at_low = jnp.where(begins, jnp.maximum(before, 0.0), jnp.where(over, half * p.at_low, value))
    at_high = jnp.where(over, value, half * p.at_high)
    found = p.searching & ((jnp.abs(value) <= OVER) | (high - low <= _NARROW * (h + jnp.abs(t))))
    accepted = found | (~p.searching & ~over)
    searching = ~accepted
    halve = (p.rounds % _BISECT == _BISECT - 1) | ~(at_low > 0.0)
    straight = low + (high - low) * at_low / jnp.where(at_low - at_high > 0.0, at_low - at_high, 1.0)
    done = jnp.where(accepted, jnp.where(found, p.done + p.trial, h), p.done)
    fired = found & ~p.settled & (room <= TOGETHER)
    full = jnp.where(fired, held_full(system, reached, asked(reached, t + done)), p.full)
    logged = logged_wheels(system, reached, momenta, jnp.where(fired, full, 0.0), t + done)
    return _Filling(
        plants=jax.tree.map(lambda new, old: jnp.where(accepted, new, old), logged, p.plants),
        full=full,
        settled=p.settled | fired,
        done=done,
        trial=jnp.where(searching, jnp.where(halve, 0.5 * (low + high), straight), h - done),
        searching=searching,
        low=low,
        high=high,
        at_low=at_low,
        at_high=at_high,
        side=jnp.where(p.searching, side, 0).astype(jnp.int32),
        rounds=p.rounds + 1,
    )


# ---- what is reported


def begin_wheel_log(system: System) -> WheelLog | None:
    """Log of a system at its start, when no wheel has become full yet; None if none can."""
    count = len(system.wiring.limited_wheels)
    return WheelLog(np.zeros(count), np.zeros(count), np.ones(count), np.full(count, _NEVER)) if count else None


def logged_wheels(system: System, plants: WorldState, momenta: Vector, full: Vector, t: Scalar) -> WorldState:
    """The plants with newly full wheels and their time in the log."""
    log = plants.wheels
    assert log is not None
    ready = jnp.where(jnp.abs(momenta) < _AGAIN * most_momenta(system, 0.0 * momenta), 1.0, log.ready)
    new = (ready > 0.0) & (full != 0.0)
    last = jnp.where(full != 0.0, t, log.last)
    noted = WheelLog(log.count + new, jnp.where(new, t, log.at), jnp.where(new, 0.0, ready), last)
    return dataclasses.replace(plants, wheels=noted)


def wheel_events(system: System, records: SystemState) -> Iterator[dict[str, Any]]:
    """Events of wheels that became full, the last one between two records."""
    log = records.plants.wheels
    if log is None:
        return
    world = system.world
    for k, (c, wheel) in enumerate(system.wiring.limited_wheels):
        name = world.prefix(c) + wheel
        most = float(np.asarray(momentum_capacity(world.crafts[c], (wheel,)))[0])
        counts = np.asarray(log.count)[:, k]
        for i in np.flatnonzero(np.diff(counts)) + 1:
            time = float(np.asarray(log.at)[i, k])
            words = f"{name}: full, {most:g} N m s; it gets no torque outward"
            yield {"time": time, "name": name, "kind": "wheel full", "label": words, "limit": most}
