"""Measurements at an instant, by name: from an input port, a message, a sensor, or the truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from freefloat.control.measured import attach_rate
from freefloat.model import Clock, Command, State, Truth
from freefloat.model.forces import Forces
from freefloat.sensors.ideal import IdealMeasurements, true_value
from freefloat.sensors.quantity_lookup import NamedQuantity, find_quantity
from freefloat.sim.system.constraint_state import ConstraintState
from freefloat.sim.system.sensed_motion import sensed_states
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.sim.system.unmeasured import unmeasured_message
from freefloat.values import SoftwareError
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector


@dataclasses.dataclass(frozen=True)
class Flow:
    """Direction of time for derivatives along the motion."""

    s: Scalar  # grows from zero with time
    forces: tuple[Vector, ...]  # generalised, on each spacecraft


class MeasurementBus:
    """What software measures at one instant; `PortBus` adds what it commands and sends as messages.

    With `before_rates` the rates of prescribed joints are not known yet: only positions and momenta can be read. With
    `at_start` software runs as if its tick were now, and sensors as if they had no latency.
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
        missing: dict[int, set[str]] | None = None,
        forces: Callable[[], Forces] | None = None,
    ) -> None:
        self.system, self.state, self.states, self.inputs = system, state, states, inputs
        self.t, self.tick = t, tick
        self._before_rates, self._at_start, self._flow = before_rates, at_start, flow
        self.asked: dict[int, set[str]] = {}  # names that each piece of software has read
        self.forces = forces  # just before this tick; None where they are not known
        self._missing = missing  # collects names that no sensor measures; None: the first one raises an error
        self._commands: dict[int, tuple[Command, ...]] = {}  # of software, each computed once
        self._messages: dict[int, dict[str, Any]] = {}

    def messages(self, k: int) -> dict[str, Any]:
        """Messages of software number k at this instant."""
        raise NotImplementedError

    def clock(self, k: int) -> Clock:
        """The clock of software number k."""
        period = self.system.software[k].period
        return Clock(t=self.t, tick=self.tick, dt=self.system.dt, hold=period or 0.0)

    def remembering_clock(self, k: int) -> Clock:
        """The clock of software number k for its memory, which continuous software renews at every tick."""
        return dataclasses.replace(self.clock(k), hold=self.system.software[k].period or self.system.dt)

    def truth(self, craft: int) -> Truth:
        """True states, for a part on a spacecraft."""
        return truth_of(self.system, self.state, self.states, craft, self.forces)

    def sensor_truth(self, craft: int) -> Truth:
        """States as sensors measure them, for a part on a spacecraft: those of a facility that moves it."""
        return dataclasses.replace(self.truth(craft), states=sensed_states(self.system, self.states, self.inputs))

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
        truth, software = self.sensor_truth(own), self.system.software[k]
        try:
            value = true_value(truth, name)
        except SoftwareError as error:
            raise SoftwareError(f"{software.title} reads '{name}': {error}") from None
        if not self._before_rates:
            return value
        found = find_quantity(truth.world, truth.quantities, name, own)
        assert found is not None
        conserved = found.quantity.is_conserved(found.channel.name) and not truth.world.is_held(found.number)
        if not (conserved or found.quantity.has_rate(found.channel.name)):
            raise SoftwareError(
                f"{software.title} prescribes joint rates continuously and reads '{name}', "
                f"which those rates change. Sample it: period={self.system.dt:g} or longer."
            )
        return value if self._flow is None else attach_rate(value, self._rate(found, conserved), self._flow.s)

    def _rate(self, found: NamedQuantity, conserved: bool) -> Numeric:
        """Rate of a quantity along the motion: by external forces where it is conserved, else from measurements."""
        assert self._flow is not None
        quantity, name = found.quantity, found.channel.name
        if conserved:
            rate = quantity.rate_from_forces(self.truth(found.number), self._flow.forces[found.number], name)
        else:
            rate = quantity.rate(IdealMeasurements(self.sensor_truth(found.number)), name)
        if rate is None:
            raise SoftwareError(f"{quantity.title} says that it has a rate of '{name}', but gives None.")
        return rate

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


def truth_of(
    system: System,
    state: SystemState,
    states: tuple[State, ...],
    craft: int,
    forces: Callable[[], Forces] | None = None,
) -> Truth:
    """The truth of a system at an instant, for a part on a spacecraft."""
    latched = state.constraints.latched if isinstance(state.constraints, ConstraintState) else None
    return Truth(system.world, states, craft, system.quantities, latched, forces)


class SoftwareMeasurements:
    """Measurements of one piece of software at an instant, by name."""

    def __init__(self, instant: MeasurementBus, k: int) -> None:
        self._instant, self._k = instant, k

    def __getitem__(self, name: str) -> Any:
        return self._instant.read(self._k, name)[0]

    def valid(self, name: str) -> Flag:
        """Whether the measurement is valid."""
        return self._instant.read(self._k, name)[2]

    def taken(self, name: str) -> Scalar:
        """Time at which the measurement was taken [s]."""
        return self._instant.read(self._k, name)[1]
