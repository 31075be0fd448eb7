"""How a system begins: parts are checked, wires are found, memories are filled, and the state is that of tick zero."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat import engine
from freefloat.model import Clock, Command, PortCommand, State
from freefloat.model.actuator import commanded_parts
from freefloat.model.part_kinds import ticks_in
from freefloat.sim.events.clearance_watch import begin_clearances
from freefloat.sim.events.held_start import require_free_joints, start_held
from freefloat.sim.motion.forces_before import forces_at_start
from freefloat.sim.motion.full_wheels import begin_wheel_log, limited_wheels
from freefloat.sim.motion.interactions import begin_interactions, require_apart
from freefloat.sim.motion.measurement_bus import truth_of
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.constraint_state import ConstraintState
from freefloat.sim.system.craft_state import CraftState, Ledger
from freefloat.sim.system.input_ports import commanded_ports, port_shape
from freefloat.sim.system.software_checks import (
    check_parts,
    checked_call,
    initial_memory,
    is_switch,
    ports_for,
    remembers,
    require_actuator,
    require_effect,
    require_same_memory,
    require_software,
)
from freefloat.sim.system.system import Inputs, SensorWires, SoftwareState, SoftwareWires, System, SystemState, Wiring
from freefloat.sim.system.unmeasured import unmeasured_message
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.sim.system.world_state import WorldState
from freefloat.values import ModelError, SoftwareError
from freefloat.values.arrays import Scalar, is_traced
from freefloat.values.checks import require_quantity
from freefloat.values.tracing import result_shapes

Held = ConstraintState | tuple[()]


def begin(system: System, states: Iterable[State], inputs: Inputs | None = None) -> tuple[System, SystemState]:
    """Check a system and let its software read the start; the system with its wires, and its state at tick zero.

    `inputs`: inputs at the first tick; a measurement that is not among them is taken from the simulation.
    """
    require_quantity("The step dt", system.dt, "s", above=0.0)
    states, given = system.world.require_states(states), dict(inputs or {})
    if is_traced(system, states, given):
        states, held = start_held(system, states)
        wiring, state = _begin_system(system, states, held, given)
        state = dataclasses.replace(state, clearances=begin_clearances(system, None))
        return _with_limited_wheels(system, wiring, state)
    states = tuple(jax.tree.map(np.asarray, craft_state) for craft_state in states)
    _require_held_at_rest(system, states)
    states, held = start_held(system, states)
    require_apart(system, states)
    learnt: list[Wiring] = []

    def start(system: System, states: tuple[State, ...], held: Held, inputs: Inputs) -> SystemState:
        wiring, state = _begin_system(system, states, held, inputs)
        learnt[:] = [wiring]
        return state

    try:
        program = compile_system(start, system, states, held, given, notes=lambda: learnt[0])
        wiring, state = program.notes, program(states, held, given)
    except Exception as error:
        if not (engine.needs_numbers(error) or isinstance(error, engine.EngineError)):
            raise
        wiring, state = _begin_system(
            system, states, held, given
        )  # software may plan with NumPy or SciPy: once, as it is written
    state = dataclasses.replace(state, constraints=held, clearances=begin_clearances(system, states))
    return _with_limited_wheels(system, wiring, state)


def _with_limited_wheels(system: System, wiring: Wiring, state: SystemState) -> tuple[System, SystemState]:
    """The system and its state, with only those driven wheels in the wiring that can become full."""
    wiring = dataclasses.replace(wiring, limited_wheels=limited_wheels(system.world, wiring.limited_wheels))
    system = dataclasses.replace(system, wiring=wiring)
    plants = dataclasses.replace(state.plants, wheels=begin_wheel_log(system))
    return system, dataclasses.replace(state, plants=plants)


def _begin_system(system: System, states: tuple[State, ...], held: Held, inputs: Inputs) -> tuple[Wiring, SystemState]:
    """The wiring of a system and its state at tick zero."""
    states = tuple(jax.tree.map(jnp.asarray, craft_state) for craft_state in states)
    for port in system.ports:
        port_shape(system, port)  # raises an error for one that does not exist
    by_inputs = tuple(_prescribed_by_inputs(system, c) for c in range(len(states)))
    system = dataclasses.replace(system, wiring=dataclasses.replace(system.wiring, prescribed_by_inputs=by_inputs))
    for effect in system.effects:
        require_effect(effect)
    connected = system.world.has_events
    crafts = tuple(CraftState(x, jax.tree.map(jnp.asarray, Ledger.empty(connected=connected))) for x in states)
    plants = WorldState(crafts, interactions=jax.tree.map(jnp.asarray, begin_interactions(system)))
    state = SystemState(tick=jnp.zeros((), jnp.int32), plants=plants, constraints=jax.tree.map(jnp.asarray, held))
    system, state = _begin_sensors(system, state)
    state = dataclasses.replace(state, actuators=_begin_actuators(system))
    drivers: dict[tuple[int, str], int] = {}
    objections = _Objections()
    for k in range(len(system.software)):
        system, state = _begin_software(system, state, k, drivers, inputs, objections)
    objections.raise_all(system)
    prescribed = tuple(_prescribed_joints(system, c) for c in range(len(states)))
    driven = tuple(wheel for c in range(len(states)) for wheel in _driven_wheels(system, c, drivers))
    resting = _resting_ports(system)
    wiring = dataclasses.replace(system.wiring, prescribed=prescribed, limited_wheels=driven, resting=resting)
    system = dataclasses.replace(system, wiring=wiring)
    require_free_joints(system)
    return system.wiring, state


def _require_held_at_rest(system: System, states: tuple[State, ...]) -> None:
    for c, state in enumerate(states):
        if system.world.is_held(c) and np.any(np.asarray(state.V_NB)):
            name = system.world.names[c]
            raise ModelError(f"The base of '{name}' is held, but its start moves. Start it with a base at rest.")


@dataclasses.dataclass(frozen=True)
class _Objections:
    """Faults of the software, collected until all software has been checked."""

    missing: dict[int, set[str]] = dataclasses.field(
        default_factory=dict
    )  # names that no sensor measures, by the number of the software that reads them
    others: list[str] = dataclasses.field(default_factory=list)

    def raise_all(self, system: System, last: SoftwareError | None = None) -> None:
        """Raise one error with every fault, if there is one besides the last."""
        if found := [unmeasured_message(system, k, names) for k, names in self.missing.items()] + self.others:
            raise SoftwareError("\n".join([*found, *([str(last)] if last else [])])) from last


def _begin_sensors(system: System, state: SystemState) -> tuple[System, SystemState]:
    wires, memories = [], []
    for sensor in system.sensors:
        ticks = 1 if sensor.period is None else _ticks(sensor, system.dt)
        require_quantity(f"{sensor.title}: latency", sensor.latency, "s", least=0.0)
        clock = Clock(t=jnp.zeros(()), tick=state.tick, dt=system.dt, hold=ticks * system.dt)
        c = system.craft_index(sensor)
        memory = sensor.begin(truth_of(system, state, state.states, c, forces_at_start(system, state)), clock)
        gives = tuple(sensor.read(memory, clock)[0])
        wires.append(SensorWires(craft=system.craft_index(sensor), gives=gives, ticks=ticks))
        memories.append(jax.tree.map(jnp.asarray, memory))
    for number, own in enumerate(wires):
        for other, sensor in zip(wires[:number], system.sensors, strict=False):
            if twice := [name for name in own.gives if own.craft == other.craft and name in other.gives]:
                second = system.sensors[number].title
                raise SoftwareError(
                    f"{sensor.title} and {second} both measure '{twice[0]}'. Give one of them a name=..."
                )
    wiring = dataclasses.replace(system.wiring, sensors=tuple(wires), software=())
    return dataclasses.replace(system, wiring=wiring), dataclasses.replace(state, sensors=tuple(memories))


def _ticks(part: Any, dt: float) -> int:
    require_quantity(f"{part.title}: period", part.period, "s", above=0.0)
    return ticks_in(part.title, part.period, dt)


def _begin_software(
    system: System,
    state: SystemState,
    k: int,
    drivers: dict[tuple[int, str], int],
    inputs: Inputs,
    objections: _Objections,
) -> tuple[System, SystemState]:
    """Fill the memory of software number k and find its wires; those of the software before it are known already."""
    software, missing = system.software[k], objections.missing
    try:
        require_software(software)
        c, ticks = system.craft_index(software), 0 if software.period is None else _ticks(software, system.dt)
        here = port_bus_at_start(system, state, inputs, jnp.zeros(()), missing)
        with checked_call(software, "begin"):
            begun = software.begin(here.measurements(k))
        state = dataclasses.replace(state, software=(*state.software, SoftwareState(initial_memory(software, begun))))
        commands, messages, names_read = _first_answer(system, state, k, missing)
    except SoftwareError as error:  # software after it may read its messages: nothing more can be checked
        objections.raise_all(system, error)
        raise
    for command in commands:
        try:
            _require_possible(system, k, command, drivers)
        except SoftwareError as error:
            objections.others.append(str(error))
    wires = SoftwareWires(
        craft=c,
        ticks=ticks,
        remembers=remembers(software),
        commands=tuple(dict.fromkeys(command.port for command in commands)),
        prescribes=_prescribed_by_software(system, c, commands),
        tells=tuple(messages),
        sensors=tuple(
            i for i, sensor in enumerate(system.wiring.sensors) if sensor.craft == c and names_read & set(sensor.gives)
        ),
        hears=tuple(
            j for j, other in enumerate(system.wiring.software) if other.craft == c and names_read & set(other.tells)
        ),
    )
    if ticks:
        empty = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), (commands, messages))
        held = dataclasses.replace(state.software[k], commands=empty[0], messages=empty[1])
        state = dataclasses.replace(state, software=(*state.software[:k], held))
    wiring = dataclasses.replace(system.wiring, software=(*system.wiring.software, wires))
    return dataclasses.replace(system, wiring=wiring), state


def _begin_actuators(system: System) -> tuple[Any, ...]:
    """Memories of all given actuators at the start."""
    memories = []
    for actuator in system.actuators:
        require_actuator(actuator)
        if actuator.period is not None:
            _ticks(actuator, system.dt)
        memories.append(initial_memory(actuator, actuator.begin(system.spacecraft_of(actuator))))
    return tuple(memories)


def _require_possible(system: System, k: int, command: Command, drivers: dict[tuple[int, str], int]) -> None:
    """Raise an error for a command that no actuator can follow."""
    software, c = system.software[k], system.craft_index(system.software[k])
    found = ports_for(system, c, command)
    if not found:
        raise SoftwareError(_unknown_port_text(system, k, command))
    for actuator, port in found:
        if is_switch(actuator):
            check_parts(software, system.world.crafts[c], command, actuator, port)
        parts = command.parts or port.parts
        driven = [what for part, what in zip(port.parts, port.drives, strict=False) if part in parts]
        for what in driven:
            _require_one_driver(system, k, what, drivers)


def _unknown_port_text(system: System, k: int, command: Command) -> str:
    """Sentence for a command to a port that no actuator of the spacecraft accepts."""
    software, craft = system.software[k], system.spacecraft_of(system.software[k])
    c = system.craft_index(software)
    ports = [port.name for _, actuator in system.actuators_of(c) for port in actuator.accepts(craft)]
    remedy = "Add the set: Thrusters(...)." if command.port.endswith(".duty") else "Add an actuator that accepts it."
    parts = f" for {', '.join(command.parts)}" if command.parts else ""
    return (
        f"{software.title} commands the port '{command.port}'{parts}, which no actuator of spacecraft '{craft.name}' "
        f"accepts. Ports: {', '.join(ports)}. {remedy}"
    )


def _first_answer(
    system: System, state: SystemState, k: int, missing: dict[int, set[str]]
) -> tuple[tuple[Command, ...], dict[str, Any], set[str]]:
    """Shapes of the commands and messages of software number k, and the names that it reads."""
    software, names_read = system.software[k], set[str]()

    def first_answer(state: SystemState, t: Any) -> Any:
        here = port_bus_at_start(system, state, zero_inputs(system), t, missing)
        memory = state.software[k].memory
        if remembers(software):
            with checked_call(software, "remember"):
                new = software.remember(memory, here.measurements(k), here.remembering_clock(k))
            require_same_memory(software, memory, new)
        found = here.requested_commands(k), here.software_messages(k)
        names_read.update(here.asked.get(k, ()))
        return found

    commands, messages = result_shapes(first_answer, state, jnp.zeros(()))
    return commands, messages, names_read


def _require_one_driver(system: System, k: int, name: str, drivers: dict[tuple[int, str], int]) -> None:
    """Raise an error for a joint or wheel that another command drives too; `drivers`: software by what it drives."""
    software, c = system.software[k], system.craft_index(system.software[k])
    kind = "Wheel" if name in system.world.crafts[c].wheel_names else "Joint"
    other = drivers.get((c, name))
    if other == k:
        raise SoftwareError(f"{kind} '{name}' is driven twice by {software.title}. Give it one command.")
    if other is not None:
        raise SoftwareError(
            f"{kind} '{name}' is driven by two parts, {system.software[other].title} and {software.title}. Keep "
            "one, or let one contain the other."
        )
    drivers[c, name] = k


def _prescribed_by(system: System, c: int, commands: Sequence[Command]) -> tuple[str, ...]:
    """Coordinates of a spacecraft whose rates these commands prescribe."""
    craft, found = system.world.crafts[c], ()
    for _, actuator in system.actuators_of(c) if commands else ():
        ports = actuator.accepts(craft)
        parts = {port.name: commanded_parts(port, [x for x in commands if port.takes(x)]) for port in ports}
        found += actuator.prescribes(craft, parts) if any(parts.values()) else ()
    return found


def _prescribed_by_inputs(system: System, c: int) -> tuple[str, ...]:
    return _prescribed_by(
        system, c, [PortCommand(port.name, np.zeros(0)) for port in commanded_ports(system, c).values()]
    )


def _prescribed_by_software(system: System, c: int, commands: Sequence[Command]) -> tuple[str, ...]:
    replaced = {port.name for port in commanded_ports(system, c).values()}
    return _prescribed_by(system, c, [command for command in commands if command.port not in replaced])


def _prescribed_joints(system: System, c: int) -> tuple[str, ...]:
    by_software = (j for wires in system.wiring.software if wires.craft == c for j in wires.prescribes)
    names = (*system.wiring.prescribed_by_inputs[c], *by_software)
    if twice := [name for name in names if names.count(name) > 1]:
        raise SoftwareError(
            f"The rate of '{twice[0]}' is prescribed twice: by an input port and by software. Keep one."
        )
    return names


def _driven_wheels(system: System, c: int, drivers: dict[tuple[int, str], int]) -> list[tuple[int, str]]:
    """Wheels of a spacecraft that software or an input port drives: number of the spacecraft, name."""
    craft = system.world.crafts[c]
    outside = {what for port in commanded_ports(system, c).values() for what in port.drives}
    return [(c, name) for name in craft.wheel_names if name in outside or (c, name) in drivers]


def _resting_ports(system: System) -> tuple[str, ...]:
    """Full names of the ports of given actuators that neither software nor an input port commands."""
    found = []
    for actuator in system.actuators:
        c = system.craft_index(actuator)
        commanded = {name for wires in system.wiring.software if wires.craft == c for name in wires.commands}
        commanded |= {port.name for port in commanded_ports(system, c).values()}
        ports = actuator.accepts(system.world.crafts[c])
        found += [system.world.prefix(c) + port.name for port in ports if not commanded & set(port.names)]
    return tuple(found)


def port_bus_at_start(
    system: System, state: SystemState, inputs: Inputs, t: Scalar, missing: dict[int, set[str]] | None = None
) -> PortBus:
    """Ports before the first tick: software runs as if its tick were now, and sensors as if they had no latency."""
    forces = forces_at_start(system, state)
    return PortBus(system, state, state.states, inputs, t, state.tick, at_start=True, missing=missing, forces=forces)


def zero_inputs(system: System) -> dict[str, Any]:
    """Inputs that are zero at every port."""
    return {port: jnp.zeros(port_shape(system, port)) for port in system.ports}
