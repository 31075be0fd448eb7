"""Software that runs outside a simulation: in it stands only what it reads and what it may command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.model import (
    BaseWrench,
    Brake,
    Clock,
    Command,
    FrameForces,
    JointRates,
    JointTorques,
    Latch,
    Measurements,
    Release,
    Software,
    ThrusterDuty,
    Truth,
    WheelTorques,
)
from freefloat.values import Channel, record, static
from freefloat.values.arrays import Numeric


@dataclass(frozen=True)
class CommandField:
    """A command that comes from outside: its kind, what it is for, and how many numbers it has."""

    kind: str  # such as `joints.torque`
    parts: tuple[str, ...] = ()  # joints, wheels, frame/axis, connections
    size: int = 1
    thrusters: str = ""  # name of their set


@dataclass(frozen=True)
class MessageField:
    """A message that comes from outside."""

    name: str
    shape: tuple[int, ...] = ()
    integer: bool = False

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape, dtype=int))


@record
class SoftwarePort(Software):
    """Stands for software outside: its commands and messages come in at the port `NAME.answer`, in order."""

    reads: tuple[str, ...] = static(default=())
    gives: tuple[CommandField, ...] = static(default=())
    messages: tuple[MessageField, ...] = static(default=())

    @property
    def answer_port(self) -> str:
        """Input port of its answers, without the name of its spacecraft."""
        return f"{self.name}.answer"

    @property
    def answer_size(self) -> int:
        """Length of an answer."""
        return sum(one.size for one in (*self.gives, *self.messages))

    def command(self, memory: Any, y: Measurements, clock: Clock) -> tuple[Command, ...]:
        """What came in; that it reads its measurements is said here, so that sensors are wired to it."""
        for name in self.reads:
            y[name]
        answer, found, at = jnp.asarray(y[self.answer_port]), [], 0
        for one in self.gives:
            found += make_commands(one, answer[at : at + one.size])
            at += one.size
        return tuple(found)

    def tell(self, memory: Any, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """What came in behind the commands."""
        answer, at, told = jnp.asarray(y[self.answer_port]), sum(one.size for one in self.gives), {}
        for one in self.messages:
            value = answer[at : at + one.size].reshape(one.shape)
            told[one.name] = value.astype(jnp.int32) if one.integer else value
            at += one.size
        return told

    def channels(self) -> tuple[Channel, ...]:
        """Its messages, under its name."""
        return tuple(
            Channel(
                f"{self.name}.{one.name}",
                f"{one.name} of {self.name}",
                "1",
                axis=f"{self.name}.{one.name}.entry" if one.size != 1 else "",
                components=tuple(str(k) for k in range(one.size)) if one.size != 1 else (),
            )
            for one in self.messages
        )

    def observe(self, memory: Any, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """The same."""
        told = self.tell(memory, y, clock)
        return tuple(told[one.name].reshape(() if one.size == 1 else (-1,)) for one in self.messages)


# ---- commands and their names


def make_commands(given: CommandField, numbers: Numeric) -> list[Command]:
    """Commands of a kind with these numbers."""
    kind, parts = given.kind, given.parts
    if kind in ("latch", "release"):
        make = Latch if kind == "latch" else Release
        return [make(name, numbers[k]) for k, name in enumerate(parts)]
    if kind == "frames.force":
        frames, axes = zip(*(part.rsplit("/", 1) for part in parts), strict=True)
        return [FrameForces(tuple(frames), numbers, "".join(axes))]
    makers: dict[str, Any] = {
        "joints.rate": lambda: JointRates(parts, numbers),
        "joints.torque": lambda: JointTorques(parts, numbers),
        "wheels.torque": lambda: WheelTorques(parts, numbers),
        "base.wrench": lambda: BaseWrench(numbers),
        "thrusters.duty": lambda: ThrusterDuty(numbers, given.thrusters),
        "brake": lambda: Brake(parts, numbers),
    }
    return [makers[kind]()]


def name_command(command: Command) -> tuple[str, tuple[str, ...]]:
    """The kind of a command and what it is for, as a contract says it; nozzles are the caller's to name."""
    if isinstance(command, (JointRates, JointTorques)):
        return "joints.rate" if isinstance(command, JointRates) else "joints.torque", command.joints
    if isinstance(command, WheelTorques):
        return "wheels.torque", command.wheels
    if isinstance(command, (Latch, Release)):
        return "latch" if isinstance(command, Latch) else "release", (command.connection,)
    if isinstance(command, Brake):
        return "brake", command.joints
    if isinstance(command, FrameForces):
        axes = command.axes * (len(command.frames) if len(command.axes) == 1 else 1)
        return "frames.force", tuple(f"{frame}/{axis}" for frame, axis in zip(command.frames, axes, strict=True))
    return ("base.wrench", ()) if isinstance(command, BaseWrench) else ("thrusters.duty", ())
