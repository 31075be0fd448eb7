"""Ports of a system at an instant: what all software measures, commands and sends as messages, and the forces."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import attach_rate, measured_rate
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
    Truth,
    WheelTorques,
)
from freefloat.sensors.ideal import IdealMeasurements, true_value
from freefloat.sim.system.input_ports import RATE_PORT, command_inputs
from freefloat.sim.system.sensed_motion import sensed_states
from freefloat.sim.system.software_checks import checked_call, require_commands, require_force, require_messages
from freefloat.sim.system.system import Inputs, System, SystemState, Tick
from freefloat.sim.system.unmeasured import unmeasured_message
from freefloat.sim.system.world_state import WorldState
from freefloat.spatial import angular, linear
from freefloat.values import SoftwareError
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector

# Kinds of measurements whose rates are known before the joint rates are: positions and what momentum there is.
_KNOWN_BEFORE = ("position", "attitude", "modes")
_CONSERVED = ("momentum.linear", "momentum.angular", "wheels.absolute_momentum")


@dataclasses.dataclass(frozen=True)
class Flow:
    """Direction of time for derivatives along the motion."""

    s: Scalar  # grows from zero with time
    forces: tuple[Vector, ...]  # generalised, on each spacecraft


class PortBus:
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
    ) -> None:
        self.system, self.state, self.states, self.inputs = system, state, states, inputs
        self.t, self.tick = t, tick
        self._before_rates, self._at_start, self._flow, self._full = before_rates, at_start, flow, full
        self._commands: dict[int, tuple[Command, ...]] = {}
        self._messages: dict[int, dict[str, Any]] = {}
        self.asked: dict[int, set[str]] = {}  # names that each piece of software has read
        self._missing = missing  # collects names that no sensor measures; None: the first one raises an error

    # ---- inputs of software

    def clock(self, k: int) -> Clock:
        """The clock of software number k."""
        period = self.system.software[k].period
        return Clock(t=self.t, tick=self.tick, dt=self.system.dt, hold=period or 0.0)

    def remembering_clock(self, k: int) -> Clock:
        """The clock of software number k for its memory, which continuous software renews at every tick."""
        return dataclasses.replace(self.clock(k), hold=self.system.software[k].period or self.system.dt)

    def with_memory(self, k: int, memory: Any) -> PortBus:
        """The port bus with a new memory of software number k."""
        entry = dataclasses.replace(self.state.software[k], memory=memory)
        software = (*self.state.software[:k], entry, *self.state.software[k + 1 :])
        state = dataclasses.replace(self.state, software=software)
        return PortBus(self.system, state, self.states, self.inputs, self.t, self.tick)

    def truth(self, craft: int) -> Truth:
        """True states, for a part on a spacecraft."""
        return Truth(self.system.world, self.states, craft)

    def sensor_truth(self, craft: int) -> Truth:
        """States as sensors measure them, for a part on a spacecraft: those of a facility that moves it."""
        return Truth(self.system.world, sensed_states(self.system, self.states, self.inputs), craft)

    def measurements(self, k: int) -> SoftwareMeasurements:
        """Measurements of software number k."""
        for j in self.system.wiring.software[k].hears if k < len(self.system.wiring.software) else ():
            self.messages(j)  # computed now: software may read them in a branch, whose values must not be kept
        return SoftwareMeasurements(self, k)

    def read(self, k: int, name: str) -> tuple[Any, Scalar, Flag]:
        """Value of a measurement for software number k, the time at which it was taken [s], and whether it is valid."""
        system, wires = self.system, self.system.wiring
        own = system.craft_index(system.software[k])
        self.asked.setdefault(k, set()).add(name)
        full = system.full_name(name, own)
        if full in system.ports and (full in self.inputs or not self._at_start):
            return self.inputs[full], self.t, jnp.asarray(True)
        for j in range(min(k, len(wires.software)) - 1, -1, -1):
            if wires.software[j].craft == own and name in wires.software[j].tells:
                messages = self.messages(j)
                return messages[name], self.t, messages.get(f"{name.rpartition('.')[0]}.valid", jnp.asarray(True))
        for i, sensor in enumerate(wires.sensors):
            if sensor.craft == own and name in sensor.gives:
                return self._sensor_value(i, name)
        self._require_ideal(k, own, name)
        return self._true_value(k, own, name), self.t, jnp.asarray(True)

    def _sensor_value(self, i: int, name: str) -> tuple[Any, Scalar, Flag]:
        sensor, truth = self.system.sensors[i], self.sensor_truth(self.system.wiring.sensors[i].craft)
        clock = Clock(t=self.t, tick=self.tick, dt=self.system.dt, hold=sensor.period or self.system.dt)
        if self._at_start:
            first = sensor.measure(truth, jnp.zeros((), jnp.int32), clock)
            return {sensor.channel_name(local): x for local, x in first.items()}[name], self.t, jnp.asarray(True)
        values, taken, valid = sensor.read(self.state.sensors[i], clock)
        return values[name], taken, valid

    def _require_ideal(self, k: int, own: int, name: str) -> None:
        system = self.system
        real = [sensor for sensor in system.sensors if system.craft_index(sensor) == own]
        ideal = [part for part in system.ideal if system.craft_index(part) == own]
        if (real or ideal) and not any(not part.names or name in part.names for part in ideal):
            if self._missing is None:
                raise SoftwareError(unmeasured_message(system, k, {name}))
            self._missing.setdefault(k, set()).add(name)

    def _true_value(self, k: int, own: int, name: str) -> Numeric:
        """True value of a measurement; with its rate where derivatives along the motion are taken."""
        truth = self.sensor_truth(own)
        try:
            value = true_value(truth, name)
        except SoftwareError as error:
            raise SoftwareError(f"{self.system.software[k].title} reads '{name}': {error}") from None
        if not self._before_rates:
            return value
        number, rest = self.system.world.locate(name, own)
        conserved = rest in _CONSERVED and not self.system.world.is_held(number)
        if not (rest.rpartition(".")[2] in _KNOWN_BEFORE or conserved):
            raise SoftwareError(
                f"{self.system.software[k].title} prescribes joint rates continuously and reads '{name}', "
                f"which those rates change. Sample it: period={self.system.dt:g} or longer."
            )
        if self._flow is None:
            return value
        rate = self._conserved_rate(number, rest) if conserved else measured_rate(IdealMeasurements(truth), name)
        return attach_rate(value, rate, self._flow.s)

    def _conserved_rate(self, number: int, name: str) -> Numeric:
        """Rate of a momentum: by external wrenches, or of a wheel by its motor."""
        assert self._flow is not None
        force, layout = self._flow.forces[number], self.system.world.crafts[number].layout
        if name == "wheels.absolute_momentum":
            return force[np.array(layout.wheel_velocities, dtype=int)]
        wrench = self.states[number].X_NB.wrench_to_A(force[:6])
        return linear(wrench) if name == "momentum.linear" else angular(wrench)

    def observe(self, name: str) -> Any:
        """A measurement for another program: of the last software that sends it, else of a sensor, else the truth."""
        number, rest = self.system.world.locate(name, 0)
        for k in range(len(self.system.software) - 1, -1, -1):
            wires = self.system.wiring.software[k]
            if wires.craft == number and rest in wires.tells:
                return self.messages(k)[rest]
        for i, sensor in enumerate(self.system.wiring.sensors):
            if sensor.craft == number and rest in sensor.gives:
                return self._sensor_value(i, rest)[0]
        return true_value(self.sensor_truth(number), rest)

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
        log = self.state.plants.wheels
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


class SoftwareMeasurements:
    """Measurements of one piece of software at an instant, by name."""

    def __init__(self, instant: PortBus, k: int) -> None:
        self._instant, self._k = instant, k

    def __getitem__(self, name: str) -> Any:
        return self._instant.read(self._k, name)[0]

    def valid(self, name: str) -> Flag:
        """Whether the measurement is valid."""
        return self._instant.read(self._k, name)[2]

    def taken(self, name: str) -> Scalar:
        """Time at which the measurement was taken [s]."""
        return self._instant.read(self._k, name)[1]


def commanded_torques(
    system: System, state: SystemState, inputs: Inputs, tick: Tick
) -> Callable[[WorldState, Scalar], Vector]:
    """Commanded torque of every wheel with a limited momentum, as a function of the plants and the time."""

    def torques_at(plants: WorldState, t: Scalar) -> Vector:
        return PortBus(system, state, plants.states, inputs, t, tick.number).wheel_torques()

    return torques_at
