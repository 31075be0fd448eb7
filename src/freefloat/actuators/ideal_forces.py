"""Forces that arise as they are commanded: a wrench on the base, forces at frames. Idealisations of thrusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from freefloat.dynamics import generalized_force
from freefloat.model import Actuator, Clock, Command, CommandPort, PortCommands, Spacecraft, Truth
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel
from freefloat.values.errors import unknown_name

WRENCH, FORCES = "base.wrench", "frames.force"
_ENTRIES = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


@record
class IdealBaseWrench(Actuator):
    """Gives the base the wrench that is commanded, at its origin and in its axes."""

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the wrench."""
        return (CommandPort(WRENCH, "N, N m", _ENTRIES, noun="entry", whole=True),)

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The base."""
        return ("base",)

    def force(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force of the wrench."""
        return jnp.zeros(truth.craft.layout.nv).at[:6].set(u[WRENCH])


@record
class IdealFrameForces(Actuator):
    """Gives frames the forces that are commanded, each along one axis of its frame; parts are called `tip/z`."""

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the forces."""
        parts = tuple(f"{frame}/{axis}" for frame in craft.frame_names for axis in "xyz")
        return (CommandPort(FORCES, "N", parts, noun="frame"),)

    def check_command(self, craft: Spacecraft, port: CommandPort, command: Command) -> None:
        """Raise an error for a frame that the spacecraft does not have."""
        for part in command.parts:
            if (frame := part.rpartition("/")[0]) not in craft.frame_names:
                raise unknown_name(craft.name, "frame", frame, craft.frame_names)

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The commanded frames."""
        return tuple(dict.fromkeys(part.rpartition("/")[0] for part in parts[FORCES]))

    def force(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force of all frames."""
        craft, q = truth.craft, truth.state.q
        total, forces = jnp.zeros(craft.layout.nv), u.commanded_numbers(FORCES)
        for place, part in enumerate(u.commanded_parts(FORCES)):
            frame, _, axis = part.rpartition("/")
            wrench = jnp.zeros(6).at["xyz".index(axis)].set(forces[place])
            total = total + generalized_force(craft, q, frame, wrench)
        return total

    def channel_values(
        self, truth: Truth, memory: Any, u: PortCommands, clock: Clock
    ) -> tuple[tuple[Channel, Numeric], ...]:
        """The forces by frame; by frame and axis where a frame is pushed along several."""
        parts = u.commanded_parts(FORCES)
        frames = tuple(part.rpartition("/")[0] for part in parts)
        names = frames if len(set(frames)) == len(frames) else parts
        channel = Channel("frames.force", "Force of actuators at frames", "N", "", "pushed_frame", names)
        return ((channel, u.commanded_numbers(FORCES)),)
