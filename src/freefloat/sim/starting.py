"""How a system begins: parts are checked, wires found, memories filled, and the loop put at tick zero."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Clock, Command, JointRates, JointTorques, Software, State, ThrusterDuty, Truth, WheelTorques
from freefloat.model.ports import ticks_in
from freefloat.sim.input_ports import require_ports
from freefloat.sim.instant import RATE_PORT, Instant
from freefloat.sim.plant import Ledger, Plant
from freefloat.sim.software_checks import (
    checked_call,
    initial_memory,
    remembers,
    require_same_memory,
    require_software,
)
from freefloat.sim.system import Inputs, SoftwareState, System, SystemState
from freefloat.sim.wiring import SensorWires, SoftwareWires
from freefloat.values import LawError, ModelError
from freefloat.values.checks import require_quantity


def begin(system: System, states: Iterable[State], inputs: Inputs | None = None) -> tuple[System, SystemState]:
    """Check a system, let its software see the start, and put the loop at tick zero.

    `inputs`: what comes from outside at the first tick; a measurement that does not is as it is inside.
    """
    require_quantity("The step dt", system.dt, "s", above=0.0)
    states = tuple(jax.tree.map(jnp.asarray, state) for state in system.world.require_states(states))
    _require_held_at_rest(system, states)
    require_ports(system, states)
    plants = tuple(Plant(state, jax.tree.map(jnp.asarray, Ledger.empty())) for state in states)
    loop = SystemState(tick=jnp.zeros((), jnp.int32), plants=plants)
    system, loop = _begin_sensors(system, loop)
    valves = tuple(jax.tree.map(jnp.asarray, thrusters.begin()) for thrusters in system.thrusters)
    loop = dataclasses.replace(loop, valves=valves)
    drivers: dict[tuple[int, str], int] = {}
    for k in range(len(system.software)):
        system, loop = _begin_software(system, loop, k, drivers, inputs or {})
    prescribed = tuple(_prescribed(system, c) for c in range(len(states)))
    return dataclasses.replace(system, wiring=dataclasses.replace(system.wiring, prescribed=prescribed)), loop


def _require_held_at_rest(system: System, states: tuple[State, ...]) -> None:
    for c, state in enumerate(states):
        if system.world.is_held(c) and np.any(np.asarray(state.V_NB)):
            name = system.world.names[c]
            raise ModelError(f"The base of '{name}' is held, but its start moves. Start it with a base at rest.")


def _begin_sensors(system: System, loop: SystemState) -> tuple[System, SystemState]:
    wires, memories = [], []
    for sensor in system.sensors:
        ticks = 1 if sensor.period is None else _ticks(sensor, system.dt)
        require_quantity(f"{sensor.title}: latency", sensor.latency, "s", least=0.0)
        clock = Clock(t=jnp.zeros(()), tick=loop.tick, dt=system.dt, hold=ticks * system.dt)
        memory = sensor.begin(Truth(system.world, loop.states, system.on(sensor)), clock)
        gives = tuple(sensor.read(memory, clock)[0])
        wires.append(SensorWires(craft=system.on(sensor), gives=gives, ticks=ticks))
        memories.append(jax.tree.map(jnp.asarray, memory))
    for number, one in enumerate(wires):
        for other, sensor in zip(wires[:number], system.sensors, strict=False):
            if twice := [name for name in one.gives if one.craft == other.craft and name in other.gives]:
                second = system.sensors[number].title
                raise LawError(f"{sensor.title} and {second} both measure '{twice[0]}'. Give one of them a name=...")
    wiring = dataclasses.replace(system.wiring, sensors=tuple(wires), software=())
    return dataclasses.replace(system, wiring=wiring), dataclasses.replace(loop, sensors=tuple(memories))


def _ticks(part: Any, dt: float) -> int:
    require_quantity(f"{part.title}: period", part.period, "s", above=0.0)
    return ticks_in(part.title, part.period, dt)


def _begin_software(
    system: System, loop: SystemState, k: int, drivers: dict[tuple[int, str], int], inputs: Inputs
) -> tuple[System, SystemState]:
    """Fill the memory of software number k and find its wires; the ones before it have theirs."""
    law = system.software[k]
    require_software(law)
    c, ticks = system.on(law), 0 if law.period is None else _ticks(law, system.dt)
    here = Instant(system, loop, loop.states, inputs, jnp.zeros(()), loop.tick, at_start=True)
    with checked_call(law, "begin"):
        begun = law.begin(here.measurements(k))
    loop = dataclasses.replace(loop, software=(*loop.software, SoftwareState(initial_memory(law, begun))))
    commands, messages, asked = _first_answer(system, loop, k)
    _require_one_driver(system, k, c, commands, drivers)
    _require_thrusters(system, law, c, commands)
    rates_from_outside = system.world.prefix(c) + RATE_PORT in system.ports
    wires = SoftwareWires(
        craft=c,
        ticks=ticks,
        remembers=remembers(law),
        prescribes=()
        if rates_from_outside
        else tuple(j for x in commands if isinstance(x, JointRates) for j in x.joints),
        pushes=any(not isinstance(x, JointRates) for x in commands),
        tells=tuple(messages),
        sensors=tuple(
            i for i, sensor in enumerate(system.wiring.sensors) if sensor.craft == c and asked & set(sensor.gives)
        ),
    )
    if ticks:
        empty = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), (commands, messages))
        held = dataclasses.replace(loop.software[k], commands=empty[0], messages=empty[1])
        loop = dataclasses.replace(loop, software=(*loop.software[:k], held))
    wiring = dataclasses.replace(system.wiring, software=(*system.wiring.software, wires))
    return dataclasses.replace(system, wiring=wiring), loop


def _first_answer(system: System, loop: SystemState, k: int) -> tuple[tuple[Command, ...], dict[str, Any], set[str]]:
    """Shapes of what software number k commands and tells, and the names that it reads."""
    law, asked = system.software[k], set[str]()

    def answer(loop: SystemState, t: Any) -> Any:
        here = Instant(system, loop, loop.states, zero_inputs(system), t, loop.tick, at_start=True)
        memory = loop.software[k].memory
        if remembers(law):
            with checked_call(law, "remember"):
                new = law.remember(memory, here.measurements(k), here.remembering_clock(k))
            require_same_memory(law, memory, new)
        found = here.wanted(k), here.hear(k)
        asked.update(here.asked.get(k, ()))
        return found

    commands, messages = jax.eval_shape(answer, loop, jnp.zeros(()))
    return commands, messages, asked


def _require_one_driver(
    system: System, k: int, c: int, commands: tuple[Command, ...], drivers: dict[tuple[int, str], int]
) -> None:
    for command in commands:
        kind = "wheel" if isinstance(command, WheelTorques) else "joint"
        names = command.wheels if isinstance(command, WheelTorques) else ()
        names = command.joints if isinstance(command, (JointRates, JointTorques)) else names
        for name in names:
            if (other := drivers.setdefault((c, name), k)) != k or names.count(name) > 1:
                first, second = system.software[other].title, system.software[k].title
                raise LawError(
                    f"{kind.capitalize()} '{name}' is driven by two parts, {first} and {second}. Keep one, or let "
                    "one contain the other."
                )


def _require_thrusters(system: System, law: Software, c: int, commands: tuple[Command, ...]) -> None:
    """Refuse duties of thrusters that are not there, and of a wrong number of them."""
    sets = {thrusters.name: len(thrusters.nozzles) for thrusters in system.thrusters if system.on(thrusters) == c}
    for command in commands:
        if not isinstance(command, ThrusterDuty):
            continue
        if command.thrusters not in sets if command.thrusters else len(sets) != 1:
            known = ", ".join(sets) or "none"
            raise LawError(
                f"{law.title} commands the thrusters '{command.thrusters}', which are not there. Sets of thrusters: "
                f"{known}. Give ff.effects.Thrusters to the run, and name the set where there are several."
            )
        size = sets[command.thrusters or next(iter(sets))]
        if command.duty.shape != (size,):
            raise LawError(
                f"{law.title}.command must give {size} numbers, one for each thruster, in ThrusterDuty, got shape "
                f"{command.duty.shape}."
            )


def _prescribed(system: System, c: int) -> tuple[str, ...]:
    if system.world.prefix(c) + RATE_PORT in system.ports:
        return system.world.crafts[c].layout.moving_joints
    return tuple(j for wires in system.wiring.software if wires.craft == c for j in wires.prescribes)


def zero_inputs(system: System) -> dict[str, Any]:
    """Nothing comes from outside: zeros at every port."""
    from freefloat.sim.input_ports import port_shape

    return {port: jnp.zeros(port_shape(system, port)) for port in system.ports}
