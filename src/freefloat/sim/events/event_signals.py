"""Signals whose sign change is an event: gaps, reach, forces of contacts, torques of brakes.

Each becomes negative when its event comes. A contact that has just bounced begins with a gap of nothing, and a joint
whose brake gives way with no rate: then the signal is the mean rate of change since, which begins as its slope.
"""

from __future__ import annotations

from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import World
from freefloat.model.part_kinds import Approach
from freefloat.sim.events.gap_dips import dip_between
from freefloat.sim.motion.accelerations import Balance, balances
from freefloat.sim.motion.constraint_rows import brake_dof, brake_rates, contact_approach, gaps, out_of_reach
from freefloat.sim.system.constraint_state import HOLDS, OFF, slip_signs
from freefloat.sim.system.system import Inputs, System, SystemState, Tick
from freefloat.spatial import linear
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.tracing import cond

_DEAD = 1e-11  # [m/s], [rad/s2]: a contact that closes more slowly is left alone
_WIDE = 2.0  # so many times as far as anything comes in a step: far away
_NEVER = 1.0  # a signal of what cannot happen


@record
class Signals:
    """Signals of all connections, brakes and contacts."""

    value: Vector
    slope: Vector  # where a signal may begin at zero, the rate at which it does
    rises: Numeric  # flags: it may begin at zero, and counts from there
    at_once: Numeric  # flags: negative at the start, it fires at once
    armed: Numeric  # flags: it may fire at all

    @staticmethod
    def none(count: int) -> Signals:
        """Signals that cannot fire, before any have been computed."""
        flags = jnp.zeros(count, bool)
        return Signals(jnp.ones(count), jnp.zeros(count), flags, flags, flags)

    @property
    def fresh(self) -> Numeric:
        """Flags of signals that are zero at the beginning of the segment."""
        return self.rises & (self.value <= 0.0)

    @property
    def off(self) -> Numeric:
        """Flags of signals that cannot fire in a segment that begins here."""
        return ~self.armed | (~self.rises & ~self.at_once & (self.value <= 0.0))

    def at_start(self) -> Vector:
        """Signals at the beginning of a segment."""
        return jnp.where(self.off, _NEVER, jnp.where(self.fresh, self.slope, self.value))

    def since(self, later: Signals, length: Scalar) -> Vector:
        """Signals at the end of a segment that began here."""
        mean = (later.value - self.value) / length
        return jnp.where(self.off, _NEVER, jnp.where(self.fresh, mean, later.value))

    def fires_at_once(self) -> Numeric:
        """Flags of signals that fire at the beginning of a segment."""
        now = (self.at_once & (self.value < 0.0)) | (self.fresh & (self.slope < -_DEAD))
        return now & self.armed

    def any_crossed(self, signals: Vector) -> Flag:
        """Whether anything fires in a segment that began here and ended with these signals."""
        return jnp.any(signals < jnp.where(self.fresh, -_DEAD, 0.0))


def has_signals(world: World) -> bool:
    """Whether events can occur between two ticks."""
    return bool(world.contacts) or any(x.automatic for x in world.connections) or any(x.slips for x in world.brakes)


def stays_quiet(world: World, state: SystemState, later: SystemState, length: Scalar) -> Flag:
    """Whether certainly no event occurs between two states: nothing rests, no brake may slip, no signal crosses."""
    modes, brakes, flags = state.modes, len(world.brakes), []
    slips = np.array([brake.slips for brake in world.brakes], dtype=bool)
    flags.append(~jnp.any(slips & (modes.brakes != OFF)) & ~jnp.any(modes.touching == 1))
    first, last = (
        _join([_connection_signals(world, x), Signals.none(brakes), *_contact_signals(world, x, None)])
        for x in (state, later)
    )
    flags += [~jnp.any(first.fires_at_once()), ~first.any_crossed(first.since(last, length))]
    if world.contacts:
        before, after = (contact_approach(world, x.states, modes) for x in (state, later))
        flags.append(~_may_dip(before, after, length))
    return reduce(jnp.logical_and, flags)


def _may_dip(before: Approach, after: Approach, length: Scalar) -> Flag:
    """Whether a contact may close and open between two instants; only bodies that are near are checked closely."""
    speed = jnp.maximum(*(jnp.sum(jnp.abs(linear(x.velocity)), axis=0) for x in (before, after)))
    near = jnp.any(before.gaps + after.gaps < _WIDE * speed * length)
    return cond(near, lambda: dip_between(before, after, length)[0], lambda: jnp.asarray(False))


def event_signals(
    system: System, state: SystemState, inputs: Inputs, tick: Tick, t: Scalar, t_inside: Scalar
) -> Signals:
    """All signals of a state at time t; `t_inside`: see integrators."""
    world = system.world
    held, accelerations = _held_forces(system, state, inputs, tick, t, t_inside)
    pushes = held[len(world.brakes) :]
    return _join(
        [
            _connection_signals(world, state),
            _brake_signals(world, state, held, accelerations),
            *_contact_signals(world, state, pushes),
        ]
    )


def _join(parts: list[Signals]) -> Signals:
    return jax.tree.map(lambda *some: jnp.concatenate(some), *parts)


def _contact_signals(world: World, state: SystemState, pushes: Vector | None) -> list[Signals]:
    """Signals of contacts: the gap of a free one, the force of a resting one (`pushes`; None if none rests)."""
    if not world.contacts:
        return []
    gap, rate = gaps(world, state.states)
    rests = state.modes.touching == 1
    value = gap if pushes is None else jnp.where(rests, pushes, gap)
    return [Signals(value, rate, ~rests, rests, jnp.ones_like(rests))]


def _connection_signals(world: World, state: SystemState) -> Signals:
    """Signals of connections that latch by themselves: their reach."""
    n, off = len(world.connections), state.modes.latched == 0
    automatic = np.array([connection.automatic for connection in world.connections], dtype=bool)
    values = [
        out_of_reach(world, state.states, connection) if connection.automatic else jnp.ones(())
        for connection in world.connections
    ]
    no = jnp.zeros(n, bool)
    return Signals(jnp.stack(values) if values else jnp.ones(0), jnp.zeros(n), no, no, off & automatic)


def _brake_signals(world: World, state: SystemState, held: Vector, accelerations: Vector) -> Signals:
    """Signals of brakes: the torque that is left before one slips, or the rate of the joint while it slips."""
    n, modes = len(world.brakes), state.modes
    limits = [jnp.asarray(np.inf if brake.slip_torque is None else brake.slip_torque, float) for brake in world.brakes]
    slip = jnp.stack(limits) if limits else jnp.zeros(0)
    signs, holds = slip_signs(modes), modes.brakes == HOLDS
    value = jnp.where(holds, slip - jnp.abs(held[:n]), signs * brake_rates(world, state.states))
    can_slip = np.array([brake.slips for brake in world.brakes], dtype=bool)
    return Signals(value, signs * accelerations, signs != 0.0, holds, can_slip & (modes.brakes != OFF))


def _held_forces(
    system: System, state: SystemState, inputs: Inputs, tick: Tick, t: Scalar, t_inside: Scalar
) -> tuple[Vector, Vector]:
    """Forces in brakes and contacts, and accelerations of braked joints; only computed if one of them may matter."""
    world, modes = system.world, state.modes
    brakes, contacts = len(world.brakes), len(world.contacts)
    slips = np.array([brake.slips for brake in world.brakes], dtype=bool)
    if not slips.any() and not contacts:
        return jnp.zeros(brakes), jnp.zeros(brakes)
    matters = jnp.any(slips & (modes.brakes != OFF)) | jnp.any(modes.touching == 1)

    def forces_and_accelerations() -> tuple[Vector, Vector]:
        now = balances(system, state.states, state, inputs, tick, t, t_inside).crafts
        share = now[0].connection
        assert share is not None
        return share.multipliers[sum(connection.rows for connection in world.connections) :], _joint_accelerations(
            world, now
        )

    return cond(matters, forces_and_accelerations, lambda: (jnp.zeros(brakes + contacts), jnp.zeros(brakes)))


def _joint_accelerations(world: World, now: tuple[Balance, ...]) -> Vector:
    found = [now[c].vdot[brake_dof(world, brake)] for brake in world.brakes for c in (world.names.index(brake.craft),)]
    return jnp.stack(found) if found else jnp.zeros(0)
