"""Ports of software at an instant: what it measures, commands and sends as messages."""

from __future__ import annotations

import dataclasses
from typing import Any

from freefloat.model import Command
from freefloat.sim.motion.measurement_bus import MeasurementBus
from freefloat.sim.system.software_checks import checked_call, require_commands, require_messages


class PortBus(MeasurementBus):
    """Measurements, commands and messages at one instant; each is computed once.

    With `before_rates` the rates of prescribed joints are not known yet: only positions and momenta can be read. With
    `at_start` software runs as if its tick were now, and sensors as if they had no latency.
    """

    def with_memory(self, k: int, memory: Any) -> PortBus:
        """The port bus with a new memory of software number k."""
        entry = dataclasses.replace(self.state.software[k], memory=memory)
        software = (*self.state.software[:k], entry, *self.state.software[k + 1 :])
        state = dataclasses.replace(self.state, software=software)
        return PortBus(self.system, state, self.states, self.inputs, self.t, self.tick, forces=self.forces)

    # ---- outputs of software

    def is_held(self, k: int) -> bool:
        """True if software number k holds the commands of its last tick."""
        return self.system.software[k].period is not None and not self._at_start

    def commands(self, k: int) -> tuple[Command, ...]:
        """Commands of software number k: those it holds, or those of now."""
        if self.is_held(k):
            return self.state.software[k].commands
        if k not in self._commands:
            self._commands[k] = self.requested_commands(k)
        return self._commands[k]

    def messages(self, k: int) -> dict[str, Any]:
        """Messages of software number k."""
        if self.is_held(k):
            return self.state.software[k].messages
        if k not in self._messages:
            self._messages[k] = self.software_messages(k)
        return self._messages[k]

    def requested_commands(self, k: int) -> tuple[Command, ...]:
        """Commands that software number k gives if it runs now, before actuators limit them."""
        software, memory = self.system.software[k], self.state.software[k].memory
        with checked_call(software, "command"):
            answer = software.command(memory, self.measurements(k), self.clock(k))
        return require_commands(self.system, k, answer)

    def software_messages(self, k: int) -> dict[str, Any]:
        """Messages that software number k sends if it runs now."""
        software, memory = self.system.software[k], self.state.software[k].memory
        with checked_call(software, "tell"):
            return require_messages(software, software.tell(memory, self.measurements(k), self.clock(k)))
