"""Signals whose sign tells that something happens: gaps, reach, forces of contacts, torques of brakes.

Each becomes negative when its event comes. A contact that has just bounced begins with a gap of nothing, and a joint
whose brake gives way with no rate: then the signal is the mean rate of change since, which begins as its slope.
"""

from __future__ import annotations

from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import World
from freefloat.model.ports import Approach
from freefloat.sim.events.gap_dips import dip_between
from freefloat.sim.motion.accelerations import Balance, balances
from freefloat.sim.motion.constraint_rows import brake_dof, brake_rates, contact_approach, gaps, out_of_reach
from freefloat.sim.system.constraint_state import HOLDS, OFF, slip_signs
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.sim.system.tick import Tick
from freefloat.spatial import linear
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.tracing import cond

_DEAD = 1e-11  # [m/s], [rad/s2]: a contact that closes more slowly is left alone
_WIDE = 2.0  # so many times as far as anything comes in a step: far away
_NEVER = 1.0  # a signal of what cannot happen


@record
class Signals:
    """Of all connections, brakes and contacts."""

    value: Vector
    slope: Vector  # where a signal may begin at zero, the rate at which it does
    rises: Numeric  # flags: it may begin at zero, and counts from there
    at_once: Numeric  # flags: negative at the start, it fires at once
    armed: Numeric  # flags: it may fire at all

    @staticmethod
    def none(count: int) -> Signals:
        """Before anything has been looked at."""
        flags = jnp.zeros(count, bool)
        return Signals(jnp.ones(count), jnp.zeros(count), flags, flags, flags)

    @property
    def fresh(self) -> Numeric:
        """Flags: the segment begins where the signal is zero."""
        return self.rises & (self.value <= 0.0)

    @property
    def off(self) -> Numeric:
        """Flags: cannot fire in a segment that begins here."""
        return ~self.armed | (~self.rises & ~self.at_once & (self.value <= 0.0))

    def at_start(self) -> Vector:
        """Signals at the beginning of a segment."""
        return jnp.where(self.off, _NEVER, jnp.where(self.fresh, self.slope, self.value))

    def since(self, later: Signals, length: Scalar) -> Vector:
        """Signals at the end of a segment that began here."""
        mean = (later.value - self.value) / length
        return jnp.where(self.off, _NEVER, jnp.where(self.fresh, mean, later.value))

    def fires_at_once(self) -> Numeric:
        """Flags: at the beginning of a segment."""
        now = (self.at_once & (self.value < 0.0)) | (self.fresh & (self.slope < -_DEAD))
        return now & self.armed

    def crossed(self, signals: Vector) -> Flag:
        """Whether anything fires in a segment that began here and ended with these signals."""
        return jnp.any(signals < jnp.where(self.fresh, -_DEAD, 0.0))


def has_signals(world: World) -> bool:
    """Whether anything can happen between two ticks."""
    return bool(world.contacts) or any(x.automatic for x in world.connections) or any(x.slips for x in world.brakes)


def stays_quiet(world: World, loop: SystemState, later: SystemState, length: Scalar) -> Flag:
    """Whether certainly nothing happens between two states: nothing rests, brakes or crosses."""
    modes, brakes, flags = loop.constraints, len(world.brakes), []
    slips = np.array([one.slips for one in world.brakes], dtype=bool)
    flags.append(~jnp.any(slips & (modes.brakes != OFF)) & ~jnp.any(modes.touching == 1))
    first, last = (
        _join([_of_connections(world, x), Signals.none(brakes), *_of_contacts(world, x, None)]) for x in (loop, later)
    )
    flags += [~jnp.any(first.fires_at_once()), ~first.crossed(first.since(last, length))]
    if world.contacts:
        before, after = (contact_approach(world, x.states, modes) for x in (loop, later))
        flags.append(~_may_dip(before, after, length))
    return reduce(jnp.logical_and, flags)


def _may_dip(before: Approach, after: Approach, length: Scalar) -> Flag:
    """Whether a contact may close and open between two instants; only what is not far away is looked at closely."""
    speed = jnp.maximum(*(jnp.sum(jnp.abs(linear(x.velocity)), axis=0) for x in (before, after)))
    near = jnp.any(before.gaps + after.gaps < _WIDE * speed * length)
    return cond(near, lambda: dip_between(before, after, length)[0], lambda: jnp.asarray(False))


def event_signals(
    system: System, loop: SystemState, inputs: Inputs, tick: Tick, t: Scalar, t_inside: Scalar
) -> Signals:
    """All signals of a state at time t; `t_inside`: see integrators."""
    world = system.world
    held, accelerations = _held(system, loop, inputs, tick, t, t_inside)
    pushes = held[len(world.brakes) :]
    return _join(
        [
            _of_connections(world, loop),
            _of_brakes(world, loop, held, accelerations),
            *_of_contacts(world, loop, pushes),
        ]
    )


def _join(parts: list[Signals]) -> Signals:
    return jax.tree.map(lambda *some: jnp.concatenate(some), *parts)


def _of_contacts(world: World, loop: SystemState, pushes: Vector | None) -> list[Signals]:
    """Gap of what is free, force of what rests (`pushes`; None where nothing rests)."""
    if not world.contacts:
        return []
    gap, rate = gaps(world, loop.states)
    rests = loop.constraints.touching == 1
    value = gap if pushes is None else jnp.where(rests, pushes, gap)
    return [Signals(value, rate, ~rests, rests, jnp.ones_like(rests))]


def _of_connections(world: World, loop: SystemState) -> Signals:
    """Reach of those that latch by themselves."""
    n, off = len(world.connections), loop.constraints.latched == 0
    automatic = np.array([one.automatic for one in world.connections], dtype=bool)
    values = [out_of_reach(world, loop.states, one) if one.automatic else jnp.ones(()) for one in world.connections]
    no = jnp.zeros(n, bool)
    return Signals(jnp.stack(values) if values else jnp.ones(0), jnp.zeros(n), no, no, off & automatic)


def _of_brakes(world: World, loop: SystemState, held: Vector, accelerations: Vector) -> Signals:
    """Torque that is left before a brake slips, and the rate of a joint whose brake does."""
    n, modes = len(world.brakes), loop.constraints
    limits = [jnp.asarray(np.inf if one.slip_torque is None else one.slip_torque, float) for one in world.brakes]
    slip = jnp.stack(limits) if limits else jnp.zeros(0)
    signs, holds = slip_signs(modes), modes.brakes == HOLDS
    value = jnp.where(holds, slip - jnp.abs(held[:n]), signs * brake_rates(world, loop.states))
    can_slip = np.array([one.slips for one in world.brakes], dtype=bool)
    return Signals(value, signs * accelerations, signs != 0.0, holds, can_slip & (modes.brakes != OFF))


def _held(
    system: System, loop: SystemState, inputs: Inputs, tick: Tick, t: Scalar, t_inside: Scalar
) -> tuple[Vector, Vector]:
    """Forces in brakes and contacts, and accelerations of braked joints; only found where one of them may matter."""
    world, modes = system.world, loop.constraints
    brakes, contacts = len(world.brakes), len(world.contacts)
    slips = np.array([one.slips for one in world.brakes], dtype=bool)
    if not slips.any() and not contacts:
        return jnp.zeros(brakes), jnp.zeros(brakes)
    matters = jnp.any(slips & (modes.brakes != OFF)) | jnp.any(modes.touching == 1)

    def found() -> tuple[Vector, Vector]:
        now = balances(system, loop.states, loop, inputs, tick, t, t_inside)
        share = now[0].connection
        assert share is not None
        return share.multipliers[sum(one.rows for one in world.connections) :], _joint_accelerations(world, now)

    return cond(matters, found, lambda: (jnp.zeros(brakes + contacts), jnp.zeros(brakes)))


def _joint_accelerations(world: World, now: tuple[Balance, ...]) -> Vector:
    found = [now[c].vdot[brake_dof(world, brake)] for brake in world.brakes for c in (world.names.index(brake.craft),)]
    return jnp.stack(found) if found else jnp.zeros(0)
