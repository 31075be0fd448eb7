"""Actuators: commands in, forces or prescribed motion out. A new one is a class in one file, also in a user's.

An actuator names the ports that it accepts. Commands for these ports reach it merged, from all software and from input
ports, as `PortCommands`. What nobody commands is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

import jax.numpy as jnp
import numpy as np

from freefloat.model.commands import Command
from freefloat.model.part_kinds import Clock, Memory, Part, Truth
from freefloat.model.spacecraft import Spacecraft
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel


@dataclass(frozen=True)
class CommandPort:
    """A port of an actuator: its name, the unit of its numbers, and what each number is for."""

    name: str  # such as `wheels.torque`
    unit: str
    parts: tuple[str, ...]  # what its numbers are for, in order
    drives: tuple[str, ...] = ()  # joint or wheel that each part drives, which no other command may drive
    noun: str = "part"  # what a part is called in messages
    kind: str = ""  # a name that ports of several actuators share, such as `thrusters.duty`; empty: its own name

    @property
    def names(self) -> tuple[str, ...]:
        """Names that commands may call it by."""
        return (self.name, self.kind) if self.kind not in ("", self.name) else (self.name,)


class PortCommands:
    """Commands for the ports of an actuator at an instant, merged from all that command it."""

    def __init__(self, ports: Iterable[CommandPort], commands: Iterable[Command]) -> None:
        commands, found = tuple(commands), {}
        for port in ports:
            found[port.name] = _merge(port, [command for command in commands if command.port in port.names])
        self._ports = {port.name: port for port in ports}
        self._commanded: dict[str, tuple[tuple[str, ...], Numeric]] = found

    def __getitem__(self, port: str) -> Vector:
        """Numbers of a port, one for each of its parts; zero where nobody commands."""
        parts, numbers = self._commanded[port]
        every = self._ports[port].parts
        if parts == every:
            return jnp.asarray(numbers)
        places = np.array([every.index(part) for part in parts], dtype=int)
        return jnp.zeros(len(every)).at[places].set(numbers) if parts else jnp.zeros(len(every))

    def commanded_parts(self, port: str) -> tuple[str, ...]:
        """Parts of a port that somebody commands, in the order of the commands."""
        return self._commanded[port][0]

    def commanded_numbers(self, port: str) -> Vector:
        """Numbers for these parts."""
        return jnp.asarray(self._commanded[port][1])

    def with_numbers(self, port: str, numbers: Numeric) -> PortCommands:
        """The same commands with other numbers for the commanded parts of a port."""
        return self._with(port, (self._commanded[port][0], numbers))

    def with_changes(self, port: str, change: Callable[[str, Numeric], Numeric]) -> PortCommands:
        """The same commands with `change(part, number)` for each commanded part of a port."""
        parts, numbers = self._commanded[port]
        if not parts:
            return self
        changed = [change(part, jnp.asarray(numbers)[place]) for place, part in enumerate(parts)]
        return self._with(port, (parts, jnp.stack(changed)))

    def _with(self, port: str, commanded: tuple[tuple[str, ...], Numeric]) -> PortCommands:
        copy = PortCommands((), ())
        copy._ports, copy._commanded = self._ports, {**self._commanded, port: commanded}
        return copy


def _merge(port: CommandPort, commands: list[Command]) -> tuple[tuple[str, ...], Numeric]:
    """Commanded parts of a port, and their numbers: those of several commands for one part add up."""
    given = [(command.parts or port.parts, jnp.asarray(command.numbers)) for command in commands]
    if not given:
        return (), jnp.zeros(0)
    parts = tuple(part for own, _ in given for part in own)
    if all(own == given[0][0] for own, _ in given):
        return given[0][0], sum((numbers for _, numbers in given[1:]), given[0][1])
    numbers = jnp.concatenate([jnp.reshape(numbers, (-1,)) for _, numbers in given])
    if len(set(parts)) == len(parts):
        return parts, numbers
    distinct = tuple(dict.fromkeys(parts))
    return distinct, jnp.zeros(len(distinct)).at[np.array([distinct.index(part) for part in parts])].add(numbers)


@record
class Actuator(Part, Generic[Memory]):
    """Turns commands into forces or prescribed motion. Subclasses write `accepts` and `force`, or `rates`.

    Its memory is any nest of arrays. It changes at the actuator's ticks, after all software has run.
    """

    period: float | None = static(default=None, kw_only=True)  # between two of its ticks [s]; None: every tick

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """Ports that the actuator accepts on a spacecraft."""
        raise NotImplementedError

    def check_command(self, craft: Spacecraft, command: Command) -> None:
        """Raise an error for a command that fits a port by name and size, but cannot be followed."""

    # ---- memory

    def begin(self, craft: Spacecraft) -> Memory | tuple[()]:
        """Memory of the actuator at the start: any nest of arrays, () if it has none."""
        return ()

    def actuate(self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock) -> Memory:
        """Memory after a tick of the actuator; `clock.hold` is the time until the next one."""
        return memory

    # ---- what it does to its spacecraft

    def limited(self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock) -> PortCommands:
        """Commands within the limits of the actuator, in every stage of the integrator."""
        return u

    def force(self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force (nv) on its spacecraft under limited commands, in every stage of the integrator."""
        return jnp.zeros(truth.craft.layout.nv)

    def prescribes(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Coordinates whose rates it prescribes, where these parts of its ports are commanded; `parts` by port."""
        return ()

    def rates(self, craft: Spacecraft, memory: Memory, u: PortCommands, clock: Clock) -> Vector:
        """Prescribed rates of these coordinates [rad/s, m/s]; differentiated along the motion where they change."""
        return jnp.zeros(0)

    def instants(self, memory: Memory) -> tuple[Numeric, ...]:
        """Times at which its force is not smooth [s], numbers or vectors: steps are cut there."""
        return ()

    # ---- what is recorded

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channels that the actuator adds to a run."""
        return ()

    def observe(self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the channels; `u`: as commanded, before limits."""
        return ()

    def recorded(
        self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock
    ) -> tuple[tuple[Channel, Numeric], ...]:
        """Channels with their values, where they depend on what is commanded; by default those of `observe`."""
        channels = self.channels(truth.craft)
        return tuple(zip(channels, self.observe(truth, memory, u, clock), strict=True)) if channels else ()


def port_tables(actuators: Iterable[Actuator], craft: Spacecraft) -> dict[str, tuple[Actuator, CommandPort]]:
    """Actuator and port by every name of a port; a shared kind leads to the first that has it."""
    table: dict[str, tuple[Actuator, CommandPort]] = {}
    for actuator in actuators:
        for port in actuator.accepts(craft):
            for name in port.names:
                table.setdefault(name, (actuator, port))
    return table


def no_memory(memory: Any) -> bool:
    """Whether a memory is empty."""
    return isinstance(memory, tuple) and not memory
