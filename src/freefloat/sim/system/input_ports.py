"""Input ports of a system, by name: wrenches, commands and measurements from outside.

What is commanded at a port enters the step in `command_inputs`; `events.switching` reads the ports of connections and
brakes. Answers of software that runs outside the step are written to its port by `outside.runner`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Clock, CommandPort, JointBrake, PortCommand, Sensor, Truth, World
from freefloat.sensors.ideal import measurable_text
from freefloat.sensors.quantity_lookup import find_quantity
from freefloat.sim.system.input_signals import Steps
from freefloat.sim.system.sensed_motion import SEEN, sensed_size
from freefloat.sim.system.system import Inputs, System
from freefloat.values import ModelError

COMMAND = "command."  # what names of ports begin with that take commands
_SWITCHED = ("latch", "release", "brake")  # they have ports of their own: see `connection_port` and `brake_port`

_PLAIN = (np.ndarray, float, int, list, tuple)
Signal = Any  # an array over time (steps, ...), a function of the tick, Steps, or one value for all time


def command_inputs(system: System, c: int, inputs: Inputs) -> list[PortCommand]:
    """Commands at the input ports of a spacecraft."""
    ports = commanded_ports(system, c)
    return [PortCommand(port.name, jnp.asarray(inputs[name])) for name, port in ports.items()]


def commanded_ports(system: System, c: int) -> dict[str, CommandPort]:
    """Ports of the actuators of a spacecraft that are commanded from outside, by the names of the input ports."""
    prefix = system.world.prefix(c) + COMMAND
    names = [name for name in system.ports if name.startswith(prefix)]
    ports = {name: command_port(system, c, name.removeprefix(prefix)) for name in names}
    return {name: port for name, port in ports.items() if port is not None}


def command_port(system: System, c: int, name: str) -> CommandPort | None:
    """The actuators' port of a spacecraft that is called so, or whose kind is if there is only one; None if none is."""
    craft = system.world.crafts[c]
    ports = [port for _, actuator in system.actuators_of(c) for port in actuator.accepts(craft)]
    ports = [port for port in ports if port.name not in _SWITCHED]
    exact, alike = ([port for port in ports if port.name == name], [port for port in ports if port.kind == name])
    return exact[0] if exact else alike[0] if len(alike) == 1 else None


def connection_port(name: str) -> str:
    """Name of the input port that latches (1) and releases (0) a connection."""
    return f"command.connection.{name}"


def brake_port(world: World, brake: JointBrake) -> str:
    """Name of the input port that brakes a joint (1) and lets it go (0)."""
    return f"{world.prefix(world.names.index(brake.craft))}command.brake.{brake.joint}"


def port_shape(system: System, port: str) -> tuple[int, ...]:
    """Shape of the input at a port; an unknown port raises an error."""
    world = system.world
    if port in (
        *(connection_port(connection.name) for connection in world.connections),
        *(brake_port(world, b) for b in world.brakes),
    ):
        return ()
    number, rest = world.locate(port, 0)
    if not world.single and rest == port:
        raise ModelError(
            f"The port '{port}' does not say which spacecraft it belongs to. Write '{world.names[0]}.{port}'. "
            f"Spacecraft: {', '.join(world.names)}."
        )
    craft = world.crafts[number]
    if rest.startswith(COMMAND) and (own := command_port(system, number, rest.removeprefix(COMMAND))) is not None:
        return (len(own.parts),)
    if rest == SEEN:
        return (sensed_size(world, number),)
    if rest.endswith(".wrench"):
        craft.frame(rest.removesuffix(".wrench"))
        return (6,)
    for software in system.software:
        if software.answer_port == rest and system.craft_index(software) == number:
            return (software.answer_size,)
    for sensor in system.sensors:
        if system.craft_index(sensor) == number:
            shapes = _sensor_shapes(system, sensor, number)
            if rest in shapes:
                return shapes[rest]
    found = find_quantity(world, system.quantities, rest, number)
    if found is not None:
        return (len(found.channel.components),) if found.channel.axis else ()
    measurable = measurable_text(world, number, system.quantities)
    raise ModelError(
        f"There is no port '{port}'. A port is a command ({', '.join(_command_names(system, number))}), a wrench at a "
        f"frame such as '{craft.frame_names[-1]}.wrench', or a measurement. {measurable}"
    )


def _command_names(system: System, c: int) -> list[str]:
    craft = system.world.crafts[c]
    names = [port.name for _, actuator in system.actuators_of(c) for port in actuator.accepts(craft)]
    return [COMMAND + name for name in names if name not in _SWITCHED]


def _sensor_shapes(system: System, sensor: Sensor, number: int) -> dict[str, tuple[int, ...]]:
    world = system.world
    states = tuple(craft.at_rest(np.zeros(craft.layout.nq)) for craft in world.crafts)
    clock = Clock(t=np.zeros(()), tick=np.zeros((), np.int32), dt=system.dt)
    values = jax.eval_shape(lambda s: sensor.read(sensor.begin(Truth(world, s, number), clock), clock)[0], states)
    return {name: value.shape for name, value in values.items()}


def tabulate(
    system: System, signals: Mapping[str, Signal], first: int, steps: int, end: int | None = None
) -> dict[str, np.ndarray]:
    """Inputs at every step from `first` on, (steps, ...) for each port; a wrong size raises an error with its name.

    `end`: the tick until which arrays must reach, where more than these steps are needed later.
    """
    return {
        port: input_rows(port, signals[port], port_shape(system, port), first, steps, end, dt=system.dt)
        for port in system.ports
    }


def input_rows(
    port: str, signal: Signal, shape: tuple[int, ...], first: int, steps: int, end: int | None = None, *, dt: float
) -> np.ndarray:
    """Inputs at one port at every step, (steps, ...)."""
    end = first + steps if end is None else end
    signal = signal.at_ticks(port, shape, dt) if isinstance(signal, Steps) else signal
    if isinstance(signal, Callable):
        rows = [_numeric(port, signal(tick)) for tick in range(first, first + steps)]
        if wrong := [row.shape for row in rows if row.shape != shape]:
            raise ModelError(f"Input '{port}' must give {shape} numbers at every tick, got {wrong[0]}.")
        values = np.stack(rows)
    else:
        values = _numeric(port, signal)
        if values.shape == shape:
            values = np.broadcast_to(values, (steps, *shape))
        elif values.shape[1:] == shape and len(values) >= end:
            values = values[first : first + steps]
        else:
            raise ModelError(
                f"Input '{port}' must be {shape} numbers, or ({end}, {', '.join(map(str, shape))}) over all "
                f"steps, or a function of the tick, got shape {values.shape}."
            )
    if not np.all(np.isfinite(values)):
        raise ModelError(f"Input '{port}' has a number that is not finite at tick {first + _first_bad(values)}.")
    return np.ascontiguousarray(values)


def input_row(port: str, signal: Signal, shape: tuple[int, ...], tick: int, *, dt: float) -> np.ndarray:
    """Input at one port at one tick, as in `input_rows`, but quicker for plain numbers, arrays and functions."""
    if isinstance(signal, Callable) and not isinstance(signal, Steps):
        value = signal(tick)
        signal = lambda _: value  # noqa: E731 - it may count its calls
    elif isinstance(signal, _PLAIN):
        value = signal
        if isinstance(value, np.ndarray) and value.ndim == len(shape) + 1 and len(value) > tick:
            value = value[tick]
    else:
        value = None
    if isinstance(value, _PLAIN):
        row = _numeric(port, value)
        if row.shape == shape and np.isfinite(row).all():
            return row
    return input_rows(port, signal, shape, tick, 1, dt=dt)[0]


def _numeric(port: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"Input '{port}' must be numeric, got {value!r}.") from None


def _first_bad(values: np.ndarray) -> int:
    return int(np.argmax(~np.isfinite(values).reshape(len(values), -1).all(axis=1)))
