"""Joints with prescribed rates, stuck joints, a held base: their jumps at a tick, and the work of those."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import impose_rates
from freefloat.dynamics.hybrid import jump_to_rates
from freefloat.dynamics.impact import row_impact
from freefloat.dynamics.inner_motion import motion_of_com_by_mass_matrix
from freefloat.model import Failure, State
from freefloat.sim.motion.actuation import Actuation
from freefloat.sim.motion.applied_impulses import apply_impact, with_inner_impulse
from freefloat.sim.motion.constraint_forces import prescribed_names
from freefloat.sim.motion.constraint_rows import rows_of
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.constraint_state import active_rows
from freefloat.sim.system.craft_state import CraftState
from freefloat.sim.system.system import Inputs, System, SystemState, Tick, with_entry
from freefloat.sim.system.world_state import WorldState
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.tracing import cond


def with_prescribed_rates(system: System, c: int, state: State, rates: Vector) -> State:
    """The state with prescribed joints at their rates, a held base at rest, and other speeds from momentum."""
    craft, joints = system.world.crafts[c], system.wiring.prescribed[c]
    if system.world.is_held(c):
        joints, rates = ("base", *joints), jnp.concatenate([jnp.zeros(6), rates])
    if not joints:
        return state
    return dataclasses.replace(state, v=impose_rates(craft, state.q, state.v, joints, rates))


def with_rates_so_far(here: PortBus, ticked: Scalar, k: int | None = None) -> tuple[State, ...]:
    """States with the joint rates of input ports and of software up to number k; rates of later software stay as is."""
    system, states = here.system, here.states
    for c, names in enumerate(system.wiring.prescribed_by_inputs):
        if names if k is None else system.wiring.software[k].craft == c:
            rates = zero_stuck_rates(system, c, jnp.concatenate(_rates_so_far(here, c, ticked, k)), ticked)
            states = with_entry(states, c, with_prescribed_rates(system, c, states[c], rates))
    return states


def _rates_so_far(here: PortBus, c: int, ticked: Scalar, k: int | None) -> list[Vector]:
    system, actuation = here.system, Actuation(here, c, ticked)
    found = actuation.rates_of_inputs()
    for j, wires in enumerate(system.wiring.software):
        if wires.craft == c and wires.prescribes:
            places = np.array(system.world.crafts[c].layout.indices(wires.prescribes), dtype=int)
            runs = k is not None and j <= k
            found += actuation.rates_of_software(j) if runs else [jnp.asarray(here.states[c].v)[places]]
    return found


def prescribed_rates(here: PortBus, c: int, ticked: Scalar) -> Vector:
    """Rates of the prescribed joints of a spacecraft, zero for stuck ones, in the order of `Wiring.prescribed`."""
    return zero_stuck_rates(here.system, c, Actuation(here, c, ticked).prescribed_rates(), ticked)


def zero_stuck_rates(system: System, c: int, rates: Vector, t: Scalar) -> Vector:
    """Prescribed rates with zeros for stuck joints; t: time of the last tick."""
    joints = system.wiring.prescribed[c]
    for failure, joint in system.stuck_joints(c):
        if joint in joints:
            place = joints.index(joint)
            rates = rates.at[place].set(jnp.where(failure.present(t), 0.0, rates[place]))
    return rates


def free_stuck_joints(system: System, c: int) -> tuple[tuple[Failure, str], ...]:
    """Joints of a spacecraft that stick and are not prescribed; where connections hold, brakes stop them instead."""
    if system.world.has_events:
        return ()
    joints = system.wiring.prescribed[c]
    return tuple((failure, joint) for failure, joint in system.stuck_joints(c) if joint not in joints)


def apply_prescribed_rates(system: System, state: SystemState, inputs: Inputs, tick: Tick) -> WorldState:
    """The plants with prescribed joints at their rates and stuck ones stopped; ledgers record the work of the jumps."""
    here = PortBus(system, state, state.states, inputs, tick.t, tick.number, before_rates=True)
    every, t = range(len(state.plants)), tick.t
    given = tuple(_prescribed_joint_rates(system, c, here, t) for c in every)

    def each_alone() -> WorldState:
        jumped = (_jump(system, c, state.plants[c], *given[c]) for c in every)
        return state.plants.with_crafts(_stop_stuck_joints(system, c, plant, t) for c, plant in enumerate(jumped))

    if not system.world.has_events or not any(prescribed_names(system)):
        return each_alone()
    held = active_rows(system.world, state.modes) > 0.0
    return cond(jnp.any(held), lambda: _jump_together(system, state, given, held), each_alone)


def _jump_together(
    system: System, state: SystemState, given: tuple[tuple[tuple[str, ...], Vector], ...], held: Numeric
) -> WorldState:
    """The plants with prescribed joints at their rates, where spacecraft are held together and stay so."""
    world, speeds, motors = system.world, [], []
    for craft, craft_state, (names, rates) in zip(world.crafts, state.states, given, strict=True):
        v, impulse = jump_to_rates(craft, craft_state.q, craft_state.v, names, rates)
        speeds.append(v)
        motors.append(jnp.zeros_like(v).at[np.array(craft.layout.indices(names), dtype=int)].set(impulse))
    moved = tuple(dataclasses.replace(craft_state, v=v) for craft_state, v in zip(state.states, speeds, strict=True))
    rows = rows_of(world, state.states, state.modes)
    impact = row_impact(world.crafts, moved, rows, prescribed=prescribed_names(system), active=held)
    motors = tuple(a + b for a, b in zip(motors, impact.prescribed, strict=True))
    return apply_impact(system, state.plants, rows, dataclasses.replace(impact, prescribed=motors))


def with_speeds_on_rows(system: System, states: tuple[State, ...], state: SystemState) -> tuple[State, ...]:
    """States whose speeds agree with the held rows after prescribed rates have changed."""
    world = system.world
    rows, held = rows_of(world, states, state.modes), active_rows(world, state.modes) > 0.0
    found = row_impact(world.crafts, states, rows, prescribed=prescribed_names(system), active=held)
    return tuple(dataclasses.replace(craft_state, v=v) for craft_state, v in zip(states, found.speeds, strict=True))


def _prescribed_joint_rates(system: System, c: int, here: PortBus, t: Scalar) -> tuple[tuple[str, ...], Vector]:
    """Names with prescribed rates in a spacecraft, and the rates; those of a held base are zero."""
    rates = prescribed_rates(here, c, t)
    names = system.wiring.prescribed[c]
    return (("base", *names), jnp.concatenate([jnp.zeros(6), rates])) if system.world.is_held(c) else (names, rates)


def _jump(system: System, c: int, plant: CraftState, names: tuple[str, ...], rates: Vector) -> CraftState:
    """A plant after the named joints, and a held base, have jumped to their rates."""
    if not names:
        return plant
    craft, state, ledger = system.world.crafts[c], plant.state, plant.ledger
    places = np.array(craft.layout.indices(names), dtype=int)
    v, impulse = jump_to_rates(craft, state.q, state.v, names, rates)
    # Each impulse works at the mean of the rates before and after. The joints push against one another: neither the
    # drift nor the wheels' momenta change.
    work = 0.5 * impulse @ (rates + state.v[places])
    ledger = dataclasses.replace(ledger, work=ledger.work + work)
    if system.world.is_held(c):
        # On a test stand, which takes up the momentum.
        whole = jnp.zeros_like(v).at[places].set(impulse)
        ledger = with_inner_impulse(craft, state, v, ledger, whole, motion_of_com_by_mass_matrix)
    else:
        ledger = dataclasses.replace(ledger, inner_work=ledger.inner_work + work)
    return dataclasses.replace(plant, state=dataclasses.replace(state, v=v), ledger=ledger)


def _stop_stuck_joints(system: System, c: int, plant: CraftState, t: Scalar) -> CraftState:
    """A plant whose stuck joints have stopped; those that are prescribed stand still already."""
    names, base = system.wiring.prescribed[c], ("base",) * system.world.is_held(c)
    kept = plant.state.v[np.array(system.world.crafts[c].layout.indices((*base, *names)), dtype=int)]

    def stop(stuck: tuple[str, ...], rest: tuple[tuple[Failure, str], ...]) -> CraftState:
        if rest:  # a branch for each joint that may have stuck
            (first, joint), *others = rest
            return cond(
                first.present(t), lambda: stop((*stuck, joint), tuple(others)), lambda: stop(stuck, tuple(others))
            )
        rates = jnp.concatenate([kept, jnp.zeros(len(stuck))])
        return _jump(system, c, plant, (*base, *names, *stuck), rates) if stuck else plant

    return stop((), free_stuck_joints(system, c))
