"""Ports of a system at an instant: what all software measures, commands and sends as messages, and the forces."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import generalized_force
from freefloat.effects.failures import DeadWheel
from freefloat.effects.joint_motors import limit_joint_torques
from freefloat.effects.wheel_motors import full_wheels, limit_wheel_torques, spin_momentum
from freefloat.model import (
    BaseWrench,
    Clock,
    Command,
    FrameForces,
    JointRates,
    JointTorques,
    State,
    WheelTorques,
)
from freefloat.model.forces import Forces
from freefloat.sim.motion.measurement_bus import Flow, MeasurementBus
from freefloat.sim.system.craft_state import CraftState
from freefloat.sim.system.input_ports import RATE_PORT, command_inputs
from freefloat.sim.system.software_checks import checked_call, require_commands, require_force, require_messages
from freefloat.sim.system.system import Inputs, System, SystemState, Tick
from freefloat.values.arrays import Numeric, Scalar, Vector


class PortBus(MeasurementBus):
    """Measurements, commands, messages and forces at one instant; each is computed once.

    With `before_rates` the rates of prescribed joints are not known yet: only positions and momenta can be read. With
    `at_start` software runs as if its tick were now, and sensors as if they had no latency. `full`: wheels that
    are full, where that is held over a segment of a step, in the order of `Wiring.limited_wheels`.
    """

    def __init__(
        self,
        system: System,
        state: SystemState,
        states: tuple[State, ...],
        inputs: Inputs,
        t: Scalar,
        tick: Numeric,
        *,
        before_rates: bool = False,
        at_start: bool = False,
        flow: Flow | None = None,
        full: Vector | None = None,
        missing: dict[int, set[str]] | None = None,
        forces: Callable[[], Forces] | None = None,
    ) -> None:
        super().__init__(
            system,
            state,
            states,
            inputs,
            t,
            tick,
            before_rates=before_rates,
            at_start=at_start,
            flow=flow,
            missing=missing,
            forces=forces,
        )
        self._full = full
        self._commands: dict[int, tuple[Command, ...]] = {}
        self._messages: dict[int, dict[str, Any]] = {}

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
        return require_commands(self.system.spacecraft_of(software), software, answer)

    def software_messages(self, k: int) -> dict[str, Any]:
        """Messages that software number k sends if it runs now."""
        software, memory = self.system.software[k], self.state.software[k].memory
        with checked_call(software, "tell"):
            return require_messages(software, software.tell(memory, self.measurements(k), self.clock(k)))

    # ---- motion and forces

    def prescribed_rates(self, c: int) -> Vector:
        """Rates of the prescribed joints of a spacecraft, in the order of `Wiring.prescribed`."""
        system, found = self.system, []
        port = system.world.prefix(c) + RATE_PORT
        if port in system.ports:
            return jnp.asarray(self.inputs[port])
        for k, wires in enumerate(system.wiring.software):
            if wires.craft == c and wires.prescribes:
                found += [command.rates for command in self.commands(k) if isinstance(command, JointRates)]
        return jnp.concatenate(found) if found else jnp.zeros(0)

    def force(self, c: int, failed_at: Scalar) -> Vector:
        """Generalised force of effects, actuators and inputs on a spacecraft; `failed_at`: time of the last tick."""
        system, craft, state = self.system, self.system.world.crafts[c], self.states[c]
        clock = Clock(t=self.t, tick=self.tick, dt=system.dt)
        total = jnp.zeros(craft.layout.nv)
        for effect in system.effects:
            if system.acts_on(effect, c):
                with checked_call(effect, "force"):
                    total = total + require_force(craft, effect, effect.force(craft, state, clock))
        for command in self.requests(c):
            total = total + self._force_of(c, self.limited_command(c, command)[0], failed_at)
        for thrusters, pulses in zip(system.thrusters, self.state.valves, strict=True):
            if system.craft_index(thrusters) == c:
                total = total + thrusters.force(craft, pulses, self.t)
        for port in system.ports:
            number, rest = system.world.locate(port, c)
            if number == c and port.endswith(".wrench") and "command." not in rest:
                frame = rest.removesuffix(".wrench")
                total = total + generalized_force(craft, state.q, frame, self.inputs[port])
        return total

    def joint_torques(self, c: int, failed_at: Scalar) -> Vector:
        """Generalised force of the joint motors alone; `failed_at`: time of the last tick."""
        asked = [command for command in self.requests(c) if isinstance(command, JointTorques)]
        torques = [self._force_of(c, self.limited_command(c, command)[0], failed_at) for command in asked]
        return sum(torques, start=jnp.zeros(self.system.world.crafts[c].layout.nv))

    def wheel_torques(self) -> Vector:
        """Commanded torque of every wheel with a limited momentum [N m]."""
        found = []
        for c, wheel in self.system.wiring.limited_wheels:
            commands = [
                command for command in self.requests(c) if isinstance(command, WheelTorques) and wheel in command.wheels
            ]
            found.append(
                sum((command.torques[command.wheels.index(wheel)] for command in commands), start=jnp.zeros(()))
            )
        return jnp.stack(found)

    def limited_command(self, c: int, command: Command) -> tuple[Command, Numeric | None]:
        """A command within the limits of the actuators, and the limit that each has met."""
        craft = self.system.world.crafts[c]
        if isinstance(command, WheelTorques):
            full = self._full_wheels(c, command.wheels)
            torques, met = limit_wheel_torques(craft, self.states[c], command.wheels, command.torques, full)
            return dataclasses.replace(command, torques=torques), met
        if isinstance(command, JointTorques):
            torques, met = limit_joint_torques(craft, command.joints, command.torques)
            return dataclasses.replace(command, torques=torques), met
        return command, None

    def _full_wheels(self, c: int, wheels: tuple[str, ...]) -> Vector:
        """Sign of each wheel of a spacecraft that is full, else 0: as held over a segment, else as of now."""
        limited = self.system.wiring.limited_wheels
        now = full_wheels(self.system.world.crafts[c], self.states[c], wheels)
        held = self._lately_full() if self._full is None else self._full
        if held is None:
            return now
        return jnp.stack([held[limited.index((c, w))] if (c, w) in limited else now[k] for k, w in enumerate(wheels)])

    def _lately_full(self) -> Vector | None:
        """Signs of wheels that were full in the last step: a body that is spun up leaves each a little room."""
        log = self.state.plants[0].wheels
        if log is None:
            return None
        system = self.system
        spins = [spin_momentum(system.world.crafts[c], self.states[c], (w,)) for c, w in system.wiring.limited_wheels]
        full = [full_wheels(system.world.crafts[c], self.states[c], (w,)) for c, w in system.wiring.limited_wheels]
        lately = self.t - log.last <= system.dt * (1.0 + 1e-9)
        return jnp.where(lately, jnp.sign(jnp.concatenate(spins)), jnp.concatenate(full))

    def requests(self, c: int) -> list[Command]:
        """Commands of all software on a spacecraft except joint rates; input ports replace those of the same kind."""
        system, found = self.system, []
        outside = command_inputs(system, c, self.inputs)
        for k, wires in enumerate(system.wiring.software):
            if wires.craft == c and wires.pushes:
                found += [
                    command
                    for command in self.commands(k)
                    if not isinstance(command, (JointRates, *map(type, outside)))
                ]
        return found + [command for command in outside if not isinstance(command, JointRates)]

    def _force_of(self, c: int, command: Command, failed_at: Scalar) -> Vector:
        layout = self.system.world.crafts[c].layout
        nothing = jnp.zeros(layout.nv)
        if isinstance(command, BaseWrench):
            return nothing.at[:6].set(command.wrench)
        if isinstance(command, FrameForces):
            return self._frame_force(c, command)
        if isinstance(command, (JointTorques, WheelTorques)):
            names = layout.motor_coordinates(command.joints) if isinstance(command, JointTorques) else command.wheels
            torques = self._without_failed_wheels(c, names, command.torques, failed_at)
            return nothing.at[np.array(layout.indices(names), dtype=int)].set(torques)
        return nothing  # thrusters act through their valves

    def _frame_force(self, c: int, command: FrameForces) -> Vector:
        craft, state = self.system.world.crafts[c], self.states[c]
        total = jnp.zeros(craft.layout.nv)
        axes = command.axes * (len(command.frames) if len(command.axes) == 1 else 1)
        for k, (frame, axis) in enumerate(zip(command.frames, axes, strict=True)):
            wrench = jnp.zeros(6).at["xyz".index(axis)].set(command.forces[k])
            total = total + generalized_force(craft, state.q, frame, wrench)
        return total

    def _without_failed_wheels(self, c: int, names: tuple[str, ...], torques: Vector, failed_at: Scalar) -> Vector:
        for failure in self.system.failures:
            if isinstance(failure, DeadWheel) and self.system.craft_index(failure) == c and failure.wheel in names:
                place = names.index(failure.wheel)
                torques = torques.at[place].set(jnp.where(failure.present(failed_at), 0.0, torques[place]))
        return torques


def commanded_torques(
    system: System, state: SystemState, inputs: Inputs, tick: Tick
) -> Callable[[tuple[CraftState, ...], Scalar], Vector]:
    """Commanded torque of every wheel with a limited momentum, as a function of the plants and the time."""

    def torques_at(plants: tuple[CraftState, ...], t: Scalar) -> Vector:
        return PortBus(system, state, tuple(p.state for p in plants), inputs, t, tick.number).wheel_torques()

    return torques_at
