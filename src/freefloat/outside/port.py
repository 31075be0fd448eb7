"""The part of an experiment that represents external software: what it reads, and where its answers enter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.model import Clock, Measurements, PortCommand, Software, Truth
from freefloat.values import Channel, record, static
from freefloat.values.arrays import Numeric


@dataclass(frozen=True)
class CommandField:
    """One command of an answer: its port, the parts it is for, and how many numbers it has."""

    port: str  # such as `joints.torque`
    parts: tuple[str, ...] = ()  # joints, wheels, frame/axis, connections; empty: all of the port
    size: int = 1


@dataclass(frozen=True)
class MessageField:
    """One message of an answer to software that runs after it: name, shape and type."""

    name: str
    shape: tuple[int, ...] = ()
    integer: bool = False

    @property
    def size(self) -> int:
        """Number of values in the message."""
        return int(np.prod(self.shape, dtype=int))


@record
class SoftwarePort(Software):
    """Represents external software: its commands and messages enter at the input port `NAME.answer`, in order."""

    reads: tuple[str, ...] = static(default=())
    gives: tuple[CommandField, ...] = static(default=())
    messages: tuple[MessageField, ...] = static(default=())

    @property
    def answer_port(self) -> str:
        """Name of the input port of the answers, without the name of the spacecraft."""
        return f"{self.name}.answer"

    @property
    def answer_size(self) -> int:
        """Number of values in an answer."""
        return sum(field.size for field in (*self.gives, *self.messages))

    def command(self, memory: Any, y: Measurements, clock: Clock) -> tuple[PortCommand, ...]:
        """Commands of the present answer. Reading all measurements here wires the sensors to the port."""
        for name in self.reads:
            y[name]
        answer, commands, at = jnp.asarray(y[self.answer_port]), [], 0
        for field in self.gives:
            commands.append(PortCommand(field.port, answer[at : at + field.size], field.parts))
            at += field.size
        return tuple(commands)

    def tell(self, memory: Any, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Messages of the present answer; they follow its commands."""
        answer, at, messages = jnp.asarray(y[self.answer_port]), sum(field.size for field in self.gives), {}
        for field in self.messages:
            value = answer[at : at + field.size].reshape(field.shape)
            messages[field.name] = value.astype(jnp.int32) if field.integer else value
            at += field.size
        return messages

    def channels(self) -> tuple[Channel, ...]:
        """Channels of the messages, as `NAME.MESSAGE`."""
        return tuple(
            Channel(
                f"{self.name}.{field.name}",
                f"{field.name} of {self.name}",
                "1",
                axis=f"{self.name}.{field.name}.entry" if field.size != 1 else "",
                components=tuple(str(k) for k in range(field.size)) if field.size != 1 else (),
            )
            for field in self.messages
        )

    def observe(self, memory: Any, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: the messages of the present answer, as numbers or rows."""
        messages = self.tell(memory, y, clock)
        return tuple(messages[field.name].reshape(() if field.size == 1 else (-1,)) for field in self.messages)
