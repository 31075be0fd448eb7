"""Forces and accelerations at an instant between ticks, and the rates that are integrated."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from freefloat.dynamics import damping_force, elastic_force, forward_dynamics, hybrid_dynamics
from freefloat.dynamics.inner_motion import (
    free_of_drift,
    motion_of_com,
    motion_of_com_by_mass_matrix,
    speeds_about_com,
    without_drift,
)
from freefloat.dynamics.state_rate import state_rate
from freefloat.model import Failure, State
from freefloat.sim.motion.actuation import Actuation
from freefloat.sim.motion.constraint_forces import constrained_accelerations, slip_forces
from freefloat.sim.motion.interactions import Flags, actions, inner_rates
from freefloat.sim.motion.measurement_bus import Flow
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.motion.prescribed_motion import (
    free_stuck_joints,
    prescribed_rates,
    with_prescribed_rates,
    with_speeds_on_rows,
)
from freefloat.sim.system.constraint_state import Holding
from freefloat.sim.system.craft_state import CraftStateRate, Exchange, Ledger
from freefloat.sim.system.system import Inputs, System, SystemState, Tick
from freefloat.sim.system.world_state import InteractionState, WorldRate, WorldState
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values import record
from freefloat.values.arrays import Scalar, Vec6, Vector
from freefloat.values.tracing import cond


@record
class Balance:
    """Motion of a spacecraft and the forces on it at an instant, consistent with one another."""

    state: State  # prescribed joints at their rates
    vdot: Vector  # acceleration
    force: Vector  # generalised force: effects, actuators, inputs, what prescribed motion needs, elasticity, damping
    heat: Scalar  # power lost in damping, and in brakes that slip [W]
    connection: ConnectionShare | None = None  # None in a world where nothing can be held
    touch: Vector | None = None  # generalised force of interactions, a part of the force; None where there are none


@record
class WorldBalance:
    """Motion and forces of all spacecraft at an instant, and the rates of interactions between bodies."""

    crafts: tuple[Balance, ...]
    interactions: tuple[InteractionState, ...] = ()  # their rates


@record
class ConnectionShare:
    """Forces of connections, brakes and contacts on one spacecraft, and the multipliers of all rows of the world."""

    pull: Vector  # generalised force of what is held, a part of the force
    slip: Vector  # generalised force of brakes that slip, a part of the force too
    exchange: Vec6  # wrench from other spacecraft about the inertial origin, N axes [N, N m]
    multipliers: Vector  # along every row of the world [N, N m]


def balances(
    system: System,
    states: tuple[State, ...],
    state: SystemState,
    inputs: Inputs,
    tick: Tick,
    t: Scalar,
    t_inside: Scalar,
    *,
    holding: Holding | None = None,
    inner: tuple[InteractionState, ...] | None = None,
    on: Flags | None = None,
    full: Vector | None = None,
) -> WorldBalance:
    """Accelerations and forces at time t of the step since a tick; `t_inside`: see integrators.

    `holding`: which connections, brakes and contacts hold, where that is known beforehand. `inner`: states of
    interactions, if not those of the tick; `on`: flags of their laws, where they are known; () if none of them acts.
    `full`: wheels that are full, where that is held over a segment of a step.
    """
    crafts, every = system.world.crafts, range(len(states))
    before = PortBus(system, state, states, inputs, t, tick.number, before_rates=True)
    rates = [prescribed_rates(before, c, tick.t) for c in every]
    states = tuple(with_prescribed_rates(system, c, states[c], rates[c]) for c in every)
    if holding != "nothing" and not all(rates_are_held(system, c) for c in every) and system.world.has_events:
        states = with_speeds_on_rows(system, states, state)  # rows that are off change nothing
    here = PortBus(system, state, states, inputs, t_inside, tick.number)
    dampings = [damping_force(crafts[c], states[c].q, states[c].v) for c in every]
    pushes = [Actuation(here, c, tick.t, full=full).force() for c in every]
    forces = tuple(pushes[c] + elastic_force(crafts[c], states[c].q) + dampings[c] for c in every)
    if not system.interactions:
        return WorldBalance(_free_balances(here, forces, dampings, tick, holding))
    inner = state.plants.interactions if inner is None else inner
    found = actions(system, states, inner, on, t_inside, tick.number)
    touch = [sum((action.forces[c] for action in found), jnp.zeros(crafts[c].layout.nv)) for c in every]
    moving = _free_balances(here, tuple(forces[c] + touch[c] for c in every), dampings, tick, holding)
    touched = tuple(dataclasses.replace(moving[c], touch=touch[c]) for c in every)
    return WorldBalance(touched, inner_rates(system, states, inner, found))


def _free_balances(
    here: PortBus, forces: tuple[Vector, ...], dampings: list[Vector], tick: Tick, holding: Holding | None
) -> tuple[Balance, ...]:
    """Balances of all spacecraft under generalised forces."""
    system, states, found = here.system, here.states, []
    accelerations = _prescribed_accelerations(here, forces, tick)
    if system.world.has_events:
        return _constrained_balances(system, states, here.state, forces, dampings, accelerations, tick.t, holding)
    for c in range(len(states)):
        vdot, force = _accelerate(system, c, states[c], forces[c], accelerations[c], tick.t)
        heat = -(dampings[c] @ states[c].v)
        found.append(Balance(state=states[c], vdot=free_of_drift(vdot, states[c].v), force=force, heat=heat))
    return tuple(found)


def _constrained_balances(
    system: System,
    states: tuple[State, ...],
    state: SystemState,
    forces: tuple[Vector, ...],
    dampings: list[Vector],
    accelerations: tuple[Vector, ...],
    ticked: Scalar,
    holding: Holding | None,
) -> tuple[Balance, ...]:
    """Balances of all spacecraft under generalised forces, in a world with connections, brakes or contacts."""
    slips = slip_forces(system.world, state)
    forces = tuple(force + slip for force, slip in zip(forces, slips, strict=True))
    found = constrained_accelerations(
        system,
        states,
        state,
        forces,
        accelerations,
        lambda c: _accelerate(system, c, states[c], forces[c], accelerations[c], ticked),
        holding=holding,
    )
    return tuple(
        Balance(
            state=states[c],
            vdot=found.vdots[c],
            force=found.forces[c],
            heat=-((dampings[c] + slips[c]) @ states[c].v),
            connection=ConnectionShare(found.pulls[c], slips[c], found.wrenches[c], found.multipliers),
        )
        for c in range(len(states))
    )


def rates_are_held(system: System, c: int) -> bool:
    """True if the prescribed rates of a spacecraft's joints are constant within a step."""
    return all(wires.ticks for wires in system.wiring.software if wires.craft == c and wires.prescribes)


def _prescribed_accelerations(here: PortBus, forces: tuple[Vector, ...], tick: Tick) -> tuple[Vector, ...]:
    """Accelerations of prescribed joints: their rates differentiated along the motion; zero for held rates."""
    system = here.system
    if all(rates_are_held(system, c) for c in range(len(forces))):
        return tuple(jnp.zeros(len(joints)) for joints in system.wiring.prescribed)

    def rates(s: Scalar) -> tuple[Vector, ...]:
        later = PortBus(
            system, here.state, here.states, here.inputs, here.t + s, here.tick, before_rates=True, flow=Flow(s, forces)
        )
        return tuple(prescribed_rates(later, c, tick.t) for c in range(len(forces)))

    return jax.jvp(rates, (jnp.zeros(()),), (jnp.ones(()),))[1]


def _accelerate(
    system: System, c: int, state: State, force: Vector, acceleration: Vector, ticked: Scalar
) -> tuple[Vector, Vector]:
    """(vdot, force) of a spacecraft, computed without its drift; the force includes that of prescribed motion."""
    craft, joints = system.world.crafts[c], system.wiring.prescribed[c]
    # The drift does not change the physics, but it costs digits: m v^2 at 7500 m/s is far larger than the torques.
    still = without_drift(state.v)

    def solve(given: tuple[str, ...], a: Vector, failures: tuple[tuple[Failure, str], ...]) -> tuple[Vector, Vector]:
        if failures:  # a branch for each joint that may have stuck
            (first, joint), *rest = failures
            return cond(
                first.present(ticked),
                lambda: solve((*given, joint), jnp.append(a, 0.0), tuple(rest)),
                lambda: solve(given, a, tuple(rest)),
            )
        if not given:
            return forward_dynamics(craft, state.q, still, force), force
        return hybrid_dynamics(craft, state.q, still, force, given, a)

    if system.world.is_held(c):
        joints, acceleration = ("base", *joints), jnp.concatenate([jnp.zeros(6), acceleration])
    return solve(joints, acceleration, free_stuck_joints(system, c))


def derivative(
    system: System,
    plants: WorldState,
    state: SystemState,
    inputs: Inputs,
    tick: Tick,
    t: Scalar,
    t_inside: Scalar,
    *,
    holding: Holding | None = None,
    on: Flags | None = None,
    full: Vector | None = None,
) -> WorldRate:
    """Rates of all spacecraft, their ledgers and interactions included."""
    states, inner = plants.states, plants.interactions
    now = balances(system, states, state, inputs, tick, t, t_inside, holding=holding, inner=inner, on=on, full=full)
    crafts = tuple(_plant_rate(system, c, balance) for c, balance in enumerate(now.crafts))
    return WorldRate(crafts, now.interactions)


def _plant_rate(system: System, c: int, now: Balance) -> CraftStateRate:
    craft, state, X_NB = system.world.crafts[c], now.state, now.state.X_NB
    pushing = now.force - elastic_force(craft, state.q) - damping_force(craft, state.q, state.v)
    prescribed = system.wiring.prescribed[c] or system.world.is_held(c)
    of_com = motion_of_com_by_mass_matrix if prescribed else motion_of_com
    wrench, (com, velocity) = now.force[:6], of_com(craft, state.q, state.v)
    exchange = None
    if now.connection is not None:
        pushing = pushing - now.connection.slip  # which is recorded as heat
        exchange = Exchange(work=now.connection.pull @ state.v, impulse=now.connection.exchange)
    return CraftStateRate(
        state=state_rate(craft, state, now.vdot),
        ledger=Ledger(
            work=pushing @ state.v,
            dissipated=now.heat,
            impulse=X_NB.wrench_to_A(wrench),
            inner_work=pushing @ speeds_about_com(craft, state.q, state.v, velocity),
            angular_impulse_com=X_NB.R @ (angular(wrench) - cross(com, linear(wrench))),
            exchange=exchange,
        ),
    )
