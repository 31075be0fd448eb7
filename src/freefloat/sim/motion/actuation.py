"""What the actuators of a spacecraft do at an instant: commands reach them, forces and prescribed rates come out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp

from freefloat.actuators.wheel_motors import full_wheels, spin_momentum
from freefloat.dynamics import generalized_force
from freefloat.model import Actuator, Clock, Command, PortCommands, Truth
from freefloat.model.failure import sound_part
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.input_ports import command_inputs
from freefloat.sim.system.software_checks import checked_call, require_force, require_rates
from freefloat.sim.system.system import Inputs, System, SystemState, Tick
from freefloat.sim.system.world_state import WorldState
from freefloat.values.arrays import Scalar, Vector

ActuatorCommands = tuple[Actuator, Any, PortCommands]  # an actuator, its memory, its commands


class Actuation:
    """The actuators of one spacecraft, with the commands that all software and the input ports give them.

    `ticked`: beginning of the present step [s]. `full`: wheels that are full, where that is held over a segment of a
    step, in the order of `Wiring.limited_wheels`.
    """

    def __init__(self, here: PortBus, c: int, ticked: Scalar, *, full: Vector | None = None) -> None:
        self._here, self._c, self._full = here, c, full
        self._system, self._craft = here.system, here.system.world.crafts[c]
        self._inputs = command_inputs(here.system, c, here.inputs)
        self.clock = Clock(t=here.t, tick=here.tick, dt=here.system.dt, ticked=ticked)

    @property
    def truth(self) -> Truth:
        """True states, with which wheels are full as it is held in this part of the step."""
        return dataclasses.replace(self._here.truth(self._c), full_wheels=self._full_wheels)

    def actuators(
        self, which: Callable[[Actuator], bool], *, standard: bool | None = None
    ) -> Iterator[ActuatorCommands]:
        """The actuators of a kind, each with its memory and commands; standard ones only if somebody commands them.

        Of the others no software is asked for commands. `standard`: only those that every spacecraft has, or only the
        ones that were given.
        """
        for number, actuator in self._system.actuators_of(self._c):
            if (standard is None or standard == (number is None)) and which(actuator):
                u = self.commands_for(actuator)
                if number is not None or u.any_commanded:
                    yield actuator, self._memory(number), u

    def commands_for(self, actuator: Actuator) -> PortCommands:
        """Commands of all software for an actuator; input ports replace those of their port."""
        ports, found = actuator.accepts(self._craft), []
        for port in ports:
            given: list[Command] = [command for command in self._inputs if command.port == port.name]
            for k, wires in enumerate(() if given else self._system.wiring.software):
                if wires.craft == self._c and set(port.names) & set(wires.commands):
                    given += [command for command in self._here.commands(k) if port.takes(command)]
            found.append(given)
        return PortCommands(ports, found)

    def _memory(self, number: int | None) -> Any:
        return () if number is None else self._here.state.actuators[number]

    # ---- prescribed motion

    def prescribed_rates(self) -> Vector:
        """Rates of the prescribed joints, in the order of `Wiring.prescribed`."""
        found = self.rates_of_inputs()
        for k, wires in enumerate(self._system.wiring.software):
            if wires.craft == self._c and wires.prescribes:
                found += self.rates_of_software(k)
        return jnp.concatenate(found) if found else jnp.zeros(0)

    def rates_of_inputs(self) -> list[Vector]:
        """Rates of the joints that input ports prescribe, actuator by actuator."""
        return self.rates_under(self._inputs)

    def rates_of_software(self, k: int) -> list[Vector]:
        """Rates of the joints that software number k prescribes, actuator by actuator."""
        replaced = {command.port for command in self._inputs}
        return self.rates_under([command for command in self._here.commands(k) if command.port not in replaced])

    def rates_under(self, commands: Sequence[Command]) -> list[Vector]:
        """Rates that these commands prescribe by way of the actuators."""
        found = []
        for number, actuator in self._system.actuators_of(self._c) if commands else ():
            ports = actuator.accepts(self._craft)
            u = PortCommands(ports, [[command for command in commands if port.takes(command)] for port in ports])
            if u.any_commanded and (names := actuator.prescribes(self._craft, u.parts_by_port)):
                with checked_call(sound_part(actuator), "rates"):
                    rates = actuator.rates(self._craft, self._memory(number), u, self.clock)
                    found.append(require_rates(sound_part(actuator), names, rates))
        return found

    # ---- forces

    def force(self) -> Vector:
        """Generalised force of effects, actuators and wrenches from outside."""
        system, craft, state = self._system, self._craft, self._here.states[self._c]
        clock = dataclasses.replace(self.clock, ticked=None)
        total = jnp.zeros(craft.layout.nv)
        for effect in system.effects:
            if system.acts_on(effect, self._c):
                with checked_call(effect, "force"):
                    total = total + require_force(craft, effect, effect.force(craft, state, clock))
        for given in self.actuators(has_force):
            total = total + self.force_of(*given)
        for port in system.ports:
            number, rest = system.world.locate(port, self._c)
            if number == self._c and port.endswith(".wrench") and "command." not in rest:
                frame = rest.removesuffix(".wrench")
                total = total + generalized_force(craft, state.q, frame, self._here.inputs[port])
        return total

    def joint_torques(self) -> Vector:
        """Generalised force of the actuators that drive joints, alone."""
        total, joints = jnp.zeros(self._craft.layout.nv), set(self._craft.layout.moving_joints)
        for actuator, memory, u in self.actuators(has_force):
            if any(joints & set(port.drives) for port in u.ports):
                total = total + self.force_of(actuator, memory, u)
        return total

    def force_of(self, actuator: Actuator, memory: Any, u: PortCommands) -> Vector:
        """Generalised force of one actuator under its commands, within their limits."""
        sound = sound_part(actuator)
        with checked_call(sound, "force"):
            limited = actuator.limited_commands(self.truth, memory, u, self.clock)
            force = actuator.force(self.truth, memory, limited, self.clock)
        return require_force(self._craft, sound, force)

    # ---- full wheels

    def wheel_torque(self, wheel: str) -> Scalar:
        """Commanded torque of a wheel, before limits [N m]."""
        found = [torque for _, _, u in self.actuators(has_force) for torque in u.numbers_for(wheel)]
        return sum(found, start=jnp.zeros(()))

    def _full_wheels(self, wheels: tuple[str, ...]) -> Vector:
        """Sign of each wheel that is full, else 0: as held over a segment, else as of now."""
        limited = self._system.wiring.limited_wheels
        now = full_wheels(self._craft, self._here.states[self._c], wheels)
        held = _lately_full(self._here) if self._full is None else self._full
        if held is None:
            return now
        own = [(self._c, wheel) for wheel in wheels]
        return jnp.stack([held[limited.index(w)] if w in limited else now[k] for k, w in enumerate(own)])


def has_force(actuator: Actuator) -> bool:
    """Whether an actuator pushes; if not, it prescribes rates, latches or brakes."""
    return type(sound_part(actuator)).force is not Actuator.force


def has_channels(actuator: Actuator) -> bool:
    """Whether an actuator adds channels to a run."""
    kind = type(sound_part(actuator))
    return kind.channels is not Actuator.channels or kind.channel_values is not Actuator.channel_values


def _lately_full(here: PortBus) -> Vector | None:
    """Signs of wheels that were full in the last step: a body that is spun up leaves each a little room."""
    system, log = here.system, here.state.plants.wheels
    if log is None:
        return None
    limited = system.wiring.limited_wheels
    spins = [spin_momentum(system.world.crafts[c], here.states[c], (w,)) for c, w in limited]
    full = [full_wheels(system.world.crafts[c], here.states[c], (w,)) for c, w in limited]
    lately = here.t - log.last <= system.dt * (1.0 + 1e-9)
    return jnp.where(lately, jnp.sign(jnp.concatenate(spins)), jnp.concatenate(full))


def commanded_torques(
    system: System, state: SystemState, inputs: Inputs, tick: Tick
) -> Callable[[WorldState, Scalar], Vector]:
    """Commanded torque of every wheel with a limited momentum, as a function of the plants and the time."""

    def torques_at(plants: WorldState, t: Scalar) -> Vector:
        here = PortBus(system, state, plants.states, inputs, t, tick.number)
        return jnp.stack([Actuation(here, c, tick.t).wheel_torque(wheel) for c, wheel in system.wiring.limited_wheels])

    return torques_at
