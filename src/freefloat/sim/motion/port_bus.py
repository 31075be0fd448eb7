"""An instant of a run: what every piece of software measures, commands and tells then, and what pushes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import carry, rate_of
from freefloat.dynamics import generalized_force
from freefloat.effects.failures import DeadWheel
from freefloat.effects.joint_motors import limit_joint_torques
from freefloat.effects.wheels import full_wheels, limit_wheel_torques, spin_momentum
from freefloat.model import (
    BaseWrench,
    Clock,
    Command,
    FrameForces,
    JointRates,
    JointTorques,
    State,
    ThrusterDuty,
    Truth,
    WheelTorques,
)
from freefloat.sensors.ideal import IdealMeasurements, true_value
from freefloat.sim.system.craft_state import Plant
from freefloat.sim.system.sensed_motion import seen_states
from freefloat.sim.system.software_checks import checked_call, require_commands, require_force, require_messages
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.sim.system.tick import Tick
from freefloat.sim.system.unmeasured import unmeasured
from freefloat.spatial import angular, linear
from freefloat.values import LawError
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector

# Kinds of measurements whose rates are known before the joint rates are: positions and what momentum there is.
_KNOWN_BEFORE = ("position", "attitude", "modes")
_CONSERVED = ("momentum.linear", "momentum.angular", "wheels.absolute_momentum")


@dataclasses.dataclass(frozen=True)
class Flow:
    """How the world moves on, for derivatives along its motion."""

    s: Scalar  # grows from zero with time
    forces: tuple[Vector, ...]  # generalised, on each spacecraft


class Instant:
    """Everything that may be asked at one instant; each answer is found once.

    With `before_rates` the rates of prescribed joints are not known yet: only positions and momenta can be read. With
    `at_start` software is asked as if its tick were now, and sensors as if they had no latency. `full`: wheels that
    are full, where that is held over a segment of a step, in the order of `Wiring.limited_wheels`.
    """

    def __init__(
        self,
        system: System,
        loop: SystemState,
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
        self.system, self.loop, self.states, self.inputs = system, loop, states, inputs
        self.t, self.tick = t, tick
        self._before_rates, self._at_start, self._flow, self._full = before_rates, at_start, flow, full
        self._commands: dict[int, tuple[Command, ...]] = {}
        self._messages: dict[int, dict[str, Any]] = {}
        self.asked: dict[int, set[str]] = {}  # names that each piece of software has read
        self._missing = missing  # where names that nobody measures are noted; None: the first one is an error

    # ---- what software sees

    def clock(self, k: int) -> Clock:
        """The clock of software number k."""
        period = self.system.software[k].period
        return Clock(t=self.t, tick=self.tick, dt=self.system.dt, hold=period or 0.0)

    def remembering_clock(self, k: int) -> Clock:
        """The same for its memory, which is renewed at every tick where its commands are continuous."""
        return dataclasses.replace(self.clock(k), hold=self.system.software[k].period or self.system.dt)

    def with_memory(self, k: int, memory: Any) -> Instant:
        """The same instant after software number k has remembered."""
        entry = dataclasses.replace(self.loop.software[k], memory=memory)
        software = (*self.loop.software[:k], entry, *self.loop.software[k + 1 :])
        loop = dataclasses.replace(self.loop, software=software)
        return Instant(self.system, loop, self.states, self.inputs, self.t, self.tick)

    def truth(self, craft: int) -> Truth:
        """What is true, seen from a spacecraft."""
        return Truth(self.system.world, self.states, craft)

    def seen(self, craft: int) -> Truth:
        """The same as sensors see it: where somebody outside moves a spacecraft, it is where it is there."""
        return Truth(self.system.world, seen_states(self.system, self.states, self.inputs), craft)

    def measurements(self, k: int) -> Reading:
        """What software number k sees."""
        for j in self.system.wiring.software[k].hears if k < len(self.system.wiring.software) else ():
            self.messages(j)  # found now: software may read them in a branch, whose values must not be kept
        return Reading(self, k)

    def read(self, k: int, name: str) -> tuple[Any, Scalar, Flag]:
        """Value of a measurement for software number k, when it was taken, and whether it is valid."""
        system, wires = self.system, self.system.wiring
        own = system.on(system.software[k])
        self.asked.setdefault(k, set()).add(name)
        full = system.full_name(name, own)
        if full in system.ports and (full in self.inputs or not self._at_start):
            return self.inputs[full], self.t, jnp.asarray(True)
        for j in range(min(k, len(wires.software)) - 1, -1, -1):
            if wires.software[j].craft == own and name in wires.software[j].tells:
                told = self.messages(j)
                return told[name], self.t, told.get(f"{name.rpartition('.')[0]}.valid", jnp.asarray(True))
        for i, sensor in enumerate(wires.sensors):
            if sensor.craft == own and name in sensor.gives:
                return self._sensed(i, name)
        self._require_ideal(k, own, name)
        return self._true(k, own, name), self.t, jnp.asarray(True)

    def _sensed(self, i: int, name: str) -> tuple[Any, Scalar, Flag]:
        sensor, truth = self.system.sensors[i], self.seen(self.system.wiring.sensors[i].craft)
        clock = Clock(t=self.t, tick=self.tick, dt=self.system.dt, hold=sensor.period or self.system.dt)
        if self._at_start:
            first = sensor.measure(truth, jnp.zeros((), jnp.int32), clock)
            return {sensor.tells(local): x for local, x in first.items()}[name], self.t, jnp.asarray(True)
        values, taken, valid = sensor.read(self.loop.sensors[i], clock)
        return values[name], taken, valid

    def _require_ideal(self, k: int, own: int, name: str) -> None:
        system = self.system
        real = [sensor for sensor in system.sensors if system.on(sensor) == own]
        ideal = [part for part in system.ideal if system.on(part) == own]
        if (real or ideal) and not any(not part.names or name in part.names for part in ideal):
            if self._missing is None:
                raise LawError(unmeasured(system, k, {name}))
            self._missing.setdefault(k, set()).add(name)

    def _true(self, k: int, own: int, name: str) -> Numeric:
        """The truth; for derivatives along the motion with its rate."""
        truth = self.seen(own)
        try:
            value = true_value(truth, name)
        except LawError as error:
            raise LawError(f"{self.system.software[k].title} reads '{name}': {error}") from None
        if not self._before_rates:
            return value
        number, rest = self.system.world.locate(name, own)
        conserved = rest in _CONSERVED and not self.system.world.is_held(number)
        if not (rest.rpartition(".")[2] in _KNOWN_BEFORE or conserved):
            raise LawError(
                f"{self.system.software[k].title} prescribes joint rates continuously and reads '{name}', "
                f"which those rates change. Sample it: period={self.system.dt:g} or longer."
            )
        if self._flow is None:
            return value
        rate = self._conserved_rate(number, rest) if conserved else rate_of(IdealMeasurements(truth), name)
        return carry(value, rate, self._flow.s)

    def _conserved_rate(self, number: int, name: str) -> Numeric:
        """Momentum changes by external wrenches, a wheel's by its motor."""
        assert self._flow is not None
        force, layout = self._flow.forces[number], self.system.world.crafts[number].layout
        if name == "wheels.absolute_momentum":
            return force[np.array(layout.wheel_velocities, dtype=int)]
        wrench = self.states[number].X_NB.wrench_to_A(force[:6])
        return linear(wrench) if name == "momentum.linear" else angular(wrench)

    def observe(self, name: str) -> Any:
        """A measurement for somebody outside: what the run's last software would read, else what a sensor tells."""
        number, rest = self.system.world.locate(name, 0)
        for k in range(len(self.system.software) - 1, -1, -1):
            wires = self.system.wiring.software[k]
            if wires.craft == number and rest in wires.tells:
                return self.messages(k)[rest]
        for i, sensor in enumerate(self.system.wiring.sensors):
            if sensor.craft == number and rest in sensor.gives:
                return self._sensed(i, rest)[0]
        return true_value(self.seen(number), rest)

    # ---- what software says

    def is_held(self, k: int) -> bool:
        """True if software number k holds an answer of its last tick."""
        return self.system.software[k].period is not None and not self._at_start

    def commands(self, k: int) -> tuple[Command, ...]:
        """Commands of software number k: those it holds, or what it asks for now."""
        if self.is_held(k):
            return self.loop.software[k].commands
        if k not in self._commands:
            self._commands[k] = self.wanted(k)
        return self._commands[k]

    def messages(self, k: int) -> dict[str, Any]:
        """Messages of software number k."""
        if self.is_held(k):
            return self.loop.software[k].messages
        if k not in self._messages:
            self._messages[k] = self.hear(k)
        return self._messages[k]

    def wanted(self, k: int) -> tuple[Command, ...]:
        """What software number k asks for if it is its turn now."""
        law, memory = self.system.software[k], self.loop.software[k].memory
        with checked_call(law, "command"):
            answer = law.command(memory, self.measurements(k), self.clock(k))
        return require_commands(self.system.world.crafts[self._own(k)], law, answer)

    def hear(self, k: int) -> dict[str, Any]:
        """What software number k tells if it is its turn now."""
        law, memory = self.system.software[k], self.loop.software[k].memory
        with checked_call(law, "tell"):
            return require_messages(law, law.tell(memory, self.measurements(k), self.clock(k)))

    def _own(self, k: int) -> int:
        return self.system.on(self.system.software[k])

    # ---- what moves and pushes

    def prescribed_rates(self, c: int) -> Vector:
        """Rates of the prescribed joints of a spacecraft, in the order of `Wiring.prescribed`."""
        system, found = self.system, []
        port = system.world.prefix(c) + RATE_PORT
        if port in system.ports:
            return jnp.asarray(self.inputs[port])
        for k, wires in enumerate(system.wiring.software):
            if wires.craft == c and wires.prescribes:
                found += [one.rates for one in self.commands(k) if isinstance(one, JointRates)]
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
            total = total + self._force_of(c, self.limit(c, command)[0], failed_at)
        for thrusters, pulses in zip(system.thrusters, self.loop.valves, strict=True):
            if system.on(thrusters) == c:
                total = total + thrusters.force(craft, pulses, self.t)
        for port in system.ports:
            number, rest = system.world.locate(port, c)
            if number == c and port.endswith(".wrench") and COMMAND not in rest:
                frame = rest.removesuffix(".wrench")
                total = total + generalized_force(craft, state.q, frame, self.inputs[port])
        return total

    def joint_torques(self, c: int, failed_at: Scalar) -> Vector:
        """Generalised force of the joints' motors alone."""
        asked = [one for one in self.requests(c) if isinstance(one, JointTorques)]
        torques = [self._force_of(c, self.limit(c, one)[0], failed_at) for one in asked]
        return sum(torques, start=jnp.zeros(self.system.world.crafts[c].layout.nv))

    def wheel_torques(self) -> Vector:
        """What is asked of every wheel with a limited momentum [N m]."""
        found = []
        for c, wheel in self.system.wiring.limited_wheels:
            commands = [one for one in self.requests(c) if isinstance(one, WheelTorques) and wheel in one.wheels]
            found.append(sum((one.torques[one.wheels.index(wheel)] for one in commands), start=jnp.zeros(())))
        return jnp.stack(found)

    def limit(self, c: int, command: Command) -> tuple[Command, Numeric | None]:
        """A command as the actuators give it now, and which limit each has met."""
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
        """Which wheels of a spacecraft are full: as it is held over a segment, else as it is now."""
        limited = self.system.wiring.limited_wheels
        now = full_wheels(self.system.world.crafts[c], self.states[c], wheels)
        held = self._lately_full() if self._full is None else self._full
        if held is None:
            return now
        return jnp.stack([held[limited.index((c, w))] if (c, w) in limited else now[k] for k, w in enumerate(wheels)])

    def _lately_full(self) -> Vector | None:
        """Wheels that were full in the last step: a body that is spun up leaves each a little room at its end."""
        log = self.loop.plants[0].wheels
        if log is None:
            return None
        system = self.system
        spins = [spin_momentum(system.world.crafts[c], self.states[c], (w,)) for c, w in system.wiring.limited_wheels]
        full = [full_wheels(system.world.crafts[c], self.states[c], (w,)) for c, w in system.wiring.limited_wheels]
        lately = self.t - log.last <= system.dt * (1.0 + 1e-9)
        return jnp.where(lately, jnp.sign(jnp.concatenate(spins)), jnp.concatenate(full))

    def requests(self, c: int) -> list[Command]:
        """Commands of all software of a spacecraft but joint rates, those from outside in their place."""
        system, found = self.system, []
        outside = command_inputs(system, c, self.inputs)
        for k, wires in enumerate(system.wiring.software):
            if wires.craft == c and wires.pushes:
                found += [one for one in self.commands(k) if not isinstance(one, (JointRates, *map(type, outside)))]
        return found + [one for one in outside if not isinstance(one, JointRates)]

    def _force_of(self, c: int, command: Command, failed_at: Scalar) -> Vector:
        layout = self.system.world.crafts[c].layout
        nothing = jnp.zeros(layout.nv)
        if isinstance(command, BaseWrench):
            return nothing.at[:6].set(command.wrench)
        if isinstance(command, FrameForces):
            return self._of_frames(c, command)
        if isinstance(command, (JointTorques, WheelTorques)):
            names = layout.drives(command.joints) if isinstance(command, JointTorques) else command.wheels
            torques = self._of_living(c, names, command.torques, failed_at)
            return nothing.at[np.array(layout.indices(names), dtype=int)].set(torques)
        return nothing  # valves have the thrusters' share

    def _of_frames(self, c: int, command: FrameForces) -> Vector:
        craft, state = self.system.world.crafts[c], self.states[c]
        total = jnp.zeros(craft.layout.nv)
        axes = command.axes * (len(command.frames) if len(command.axes) == 1 else 1)
        for k, (frame, axis) in enumerate(zip(command.frames, axes, strict=True)):
            wrench = jnp.zeros(6).at["xyz".index(axis)].set(command.forces[k])
            total = total + generalized_force(craft, state.q, frame, wrench)
        return total

    def _of_living(self, c: int, names: tuple[str, ...], torques: Vector, failed_at: Scalar) -> Vector:
        for failure in self.system.failures:
            if isinstance(failure, DeadWheel) and self.system.on(failure) == c and failure.wheel in names:
                place = names.index(failure.wheel)
                torques = torques.at[place].set(jnp.where(failure.present(failed_at), 0.0, torques[place]))
        return torques


class Reading:
    """Measurements of one piece of software at an instant."""

    def __init__(self, instant: Instant, k: int) -> None:
        self._instant, self._k = instant, k

    def __getitem__(self, name: str) -> Any:
        return self._instant.read(self._k, name)[0]

    def valid(self, name: str) -> Flag:
        """Whether anything has been measured under that name."""
        return self._instant.read(self._k, name)[2]

    def taken(self, name: str) -> Scalar:
        """When it was measured [s]."""
        return self._instant.read(self._k, name)[1]


def asked_torques(
    system: System, loop: SystemState, inputs: Inputs, tick: Tick
) -> Callable[[tuple[Plant, ...], Scalar], Vector]:
    """What is asked of wheels with a limited momentum, as a function of the motion and the time."""

    def asked(plants: tuple[Plant, ...], t: Scalar) -> Vector:
        return Instant(system, loop, tuple(p.state for p in plants), inputs, t, tick.number).wheel_torques()

    return asked


# ---- commands from outside

COMMAND = "command."
RATE_PORT = "command.joints.rate"
WHEEL_PORT = "command.wheels.torque"


def command_inputs(system: System, c: int, inputs: Inputs) -> list[Command]:
    """The commands of a spacecraft that come from outside."""
    layout, prefix = system.world.crafts[c].layout, system.world.prefix(c)
    makers: dict[str, Any] = {
        RATE_PORT: lambda x: JointRates(layout.moving_joints, x),
        "command.joints.torque": lambda x: JointTorques(layout.moving_joints, x),
        WHEEL_PORT: lambda x: WheelTorques(layout.wheels, x),
        "command.base.wrench": BaseWrench,
        "command.thrusters.duty": ThrusterDuty,
    }
    return [make(jnp.asarray(inputs[prefix + name])) for name, make in makers.items() if prefix + name in system.ports]
