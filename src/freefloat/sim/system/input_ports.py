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

from freefloat.model import (
    BaseWrench,
    Clock,
    Command,
    JointBrake,
    JointRates,
    JointTorques,
    Sensor,
    ThrusterDuty,
    Truth,
    WheelTorques,
    World,
)
from freefloat.sensors.ideal import measurable_text
from freefloat.sensors.quantity_lookup import find_quantity
from freefloat.sim.system.input_signals import Steps
from freefloat.sim.system.sensed_motion import SEEN, sensed_size
from freefloat.sim.system.system import Inputs, System
from freefloat.values import ModelError

RATE_PORT = "command.joints.rate"
TORQUE_PORT = "command.joints.torque"
WHEEL_PORT = "command.wheels.torque"
WRENCH_PORT = "command.base.wrench"
DUTY_PORT = "command.thrusters.duty"
_COMMAND_PORTS = (RATE_PORT, TORQUE_PORT, WHEEL_PORT, WRENCH_PORT, DUTY_PORT)

_PLAIN = (np.ndarray, float, int, list, tuple)
Signal = Any  # an array over time (steps, ...), a function of the tick, Steps, or one value for all time


def command_inputs(system: System, c: int, inputs: Inputs) -> list[Command]:
    """Commands at the input ports of a spacecraft."""
    layout, prefix = system.world.crafts[c].layout, system.world.prefix(c)
    makers: dict[str, Any] = {
        RATE_PORT: lambda x: JointRates(layout.moving_joints, x),
        TORQUE_PORT: lambda x: JointTorques(layout.moving_joints, x),
        WHEEL_PORT: lambda x: WheelTorques(layout.wheels, x),
        WRENCH_PORT: BaseWrench,
        DUTY_PORT: ThrusterDuty,
    }
    return [make(jnp.asarray(inputs[prefix + name])) for name, make in makers.items() if prefix + name in system.ports]


def _command_size(system: System, c: int, port: str) -> int:
    """How many numbers a command port of a spacecraft takes."""
    layout = system.world.crafts[c].layout
    if port in (RATE_PORT, TORQUE_PORT):
        return len(layout.moving_joints)
    if port == WHEEL_PORT:
        return len(layout.wheels)
    if port == WRENCH_PORT:
        return 6
    return sum(len(t.nozzles) for t in system.thrusters if system.craft_index(t) == c)


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
    if rest in _COMMAND_PORTS:
        return (_command_size(system, number, rest),)
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
        f"There is no port '{port}'. A port is a command ({', '.join(_COMMAND_PORTS)}), a wrench at a frame "
        f"such as '{craft.frame_names[-1]}.wrench', or a measurement. {measurable}"
    )


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
