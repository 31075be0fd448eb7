"""Joints with prescribed rates, stuck joints, a held base: their jumps at a tick, and the work of those."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import impose_rates
from freefloat.dynamics.hybrid import jump_to_rates
from freefloat.dynamics.impact import row_impact
from freefloat.dynamics.inner_motion import motion_of_com_by_mass_matrix
from freefloat.effects.failures import StuckJoint
from freefloat.model import JointRates, State
from freefloat.sim.motion.applied_impulses import apply_impact, with_inner_impulse
from freefloat.sim.motion.constraint_forces import prescribed_names
from freefloat.sim.motion.constraint_rows import rows_of
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.constraint_state import active_rows
from freefloat.sim.system.craft_state import CraftState
from freefloat.sim.system.input_ports import command_inputs
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


def with_port_rates(system: System, state: SystemState, inputs: Inputs, t: Scalar) -> tuple[State, ...]:
    """States with the joint rates of input ports."""
    states = state.states
    for c in range(len(states)):
        rates = [command.rates for command in command_inputs(system, c, inputs) if isinstance(command, JointRates)]
        if rates:
            states = with_entry(
                states, c, with_prescribed_rates(system, c, states[c], zero_stuck_rates(system, c, rates[0], t))
            )
    return states


def with_rates_until(here: PortBus, k: int) -> tuple[State, ...]:
    """States with the joint rates that software up to number k prescribes; rates of later software stay the same."""
    system, states = here.system, here.states
    c, found = system.wiring.software[k].craft, []
    for j, wires in enumerate(system.wiring.software):
        if wires.craft != c or not wires.prescribes:
            continue
        if j <= k:
            found += [command.rates for command in here.commands(j) if isinstance(command, JointRates)]
        else:
            places = system.world.crafts[c].layout.indices(wires.prescribes)
            found.append(states[c].v[np.array(places, dtype=int)])
    rates = zero_stuck_rates(system, c, jnp.concatenate(found), here.t)
    return with_entry(states, c, with_prescribed_rates(system, c, states[c], rates))


def zero_stuck_rates(system: System, c: int, rates: Vector, t: Scalar) -> Vector:
    """Prescribed rates with zeros for stuck joints; t: time of the last tick."""
    joints = system.wiring.prescribed[c]
    for failure in stuck_joints(system, c):
        if failure.joint in joints:
            place = joints.index(failure.joint)
            rates = rates.at[place].set(jnp.where(failure.present(t), 0.0, rates[place]))
    return rates


def stuck_joints(system: System, c: int) -> list[StuckJoint]:
    """Failures that are stuck joints of a spacecraft."""
    return [f for f in system.failures if isinstance(f, StuckJoint) and system.craft_index(f) == c]


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
    rates = zero_stuck_rates(system, c, here.prescribed_rates(c), t)
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

    def stop(stuck: tuple[str, ...], rest: tuple[StuckJoint, ...]) -> CraftState:
        if rest:  # a branch for each joint that may have stuck
            first, *others = rest
            return cond(
                first.present(t), lambda: stop((*stuck, first.joint), tuple(others)), lambda: stop(stuck, tuple(others))
            )
        rates = jnp.concatenate([kept, jnp.zeros(len(stuck))])
        return _jump(system, c, plant, (*base, *names, *stuck), rates) if stuck else plant

    return stop((), tuple(failure for failure in stuck_joints(system, c) if failure.joint not in names))
