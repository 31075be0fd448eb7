"""Failures: from a time on a part behaves differently. A failure wraps the part, which need not know about it.

A kind of failure says which parts it concerns, and overrides what changes: the commands that reach an actuator, its
force, the values of a sensor. A new kind is a class in one file, also in a user's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model.actuator import Actuator, CommandPort, PortCommands, Switches
from freefloat.model.part_kinds import Clock, Part, Sensor, SensorMemory, Truth
from freefloat.model.spacecraft import Spacecraft
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.channels import Channel, flag

_EARLY = 1e-9  # [s]; ticks are sums of floating-point numbers


@record
class Failure(Part):
    """A failure of something at a time; with `until` it recovers."""

    at: Numeric | float = dataclasses.field(default=0.0, kw_only=True)  # [s]
    until: Numeric | float = dataclasses.field(default=np.inf, kw_only=True)  # [s]

    @property
    def subject(self) -> str:
        """Name of what fails: the first field that the kind of failure adds."""
        own = [field.name for field in dataclasses.fields(self) if field.name not in _SHARED]
        return str(getattr(self, own[0])) if own else type(self).__name__

    def channel(self) -> Channel:
        """Channel with the condition of what may fail: works or failed."""
        return flag(f"failure.{self.subject}", f"{type(self).__name__}: {self.subject}", ("works", "failed"))

    def present(self, t: Scalar) -> Flag:
        """Whether the failure is present at the tick at time t."""
        return (t >= self.at - _EARLY) & (t < self.until - _EARLY)

    # ---- what fails

    def concerns(self, part: Part, craft: Spacecraft) -> bool:
        """Whether a sensor or an actuator on its spacecraft is what fails."""
        return False

    def missing_text(self, parts: tuple[Part, ...], craft: Spacecraft) -> str:
        """Sentence for a failure that concerns none of the parts on its spacecraft."""
        known = ", ".join(part.name or type(part).__name__ for part in parts) or "none"
        return f"{self.title}: nothing on spacecraft '{craft.name}' is '{self.subject}'. What may fail: {known}."

    def stuck_joints(self) -> tuple[str, ...]:
        """Joints that stop when it begins and stand still from then on."""
        return ()

    # ---- how it behaves from then on: what a kind of failure overrides

    def failed_commands(self, u: PortCommands, clock: Clock) -> PortCommands:
        """Commands that a failed actuator follows, made from limited ones."""
        return u

    def failed_force(self, force: Vector, clock: Clock) -> Vector:
        """Generalised force of a failed actuator, made from that of a sound one."""
        return force

    def failed_memory(self, part: Any, before: Any, after: Any, clock: Clock) -> Any:
        """Memory of a failed actuator after its tick, made from that of the sound `part`."""
        return after

    def failed_values(
        self, values: Mapping[str, Numeric], last: Mapping[str, Numeric], truth: Truth, clock: Clock
    ) -> Mapping[str, Numeric]:
        """Values that a failed sensor measures, made from those of a sound one and of the sample before."""
        return values

    def measures_still(self) -> bool:
        """Whether a failed sensor takes samples at all."""
        return True

    def wrap(self, part: Part) -> Part:
        """The part with its failure."""
        if isinstance(part, Sensor):
            return FailedSensor(part, self, on=part.on, name=part.name, period=part.period, latency=part.latency)
        assert isinstance(part, Actuator)
        return FailedActuator(part, self, on=part.on, name=part.name, period=part.period)


_SHARED = tuple(field.name for field in dataclasses.fields(Failure))


@record
class FailedActuator(Actuator):
    """An actuator with a failure, which changes what it follows and does while it is present."""

    part: Actuator
    failure: Failure

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """Ports of the actuator."""
        return self.part.accepts(craft)

    def begin(self, craft: Spacecraft) -> Any:
        """Memory of the actuator."""
        return self.part.begin(craft)

    def actuate(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Any:
        """Memory after a tick."""
        after = self.part.actuate(truth, memory, self._commands_to_follow(u, clock), clock)
        failed = self.failure.failed_memory(sound_part(self.part), memory, after, clock)
        present = self.failure.present(clock.t)
        return after if failed is after else jax.tree.map(lambda a, b: jnp.where(present, a, b), failed, after)

    def limited_commands(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> PortCommands:
        """Commands within the limits of the actuator."""
        return self.part.limited_commands(truth, memory, u, clock)

    def force(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force: that of the sound actuator, or what the failure makes of it."""
        force = self.part.force(truth, memory, self._commands_to_follow(u, clock), clock)
        failed = self.failure.failed_force(force, clock)
        return force if failed is force else jnp.where(self.failure.present(clock.last_tick), failed, force)

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
        """Frames at which it pushes."""
        return self.part.pushed_frames(craft, parts)

    def prescribes(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Coordinates whose rates it prescribes."""
        return self.part.prescribes(craft, parts)

    def rates(self, craft: Spacecraft, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Prescribed rates under the commands that it follows."""
        return self.part.rates(craft, memory, self._commands_to_follow(u, clock), clock)

    def switches(self, u: PortCommands, clock: Clock) -> Switches:
        """What it switches under the commands that it follows."""
        return self.part.switches(self._commands_to_follow(u, clock), clock)

    def instants(self, memory: Any) -> tuple[Numeric, ...]:
        """Times at which its force is not smooth [s]."""
        return self.part.instants(memory)

    def channel_values(
        self, truth: Truth, memory: Any, u: PortCommands, clock: Clock
    ) -> tuple[tuple[Channel, Numeric], ...]:
        """Channels of the actuator."""
        return self.part.channel_values(truth, memory, u, clock)

    def _commands_to_follow(self, u: PortCommands, clock: Clock) -> PortCommands:
        return u.changed_while(self.failure.present(clock.last_tick), self.failure.failed_commands(u, clock))


@record
class FailedSensor(Sensor):
    """A sensor with a failure, which changes what it measures while it is present."""

    part: Sensor
    failure: Failure

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Values of a sample of the sound sensor, for the shapes."""
        return self.part.measure(truth, number, clock)

    def sample(self, memory: SensorMemory, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Values of a sample: those of the sound sensor, or what the failure makes of them."""
        sound = self.part.sample(memory, truth, number, clock)
        newest = jnp.argmax(memory.taken) if len(memory.taken) > 1 else 0
        last = {name: values[newest] for name, values in memory.values.items()}
        failed, present = self.failure.failed_values(sound, last, truth, clock), self.failure.present(clock.t)
        return {
            name: value if failed[name] is value else jnp.where(present, failed[name], value)
            for name, value in sound.items()
        }

    def seen(self, truth: Truth, number: Numeric, clock: Clock) -> Flag:
        """Whether a sample gives a measurement."""
        seen = self.part.seen(truth, number, clock)
        return seen if self.failure.measures_still() else ~self.failure.present(clock.t) & seen


def sound_part(part: Any) -> Any:
    """The part itself, without the failures that wrap it."""
    return sound_part(part.part) if isinstance(part, FailedActuator | FailedSensor) else part
