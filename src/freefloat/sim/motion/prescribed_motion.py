"""Joints with prescribed rates, stuck joints, a held base: the jumps they make at a tick, and the work of those."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import impose_rates
from freefloat.dynamics.hybrid import jump_to_rates
from freefloat.dynamics.impact import row_impact
from freefloat.dynamics.inner_motion import (
    motion_of_com_by_mass_matrix,
    speeds_about_com,
)
from freefloat.effects.failures import StuckJoint
from freefloat.model import JointRates, Spacecraft, State
from freefloat.sim.motion.constraint_forces import prescribed_names
from freefloat.sim.motion.constraint_rows import rows_of
from freefloat.sim.motion.impulses import book_impulses
from freefloat.sim.motion.port_bus import Instant, command_inputs
from freefloat.sim.system.constraint_state import active_rows
from freefloat.sim.system.craft_state import Ledger, Plant, Plants
from freefloat.sim.system.system import Inputs, System, SystemState, put
from freefloat.sim.system.tick import Tick
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.tracing import cond


def with_prescribed_rates(system: System, c: int, state: State, rates: Vector) -> State:
    """The state with prescribed joints at their rates, a held base at rest, and all else as momentum has it."""
    craft, joints = system.world.crafts[c], system.wiring.prescribed[c]
    if system.world.is_held(c):
        joints, rates = ("base", *joints), jnp.concatenate([jnp.zeros(6), rates])
    if not joints:
        return state
    return dataclasses.replace(state, v=impose_rates(craft, state.q, state.v, joints, rates))


def with_rates_from_outside(system: System, loop: SystemState, inputs: Inputs, t: Scalar) -> tuple[State, ...]:
    """States with joint rates that come from outside."""
    states = loop.states
    for c in range(len(states)):
        rates = [one.rates for one in command_inputs(system, c, inputs) if isinstance(one, JointRates)]
        if rates:
            states = put(states, c, with_prescribed_rates(system, c, states[c], stop_stuck(system, c, rates[0], t)))
    return states


def with_rates_until(here: Instant, k: int) -> tuple[State, ...]:
    """States once software number k has been heard: what later software prescribes is as it was."""
    system, states = here.system, here.states
    c, found = system.wiring.software[k].craft, []
    for j, wires in enumerate(system.wiring.software):
        if wires.craft != c or not wires.prescribes:
            continue
        if j <= k:
            found += [one.rates for one in here.commands(j) if isinstance(one, JointRates)]
        else:
            places = system.world.crafts[c].layout.indices(wires.prescribes)
            found.append(states[c].v[np.array(places, dtype=int)])
    rates = stop_stuck(system, c, jnp.concatenate(found), here.t)
    return put(states, c, with_prescribed_rates(system, c, states[c], rates))


def stop_stuck(system: System, c: int, rates: Vector, t: Scalar) -> Vector:
    """Prescribed rates, where stuck joints stand still; t: time of the last tick."""
    joints = system.wiring.prescribed[c]
    for failure in stuck_joints(system, c):
        if failure.joint in joints:
            place = joints.index(failure.joint)
            rates = rates.at[place].set(jnp.where(failure.present(t), 0.0, rates[place]))
    return rates


def stuck_joints(system: System, c: int) -> list[StuckJoint]:
    """Failures of the joints of a spacecraft."""
    return [f for f in system.failures if isinstance(f, StuckJoint) and system.on(f) == c]


def apply_prescribed_rates(system: System, loop: SystemState, inputs: Inputs, tick: Tick) -> Plants:
    """Let prescribed joints take their rates now, and stuck ones stop; a jump does work, which is booked."""
    here = Instant(system, loop, loop.states, inputs, tick.t, tick.number, before_rates=True)
    every, t = range(len(loop.plants)), tick.t
    given = tuple(_given(system, c, here, t) for c in every)

    def each_alone() -> Plants:
        return tuple(_stop_stuck_joints(system, c, _jump(system, c, loop.plants[c], *given[c]), t) for c in every)

    if not system.world.has_events or not any(prescribed_names(system)):
        return each_alone()
    held = active_rows(system.world, loop.constraints) > 0.0
    return cond(jnp.any(held), lambda: _jump_together(system, loop, given, held), each_alone)


def _jump_together(
    system: System, loop: SystemState, given: tuple[tuple[tuple[str, ...], Vector], ...], held: Numeric
) -> Plants:
    """The same for spacecraft that are held together: prescribed joints take their rates, what is held stays so."""
    world, speeds, motors = system.world, [], []
    for craft, state, (names, rates) in zip(world.crafts, loop.states, given, strict=True):
        v, impulse = jump_to_rates(craft, state.q, state.v, names, rates)
        speeds.append(v)
        motors.append(jnp.zeros_like(v).at[np.array(craft.layout.indices(names), dtype=int)].set(impulse))
    moved = tuple(dataclasses.replace(state, v=v) for state, v in zip(loop.states, speeds, strict=True))
    rows = rows_of(world, loop.states, loop.constraints)
    impact = row_impact(world.crafts, moved, rows, prescribed=prescribed_names(system), active=held)
    motors = tuple(a + b for a, b in zip(motors, impact.prescribed, strict=True))
    return book_impulses(system, loop.plants, rows, dataclasses.replace(impact, prescribed=motors))


def with_speeds_on_rows(system: System, states: tuple[State, ...], loop: SystemState) -> tuple[State, ...]:
    """States whose speeds agree with what is held, where prescribed rates have just changed."""
    world = system.world
    rows, held = rows_of(world, states, loop.constraints), active_rows(world, loop.constraints) > 0.0
    found = row_impact(world.crafts, states, rows, prescribed=prescribed_names(system), active=held)
    return tuple(dataclasses.replace(state, v=v) for state, v in zip(states, found.speeds, strict=True))


def _given(system: System, c: int, here: Instant, t: Scalar) -> tuple[tuple[str, ...], Vector]:
    """What is prescribed of a spacecraft, and the rates; of a held base none."""
    rates = stop_stuck(system, c, here.prescribed_rates(c), t)
    names = system.wiring.prescribed[c]
    return (("base", *names), jnp.concatenate([jnp.zeros(6), rates])) if system.world.is_held(c) else (names, rates)


def _jump(system: System, c: int, plant: Plant, names: tuple[str, ...], rates: Vector) -> Plant:
    """A spacecraft after the named joints, and a held base, have jumped to their rates."""
    if not names:
        return plant
    craft, state, books = system.world.crafts[c], plant.state, plant.ledger
    given = np.array(craft.layout.indices(names), dtype=int)
    v, impulse = jump_to_rates(craft, state.q, state.v, names, rates)
    # Each impulse works at the mean of the rates before and after. The joints push against one another: neither the
    # drift nor the wheels' momenta change.
    work = 0.5 * impulse @ (rates + state.v[given])
    books = dataclasses.replace(books, work=books.work + work)
    if system.world.is_held(c):
        books = _with_stand(craft, state, v, books, jnp.zeros_like(v).at[given].set(impulse))
    else:
        books = dataclasses.replace(books, inner_work=books.inner_work + work)
    return dataclasses.replace(plant, state=dataclasses.replace(state, v=v), ledger=books)


def _with_stand(craft: Spacecraft, state: State, v: Vector, books: Ledger, impulse: Vector) -> Ledger:
    """The books after a jump on a test stand, which takes up the momentum; v: after it, impulse: generalised."""
    com, before = motion_of_com_by_mass_matrix(craft, state.q, state.v)
    _, after = motion_of_com_by_mass_matrix(craft, state.q, v)
    speeds = speeds_about_com(craft, state.q, state.v, before) + speeds_about_com(craft, state.q, v, after)
    push = impulse[:6]
    return dataclasses.replace(
        books,
        inner_work=books.inner_work + 0.5 * impulse @ speeds,
        impulse=books.impulse + state.X_NB.wrench_to_A(push),
        turning=books.turning + state.X_NB.R @ (angular(push) - cross(com, linear(push))),
    )


def _stop_stuck_joints(system: System, c: int, plant: Plant, t: Scalar) -> Plant:
    """A spacecraft whose stuck joints have stopped; those that are prescribed stand still already."""
    names, base = system.wiring.prescribed[c], ("base",) * system.world.is_held(c)
    kept = plant.state.v[np.array(system.world.crafts[c].layout.indices((*base, *names)), dtype=int)]

    def stop(stuck: tuple[str, ...], rest: tuple[StuckJoint, ...]) -> Plant:
        if rest:  # a branch for each joint that may have stuck
            first, *others = rest
            return cond(
                first.present(t), lambda: stop((*stuck, first.joint), tuple(others)), lambda: stop(stuck, tuple(others))
            )
        rates = jnp.concatenate([kept, jnp.zeros(len(stuck))])
        return _jump(system, c, plant, (*base, *names, *stuck), rates) if stuck else plant

    return stop((), tuple(failure for failure in stuck_joints(system, c) if failure.joint not in names))
