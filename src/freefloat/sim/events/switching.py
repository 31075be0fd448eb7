"""Effect of an event (latch, release, bounce, brake): one impact with all rows that are held from then on.

Positions never jump. Speeds do, and what that takes is recorded: momentum handed over, energy lost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.contact import contact_impact
from freefloat.dynamics.impact import Impact, row_impact
from freefloat.dynamics.relative_rows import Rows, row_bias, row_count, row_velocity
from freefloat.dynamics.row_response import row_response
from freefloat.model import State, Switches, World
from freefloat.sim.events.entries import EventFlags, log_events
from freefloat.sim.motion.accelerations import Balance
from freefloat.sim.motion.actuation import Actuation
from freefloat.sim.motion.applied_impulses import apply_impact
from freefloat.sim.motion.constraint_forces import prescribed_names
from freefloat.sim.motion.constraint_rows import (
    brake_rates,
    contact_rows,
    impact_rows,
    out_of_reach,
    present_pose,
    rows_of,
)
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.constraint_state import BACKWARD, FORWARD, HOLDS, OFF, ConstraintState, active_rows
from freefloat.sim.system.input_ports import brake_port, connection_port
from freefloat.sim.system.software_checks import is_switch
from freefloat.sim.system.system import System, SystemState
from freefloat.values import SoftwareError, record
from freefloat.values.arrays import Numeric, Scalar, Vector

_STILL = 1e-12  # [rad/s, m/s]: a joint that moves no faster stands still for its brake
_LEAVES = 1e-9  # of the largest velocity in an impact: a contact that separates more slowly stays
_PRESSED = 1e-12  # [m/s2]: what presses a contact no more does not keep it closed


@record
class SwitchFlags:
    """Switches that are commanded at a tick: flags for each connection and brake."""

    latch: Numeric
    release: Numeric
    brake: Numeric
    free: Numeric


def commanded_switches(here: PortBus) -> SwitchFlags:
    """Switches that all actuators, failures and the input ports ask for."""
    system, world = here.system, here.system.world
    names = [connection.name for connection in world.connections]
    brakes = [(brake.craft, brake.joint) for brake in world.brakes]
    latch, release, brake, free = (jnp.zeros(len(x), bool) for x in (names, names, brakes, brakes))
    for c, own in enumerate(world.names):
        for switches in _switches_of_actuators(Actuation(here, c, here.t)):
            latch, release = _with_flags(latch, names, switches.latch), _with_flags(release, names, switches.release)
            brake = _with_flags(brake, brakes, {(own, joint): flag for joint, flag in switches.brake.items()})
            free = _with_flags(free, brakes, {(own, joint): flag for joint, flag in switches.free.items()})
    latch, release = _with_port_flags(here, [connection_port(name) for name in names], latch, release)
    brake, free = _with_port_flags(here, [brake_port(world, brake) for brake in world.brakes], brake, free)
    stuck = _stuck_brakes(system, brakes, here.t)
    return SwitchFlags(latch & ~release, release, brake | stuck, free & ~stuck)


def _switches_of_actuators(actuation: Actuation) -> list[Switches]:
    return [actuator.switches(u, actuation.clock) for actuator, _, u in actuation.actuators(is_switch)]


def _with_flags(flags: Numeric, known: Sequence[Any], asked: Mapping[Any, Numeric]) -> Numeric:
    for name, flag in asked.items():
        if name not in known:
            listed = ", ".join(map(str, known)) or "none"
            raise SoftwareError(f"An actuator switches {name!r}, which the world does not have. There are: {listed}.")
        place = known.index(name)
        flags = flags.at[place].set(flags[place] | flag)
    return flags


def _stuck_brakes(system: System, brakes: list[tuple[str, str]], t: Scalar) -> Numeric:
    """Flags of the brakes that hold a stuck joint."""
    stuck = jnp.zeros(len(brakes), bool)
    for c, own in enumerate(system.world.names):
        for failure, joint in system.stuck_joints(c):
            if not system.is_prescribed(c, joint):
                place = brakes.index((own, joint))
                stuck = stuck.at[place].set(stuck[place] | failure.present(t))
    return stuck


def _with_port_flags(here: PortBus, ports: list[str], on: Numeric, off: Numeric) -> tuple[Numeric, Numeric]:
    """Flags on and off, with those of input ports in place of those of software."""
    for i, port in enumerate(ports):
        if port in here.system.ports:
            wanted = jnp.asarray(here.inputs[port]) > 0.5
            on, off = on.at[i].set(wanted), off.at[i].set(~wanted)
    return on, off


def effective_switches(state: SystemState, asked: SwitchFlags) -> SwitchFlags:
    """The commanded switches that change the present state."""
    modes = state.modes
    return SwitchFlags(
        latch=asked.latch & (modes.latched == 0),
        release=asked.release & (modes.latched == 1),
        brake=asked.brake & (modes.brakes == OFF),
        free=asked.free & (modes.brakes != OFF),
    )


def fired_events(world: World, state: SystemState, asked: SwitchFlags, fired: Numeric) -> EventFlags:
    """Event flags from the commanded switches and from the signals that fired (connections, brakes, contacts)."""
    modes, n, b = state.modes, len(world.connections), len(world.brakes)
    fired = fired if fired.size else jnp.zeros(n + b + len(world.contacts), bool)
    away = [out_of_reach(world, state.states, connection) > 0.0 for connection in world.connections]
    far = jnp.stack(away) if away else jnp.zeros(0, bool)
    braking, touching = modes.brakes, modes.touching == 1
    return EventFlags(
        latch=(asked.latch & ~far) | fired[:n],
        release=asked.release,
        refuse=asked.latch & far & (modes.refused == 0),
        brake=asked.brake,
        free=asked.free,
        slip=fired[n : n + b] & (braking == HOLDS),
        stick=fired[n : n + b] & ((braking == FORWARD) | (braking == BACKWARD)),
        hit=fired[n + b :] & ~touching,
        lift=fired[n + b :] & touching,
    )


def state_after_events(
    system: System, state: SystemState, now: tuple[Balance, ...], what: EventFlags, t: Scalar, short: Scalar
) -> SystemState:
    """The state after the events `what` at time t; `now`: forces and accelerations just before them.

    Bounces that would all be over within a time `short` are over now: the instant of the last one is known.
    """
    world, states, old = system.world, state.states, state.modes
    rests, end = _coming_to_rest(world, state, now, what, short)
    modes = _modes_before_impact(world, states, old, now, what, rests)
    impact, every = _impact(system, states, modes, what, rests)
    thrown = _separated_contacts(world, modes, impact)
    rests, kept = rests & ~thrown, jnp.where(thrown, 0, modes.touching).astype(jnp.int32)
    what = dataclasses.replace(what, lift=what.lift | (thrown & (old.touching == 1)))
    plants = apply_impact(system, state.plants, every, impact)
    moved = plants.states
    modes = dataclasses.replace(
        modes,
        brakes=_after_impact(world, moved, modes, what),
        touching=kept,
        lost=old.lost + impact.energy_lost,
        redundant=_redundant(system, states, dataclasses.replace(modes, touching=kept)),
        log=log_events(world, states, old.log, what, rests, impact, every, (t, end)),
    )
    return dataclasses.replace(state, plants=plants, constraints=modes)


# ---- what is on afterwards


def _coming_to_rest(
    world: World, state: SystemState, now: tuple[Balance, ...], what: EventFlags, short: Scalar
) -> tuple[Numeric, Vector]:
    """Whether each contact that is hit comes to rest, and how long its remaining bounces would take [s]."""
    if not world.contacts:
        return jnp.zeros(0, bool), jnp.zeros(0)
    rows = tuple(contact_rows(world, contact) for contact in world.contacts)
    states = tuple(balance.state for balance in now)
    pressed = -row_bias(world.crafts, states, rows, [balance.vdot for balance in now])
    e = jnp.stack([jnp.asarray(contact.restitution, float) for contact in world.contacts])
    rate = row_velocity(world.crafts, state.states, rows)
    closes = pressed > _PRESSED
    # After a bounce at speed v the next one comes after 2 v / a, and each lasts e times as long as the one before.
    left = 2.0 * e * jnp.maximum(-rate, 0.0) / jnp.where(closes, pressed, 1.0) / jnp.maximum(1.0 - e, 1e-300)
    return what.hit & closes & (left <= short), jnp.where(closes, left, 0.0)


def _modes_before_impact(
    world: World,
    states: tuple[State, ...],
    old: ConstraintState,
    now: tuple[Balance, ...],
    what: EventFlags,
    rests: Numeric,
) -> ConstraintState:
    """The constraint state from now on: flags and held poses; brakes that slip give no impulse."""
    positions, attitudes = old.positions, old.attitudes
    for i, connection in enumerate(world.connections):
        pose = present_pose(world, states, connection)
        positions = positions.at[i].set(jnp.where(what.latch[i], pose.p, positions[i]))
        attitudes = attitudes.at[i].set(jnp.where(what.latch[i], pose.quaternion, attitudes[i]))
    latched = jnp.where(what.latch, 1, jnp.where(what.release, 0, old.latched)).astype(jnp.int32)
    braking = jnp.where(what.brake | what.stick, HOLDS, jnp.where(what.free, OFF, old.brakes))
    braking = jnp.where(what.slip, _slip_direction(world, now), braking).astype(jnp.int32)
    touching = jnp.where(rests, 1, jnp.where(what.lift, 0, old.touching)).astype(jnp.int32)
    refused = jnp.where(what.refuse, 1, jnp.where(what.latch, 0, old.refused)).astype(jnp.int32)
    return dataclasses.replace(
        old,
        latched=latched,
        positions=positions,
        attitudes=attitudes,
        refused=refused,
        brakes=braking,
        touching=touching,
    )


def _slip_direction(world: World, now: tuple[Balance, ...]) -> Numeric:
    """Direction in which a joint will slip when its brake gives way: against the torque that held it."""
    if not world.brakes:
        return jnp.zeros(0, int)
    assert now[0].connection is not None
    first = sum(connection.rows for connection in world.connections)
    held = now[0].connection.multipliers[first : first + len(world.brakes)]
    return jnp.where(held < 0.0, FORWARD, BACKWARD)


def _after_impact(world: World, states: tuple[State, ...], modes: ConstraintState, what: EventFlags) -> Numeric:
    """Modes of brakes after an impact: one that can slip gives no impulse, so that its joint may move now."""
    if not world.brakes:
        return modes.brakes
    rates, can_slip = brake_rates(world, states), jnp.array([brake.slips for brake in world.brakes])
    moves = can_slip & (modes.brakes == HOLDS) & ~what.stick & (jnp.abs(rates) > _STILL)
    return jnp.where(moves, jnp.where(rates > 0.0, FORWARD, BACKWARD), modes.brakes).astype(jnp.int32)


# ---- the impact


def _impact(
    system: System, states: tuple[State, ...], modes: ConstraintState, what: EventFlags, rests: Numeric
) -> tuple[Impact, tuple[Rows, ...]]:
    """The impact with everything that is held from now on, and the rows that its impulses belong to."""
    world = system.world
    held = rows_of(world, states, modes)[: len(world.connections) + len(world.brakes)]
    on = active_rows(world, modes)[: row_count(held)] > 0.0
    first = row_count(held) - len(world.brakes)
    for i, brake in enumerate(world.brakes):
        if brake.slips:  # a torque that is limited gives no impulse; what sticks has no rate left
            on = on.at[first + i].set(on[first + i] & what.stick[i])
    if not world.contacts:
        return row_impact(world.crafts, states, held, prescribed=prescribed_names(system), active=on), held
    contacts = tuple(impact_rows(world, contact) for contact in world.contacts)
    e = jnp.stack([jnp.asarray(contact.restitution, float) for contact in world.contacts])
    bounces = what.hit & ~rests
    impact = contact_impact(
        world.crafts,
        states,
        contacts,
        jnp.where(bounces, e, 0.0),
        jnp.stack([jnp.asarray(contact.friction, float) for contact in world.contacts]),
        held=held,
        held_active=on,
        prescribed=prescribed_names(system),
        active=what.hit | (modes.touching == 1),
    )
    return impact, (*held, *contacts)


def _separated_contacts(world: World, modes: ConstraintState, impact: Impact) -> Numeric:
    """Flags of resting contacts that an impact elsewhere separates: a contact does not pull."""
    count = len(world.contacts)
    sizes = [impact_rows(world, contact).count for contact in world.contacts]
    first = impact.after.shape[0] - sum(sizes)
    normals = np.array(first + np.cumsum([0, *sizes[:-1]]), dtype=int)[:count]
    small = _LEAVES * jnp.max(jnp.abs(impact.before), initial=0.0) + _STILL
    return (modes.touching == 1) & (impact.after[normals] > small)


def _redundant(system: System, states: tuple[State, ...], modes: ConstraintState) -> Numeric:
    """Number of held rows that depend on others."""
    world, active = system.world, active_rows(system.world, modes) > 0.0
    rows = rows_of(world, states, modes)
    response = row_response(world.crafts, states, rows, prescribed_names(system), active)
    return (jnp.sum(active) - response.rank).astype(jnp.int32)
