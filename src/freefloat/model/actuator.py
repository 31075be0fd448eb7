"""Actuators: commands in, forces or prescribed motion out. A new one is a class in one file, also in a user's.

An actuator names the ports that it accepts. Commands for these ports reach it merged, from all software and from input
ports, as `PortCommands`. What nobody commands is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

import jax.numpy as jnp
import numpy as np

from freefloat.model.commands import Command
from freefloat.model.part_kinds import Clock, Memory, Part, Truth
from freefloat.model.spacecraft import Spacecraft
from freefloat.values import SoftwareError, record, static
from freefloat.values.arrays import Flag, Numeric, Vector
from freefloat.values.channels import Channel
from freefloat.values.errors import unknown_name


@dataclass(frozen=True)
class CommandPort:
    """A port of an actuator: its name, the unit of its numbers, and what each number is for."""

    name: str  # such as `wheels.torque`
    unit: str
    parts: tuple[str, ...]  # what its numbers are for, in order
    drives: tuple[str, ...] = ()  # joint or wheel that each part drives, which no other command may drive
    noun: str = "part"  # what a part is called in messages
    whole: bool = False  # its numbers belong together, such as those of a wrench: contracts do not name its parts
    kind: str = ""  # a name that ports of several actuators share, such as `thrusters.duty`; empty: its own name

    @property
    def names(self) -> tuple[str, ...]:
        """Names that commands may call it by."""
        return (self.name, self.kind) if self.kind not in ("", self.name) else (self.name,)

    @property
    def contract_name(self) -> str:
        """What contracts of outside software call it."""
        return self.kind or self.name

    def takes(self, command: Command) -> bool:
        """Whether a command is for this port."""
        return command.port == self.name or (command.port == self.kind and set(command.parts) <= set(self.parts))


class PortCommands:
    """Commands for the ports of an actuator at an instant, merged from all that command it."""

    def __init__(self, ports: Sequence[CommandPort], commands: Sequence[Sequence[Command]]) -> None:
        """`commands`: for each port."""
        self._ports = {port.name: port for port in ports}
        self._commanded = {port.name: _merge(port, given) for port, given in zip(ports, commands, strict=True)}

    def __getitem__(self, port: str) -> Vector:
        """Numbers of a port, one for each of its parts; zero where nobody commands."""
        every, parts, numbers = self.port(port).parts, *self._commanded[port]
        if parts == every:
            return jnp.asarray(numbers, float)
        places = np.array([every.index(part) for part in parts], dtype=int)
        return jnp.zeros(len(every)).at[places].set(numbers) if parts else jnp.zeros(len(every))

    @property
    def ports(self) -> tuple[CommandPort, ...]:
        """The ports."""
        return tuple(self._ports.values())

    def port(self, name: str) -> CommandPort:
        """One of the ports, by its name."""
        if name not in self._ports:
            raise SoftwareError(f"The actuator accepts no port '{name}'. Its ports: {', '.join(self._ports)}.")
        return self._ports[name]

    @property
    def any_commanded(self) -> bool:
        """Whether anybody commands any of the ports."""
        return any(parts for parts, _ in self._commanded.values())

    @property
    def parts_by_port(self) -> dict[str, tuple[str, ...]]:
        """Commanded parts of each port."""
        return {port: parts for port, (parts, _) in self._commanded.items()}

    def numbers_for(self, driven: str) -> list[Numeric]:
        """Commanded numbers for a joint or a wheel that ports drive, none where nobody commands it."""
        found = []
        for port in self.ports:
            parts, numbers = self._commanded[port.name]
            own = [part for part, what in zip(port.parts, port.drives, strict=False) if what == driven]
            found += [numbers[parts.index(part)] for part in own if part in parts]
        return found

    def commanded_parts(self, port: str) -> tuple[str, ...]:
        """Parts of a port that somebody commands, in the order of the commands."""
        return self._commanded[port][0]

    def commanded_numbers(self, port: str) -> Numeric:
        """Numbers for these parts."""
        return self._commanded[port][1]

    def with_numbers(self, port: str, numbers: Numeric) -> PortCommands:
        """Commands with other numbers for the commanded parts of a port."""
        return self._with(port, (self._commanded[port][0], numbers))

    def with_changes(self, port: str, change: Callable[[str, Numeric], Numeric]) -> PortCommands:
        """Commands with `change(part, number)` for each commanded part of a port."""
        parts, numbers = self._commanded[port]
        if not parts:
            return self
        changed = [change(part, numbers[place]) for place, part in enumerate(parts)]
        return self._with(port, (parts, jnp.stack(changed)))

    def changed_while(self, present: Flag, other: PortCommands) -> PortCommands:
        """These commands, or the others, which have the same parts, while a flag is on."""
        changed = self
        for port, (parts, numbers) in self._commanded.items():
            if (new := other.commanded_numbers(port)) is not numbers:
                changed = changed._with(port, (parts, jnp.where(present, new, numbers)))
        return changed

    def _with(self, port: str, commanded: tuple[tuple[str, ...], Numeric]) -> PortCommands:
        copy = PortCommands((), ())
        copy._ports, copy._commanded = self._ports, {**self._commanded, port: commanded}
        return copy


def commanded_parts(port: CommandPort, commands: Sequence[Command]) -> tuple[str, ...]:
    """Parts of a port that commands for it name, each once, in their order."""
    return tuple(dict.fromkeys(part for command in commands for part in command.parts or port.parts))


def _merge(port: CommandPort, commands: Sequence[Command]) -> tuple[tuple[str, ...], Numeric]:
    """Commanded parts of a port, and their numbers: those of several commands for one part add up."""
    if not commands:
        return (), jnp.zeros(0)
    parts, numbers = commanded_parts(port, commands), [jnp.asarray(command.numbers) for command in commands]
    if all((command.parts or port.parts) == parts for command in commands):
        return parts, jnp.reshape(sum(numbers[1:], numbers[0]), (len(parts),))
    together = jnp.concatenate([jnp.reshape(some, (-1,)) for some in numbers])
    places = [parts.index(part) for command in commands for part in command.parts or port.parts]
    return parts, together if len(places) == len(parts) else jnp.zeros(len(parts)).at[np.array(places)].add(together)


@dataclass(frozen=True)
class Switches:
    """Flags (bool) of what is asked for at a tick, by connection and by braked joint."""

    latch: Mapping[str, Numeric] = field(default_factory=dict)
    release: Mapping[str, Numeric] = field(default_factory=dict)
    brake: Mapping[str, Numeric] = field(default_factory=dict)
    free: Mapping[str, Numeric] = field(default_factory=dict)


@record
class Actuator(Part, Generic[Memory]):
    """Turns commands into forces or prescribed motion. Subclasses write `accepts` and `force`, or `rates`.

    Its memory is any nest of arrays. It changes at the actuator's ticks, after all software has run.
    """

    period: float | None = static(default=None, kw_only=True)  # between two of its ticks [s]; None: every tick

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """Ports that the actuator accepts on a spacecraft."""
        raise NotImplementedError

    def check_command(self, craft: Spacecraft, port: CommandPort, command: Command) -> None:
        """Raise an error for a command that names parts which the port does not have."""
        for part in command.parts:
            if part not in port.parts:
                raise unknown_name(craft.name, port.noun, part, port.parts)

    # ---- memory

    def begin(self, craft: Spacecraft) -> Memory | tuple[()]:
        """Memory of the actuator at the start: any nest of arrays, () if it has none."""
        return ()

    def actuate(self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock) -> Memory:
        """Memory after a tick of the actuator; `clock.hold` is the time until the next one."""
        return memory

    # ---- what it does to its spacecraft

    def limited_commands(self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock) -> PortCommands:
        """Commands within the limits of the actuator, in every stage of the integrator."""
        return u

    def force(self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force (nv) on its spacecraft under limited commands, in every stage of the integrator."""
        return jnp.zeros(truth.craft.layout.nv)

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
        """Frames at which it pushes; () if it acts between bodies only, None if that is not known.

        Only sensors of the force in a joint ask for it. `parts`: commanded parts of its ports.
        """
        return None

    def prescribes(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Coordinates whose rates it prescribes, where these parts of its ports are commanded; `parts` by port."""
        return ()

    def rates(self, craft: Spacecraft, memory: Memory, u: PortCommands, clock: Clock) -> Vector:
        """Prescribed rates of these coordinates [rad/s, m/s]; differentiated along the motion where they change."""
        return jnp.zeros(0)

    def switches(self, u: PortCommands, clock: Clock) -> Switches:
        """What it latches, releases, brakes and lets go at the ticks of the run."""
        return Switches()

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

    def channel_values(
        self, truth: Truth, memory: Memory, u: PortCommands, clock: Clock
    ) -> tuple[tuple[Channel, Numeric], ...]:
        """Channels with their values, where they depend on what is commanded; by default those of `observe`."""
        channels = self.channels(truth.craft)
        values = tuple(self.observe(truth, memory, u, clock)) if channels else ()
        if len(channels) != len(values):
            raise SoftwareError(
                f"{type(self).__name__}.observe must return {len(channels)} values, one for each channel, got "
                f"{len(values)}."
            )
        return tuple(zip(channels, values, strict=True))
