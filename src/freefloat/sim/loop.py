"""One step of a system: what is due at a tick, then the motion until the next. Pure functions of a system's state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import damping_force, elastic_force, forward_dynamics, hybrid_dynamics, impose_rates
from freefloat.dynamics.hybrid import jump_to_rates
from freefloat.dynamics.inner_motion import (
    free_of_drift,
    motion_of_com,
    motion_of_com_by_mass_matrix,
    speeds_about_com,
    without_drift,
)
from freefloat.dynamics.state_rate import state_rate
from freefloat.effects.failures import BlindSensor, OpenThruster, StuckJoint
from freefloat.effects.thrusters import Thrusters
from freefloat.model import Clock, JointRates, Sensor, Spacecraft, State, ThrusterDuty, Truth
from freefloat.model.ports import ticks_in
from freefloat.sim.instant import Flow, Instant, command_inputs
from freefloat.sim.integrators import rk4_step
from freefloat.sim.plant import Ledger, Plant, PlantRate, Plants, WorldRate
from freefloat.sim.software_checks import checked_call, require_same_memory
from freefloat.sim.system import Inputs, SoftwareState, System, SystemState, blinds
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector

Due = Callable[[int], Flag | bool]  # whether something that comes every so many ticks comes now


@dataclasses.dataclass(frozen=True)
class Tick:
    """When the present step began, and the number of its tick."""

    t: Scalar  # [s]
    number: Numeric  # int32


def step(system: System, loop: SystemState, inputs: Inputs, parts: Numeric | None = None) -> SystemState:
    """Advance by one tick: sense and decide what is due, let prescribed joints take their rates, integrate.

    With `parts` a tick is integrated in so many steps, one in each call, and `loop.tick` counts those. Sensors and
    software act at whole ticks all the same: only the integration becomes finer.
    """
    h = system.dt if parts is None else system.dt / parts
    tick = tick_of(system, loop, parts)
    loop = act(system, loop, inputs, tick, parts)
    plants = rk4_step(lambda p, *times: derivative(system, p, loop, inputs, tick, *times), loop.plants, tick.t, h)
    return dataclasses.replace(loop, tick=loop.tick + 1, plants=plants)


def tick_of(system: System, loop: SystemState, parts: Numeric | None = None) -> Tick:
    """Time and tick of a state; `parts` as in `step`."""
    if parts is None:
        return Tick(loop.tick * system.dt, loop.tick)
    return Tick(loop.tick * (system.dt / parts), loop.tick // parts)


# ---- at a tick


def act(system: System, loop: SystemState, inputs: Inputs, tick: Tick, parts: Numeric | None = None) -> SystemState:
    """What happens at a tick: sensors and software whose turn it is, valves, and joints that take their rates.

    Software runs in its order. Rates that it commands take effect before the next one's sensors read: a gyro that is
    read at the same tick feels the reaction already.
    """
    states, sensed, count = _with_rates_from_outside(system, loop, inputs, tick.t), set[int](), loop.tick

    def due(ticks: int) -> Flag | bool:
        return True if parts is None and ticks == 1 else count % (ticks if parts is None else ticks * parts) == 0

    def sense(some: Iterable[int], loop: SystemState) -> SystemState:
        for i in some:
            if i not in sensed:
                sensed.add(i)
                loop = _sense(system, loop, states, i, tick, due)
        return loop

    for k, wires in enumerate(system.wiring.software):
        loop = sense(wires.sensors, loop)
        loop = _renew(Instant(system, loop, states, inputs, tick.t, tick.number), k, due)
        somebody_looks = k + 1 < len(system.software) or len(sensed) < len(system.sensors) or system.thrusters
        if wires.prescribes and somebody_looks:
            states = _with_rates_until(Instant(system, loop, states, inputs, tick.t, tick.number, before_rates=True), k)
    loop = sense(range(len(system.sensors)), loop)
    loop = _move_valves(Instant(system, loop, states, inputs, tick.t, tick.number), due)
    return dataclasses.replace(loop, plants=apply_prescribed_rates(system, loop, inputs, tick))


def _sense(system: System, loop: SystemState, states: tuple[State, ...], i: int, tick: Tick, due: Due) -> SystemState:
    """Sensor number i takes a sample if it is its turn."""
    sensor, wires, old = system.sensors[i], system.wiring.sensors[i], loop.sensors[i]
    clock = Clock(t=tick.t, tick=tick.number, dt=system.dt, hold=sensor.period or system.dt)
    truth, works = Truth(system.world, states, wires.craft), _works(system, sensor, tick.t)

    def sample() -> Any:
        with checked_call(sensor, "measure"):
            return sensor.sense(old, truth, tick.number // wires.ticks, clock, works)

    return dataclasses.replace(loop, sensors=_put(loop.sensors, i, _if_due(due(wires.ticks), sample, old)))


def _works(system: System, sensor: Sensor, t: Scalar) -> Flag:
    working = jnp.asarray(True)
    for failure in system.failures:
        if isinstance(failure, BlindSensor) and system.on(failure) == system.on(sensor) and blinds(failure, sensor):
            working = working & ~failure.present(t)
    return working


def _renew(here: Instant, k: int, due: Due) -> SystemState:
    """Software number k remembers and, where it is sampled, answers, if it is its turn."""
    law, wires, loop = here.system.software[k], here.system.wiring.software[k], here.loop
    old, sampled = loop.software[k], law.period is not None
    if not sampled and not wires.remembers:
        return loop

    def answer() -> SoftwareState:
        memory = old.memory
        if wires.remembers:
            with checked_call(law, "remember"):
                new = law.remember(memory, here.measurements(k), here.remembering_clock(k))
            memory = require_same_memory(law, memory, new)
        if not sampled:
            return SoftwareState(memory)
        after = here.with_memory(k, memory)
        return SoftwareState(memory, after.ask(k), after.hear(k))

    new = _if_due(due(wires.ticks or 1), answer, old)
    return dataclasses.replace(loop, software=_put(loop.software, k, new))


def _if_due(due: Flag | bool, new: Any, old: Any) -> Any:
    """What is new, if it is due; a branch, so that it costs nothing in between."""
    return new() if due is True else jax.lax.cond(due, new, lambda: old)


def _put(entries: tuple, place: int, entry: Any) -> tuple:
    return (*entries[:place], entry, *entries[place + 1 :])


def _move_valves(here: Instant, due: Due) -> SystemState:
    """Thrusters open and close."""
    system, loop = here.system, here.loop
    valves = []
    for thrusters, old in zip(system.thrusters, loop.valves, strict=True):
        ticks = 1 if thrusters.period is None else ticks_in(thrusters.title, thrusters.period, system.dt)
        clock = Clock(t=here.t, tick=here.tick, dt=system.dt, hold=ticks * system.dt)
        duty, stuck = _duty(here, thrusters), _stuck_open(system, thrusters, here.t)
        move = partial(thrusters.actuate, old, duty, clock, stuck)
        valves.append(_if_due(due(ticks), move, old))
    return dataclasses.replace(loop, valves=tuple(valves))


def _duty(here: Instant, thrusters: Thrusters) -> Vector:
    """What all software, or somebody outside, asks of a set of thrusters."""
    system, c = here.system, here.system.on(thrusters)
    outside = [one for one in command_inputs(system, c, here.inputs) if isinstance(one, ThrusterDuty)]
    if outside:  # the thrusters of all sets, one set after the other
        sets = [one for one in system.thrusters if system.on(one) == c]
        first = sum(len(one.nozzles) for one in sets[: sets.index(thrusters)])
        return outside[0].duty[first : first + len(thrusters.nozzles)]
    asked = [
        one
        for k, wires in enumerate(system.wiring.software)
        if wires.craft == c and wires.pushes
        for one in here.commands(k)
        if isinstance(one, ThrusterDuty) and one.thrusters in ("", thrusters.name)
    ]
    return sum((one.duty for one in asked), start=jnp.zeros(len(thrusters.nozzles)))


def _stuck_open(system: System, thrusters: Thrusters, t: Scalar) -> Vector:
    stuck = jnp.zeros(len(thrusters.nozzles))
    for failure in system.failures:
        if isinstance(failure, OpenThruster) and system.on(failure) == system.on(thrusters):
            mine = np.array([float(nozzle.name == failure.thruster) for nozzle in thrusters.nozzles])
            stuck = jnp.maximum(stuck, jnp.where(failure.present(t), 1.0, 0.0) * mine)
    return stuck


# ---- prescribed motion


def with_prescribed_rates(system: System, c: int, state: State, rates: Vector) -> State:
    """The state with prescribed joints at their rates, a held base at rest, and all else as momentum has it."""
    craft, joints = system.world.crafts[c], system.wiring.prescribed[c]
    if system.world.is_held(c):
        joints, rates = ("base", *joints), jnp.concatenate([jnp.zeros(6), rates])
    if not joints:
        return state
    return dataclasses.replace(state, v=impose_rates(craft, state.q, state.v, joints, rates))


def _with_rates_from_outside(system: System, loop: SystemState, inputs: Inputs, t: Scalar) -> tuple[State, ...]:
    states = loop.states
    for c in range(len(states)):
        rates = [one.rates for one in command_inputs(system, c, inputs) if isinstance(one, JointRates)]
        if rates:
            states = _put(states, c, with_prescribed_rates(system, c, states[c], stop_stuck(system, c, rates[0], t)))
    return states


def _with_rates_until(here: Instant, k: int) -> tuple[State, ...]:
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
    return _put(states, c, with_prescribed_rates(system, c, states[c], rates))


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
    return tuple(
        _stop_stuck_joints(system, c, _jump(system, c, plant, *_given(system, c, here, tick.t)), tick.t)
        for c, plant in enumerate(loop.plants)
    )


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
    return Plant(dataclasses.replace(state, v=v), books)


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
            return jax.lax.cond(
                first.present(t), lambda: stop((*stuck, first.joint), tuple(others)), lambda: stop(stuck, tuple(others))
            )
        rates = jnp.concatenate([kept, jnp.zeros(len(stuck))])
        return _jump(system, c, plant, (*base, *names, *stuck), rates) if stuck else plant

    return stop((), tuple(failure for failure in stuck_joints(system, c) if failure.joint not in names))


# ---- between ticks


@record
class Balance:
    """Motion of a spacecraft and the forces on it at an instant, all consistent with one another."""

    state: State  # prescribed joints at their rates
    vdot: Vector  # acceleration
    force: Vector  # generalised force: effects, actuators, inputs, what prescribed motion needs, elasticity, damping
    heat: Scalar  # power lost in damping [W]


def balances(
    system: System,
    states: tuple[State, ...],
    loop: SystemState,
    inputs: Inputs,
    tick: Tick,
    t: Scalar,
    t_inside: Scalar,
) -> tuple[Balance, ...]:
    """Accelerations and forces at time t of the step since a tick; `t_inside`: see integrators."""
    crafts, every = system.world.crafts, range(len(states))
    before = Instant(system, loop, states, inputs, t, tick.number, before_rates=True)
    rates = [stop_stuck(system, c, before.prescribed_rates(c), tick.t) for c in every]
    states = tuple(with_prescribed_rates(system, c, states[c], rates[c]) for c in every)
    here = Instant(system, loop, states, inputs, t_inside, tick.number)
    dampings = [damping_force(crafts[c], states[c].v) for c in every]
    forces = tuple(here.force(c, tick.t) + elastic_force(crafts[c], states[c].q) + dampings[c] for c in every)
    accelerations = _prescribed_accelerations(here, forces, tick)
    found = []
    for c in every:
        vdot, force = _accelerate(system, c, states[c], forces[c], accelerations[c], tick.t)
        heat = -(dampings[c] @ states[c].v)
        found.append(Balance(state=states[c], vdot=free_of_drift(vdot, states[c].v), force=force, heat=heat))
    return tuple(found)


def rates_are_held(system: System, c: int) -> bool:
    """True if nothing prescribes the rates of a spacecraft's joints anew within a step."""
    return all(wires.ticks for wires in system.wiring.software if wires.craft == c and wires.prescribes)


def _prescribed_accelerations(here: Instant, forces: tuple[Vector, ...], tick: Tick) -> tuple[Vector, ...]:
    """Accelerations of prescribed joints: their rates, differentiated along the motion; held rates do not change."""
    system = here.system
    if all(rates_are_held(system, c) for c in range(len(forces))):
        return tuple(jnp.zeros(len(joints)) for joints in system.wiring.prescribed)

    def rates(s: Scalar) -> tuple[Vector, ...]:
        later = Instant(
            system, here.loop, here.states, here.inputs, here.t + s, here.tick, before_rates=True, flow=Flow(s, forces)
        )
        return tuple(stop_stuck(system, c, later.prescribed_rates(c), tick.t) for c in range(len(forces)))

    return jax.jvp(rates, (jnp.zeros(()),), (jnp.ones(()),))[1]


def _accelerate(
    system: System, c: int, state: State, force: Vector, acceleration: Vector, ticked: Scalar
) -> tuple[Vector, Vector]:
    """(vdot, force) of a spacecraft without its drift, with what prescribed motion needs."""
    craft, joints = system.world.crafts[c], system.wiring.prescribed[c]
    # Physics does not know the drift, but rounding does: m v^2 of 7500 m/s would drown the torques.
    still = without_drift(state.v)

    def solve(given: tuple[str, ...], a: Vector, failures: tuple[StuckJoint, ...]) -> tuple[Vector, Vector]:
        if failures:  # a branch for each joint that may have stuck
            first, *rest = failures
            return jax.lax.cond(
                first.present(ticked),
                lambda: solve((*given, first.joint), jnp.append(a, 0.0), tuple(rest)),
                lambda: solve(given, a, tuple(rest)),
            )
        if not given:
            return forward_dynamics(craft, state.q, still, force), force
        return hybrid_dynamics(craft, state.q, still, force, given, a)

    if system.world.is_held(c):
        joints, acceleration = ("base", *joints), jnp.concatenate([jnp.zeros(6), acceleration])
    free = tuple(failure for failure in stuck_joints(system, c) if failure.joint not in joints)
    return solve(joints, acceleration, free)


def derivative(
    system: System, plants: Plants, loop: SystemState, inputs: Inputs, tick: Tick, t: Scalar, t_inside: Scalar
) -> WorldRate:
    """Rates of all plants, their books included."""
    now = balances(system, tuple(plant.state for plant in plants), loop, inputs, tick, t, t_inside)
    return WorldRate(tuple(_plant_rate(system, c, one) for c, one in enumerate(now)))


def _plant_rate(system: System, c: int, now: Balance) -> PlantRate:
    craft, state, X_NB = system.world.crafts[c], now.state, now.state.X_NB
    pushing = now.force - elastic_force(craft, state.q) - damping_force(craft, state.v)
    prescribed = system.wiring.prescribed[c] or system.world.is_held(c)
    of_com = motion_of_com_by_mass_matrix if prescribed else motion_of_com
    wrench, (com, velocity) = now.force[:6], of_com(craft, state.q, state.v)
    return PlantRate(
        state=state_rate(craft, state, now.vdot),
        ledger=Ledger(
            work=pushing @ state.v,
            dissipated=now.heat,
            impulse=X_NB.wrench_to_A(wrench),
            inner_work=pushing @ speeds_about_com(craft, state.q, state.v, velocity),
            turning=X_NB.R @ (angular(wrench) - cross(com, linear(wrench))),
        ),
    )
