"""What parts are given in a run, made by hand: a clock, the truth, measurements."""

from typing import Any

import jax.numpy as jnp

from freefloat.model import Actuator, Clock, Command, PortCommands, SensorMemory, Spacecraft, State, Truth, World
from freefloat.model.part_kinds import Sensor


def clock_at(t: Any, hold: float = 0.0, dt: float = 0.05) -> Clock:
    """At time t; the tick follows from it."""
    now = jnp.asarray(t, dtype=float)
    return Clock(t=now, tick=jnp.round(now / dt).astype(jnp.int32), dt=dt, hold=hold)


def truth_of(craft: Spacecraft, state: State) -> Truth:
    """Of one spacecraft alone."""
    return Truth(World.of(craft), (state,))


def commands_to(actuator: Actuator, craft: Spacecraft, *commands: Command) -> PortCommands:
    """Commands as the actuator gets them."""
    ports = actuator.accepts(craft)
    return PortCommands(ports, [[command for command in commands if command.port == port.name] for port in ports])


class Told:
    """What sensors tell now."""

    def __init__(self, clock: Clock, *sensors: tuple[Sensor, SensorMemory]) -> None:
        self._told = {}
        for sensor, memory in sensors:
            values, taken, valid = sensor.read(memory, clock)
            self._told |= {name: (value, taken, valid) for name, value in values.items()}

    def __getitem__(self, name: str) -> Any:
        return self._told[name][0]

    def taken(self, name: str) -> Any:
        return self._told[name][1]

    def valid(self, name: str) -> Any:
        return self._told[name][2]
