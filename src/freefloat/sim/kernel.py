"""One step of a system: sensors and software that are due at a tick, then the motion until the next. Pure functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from freefloat.model import Actuator, Clock, PortCommands, Truth
from freefloat.model.failure import sound_part
from freefloat.model.part_kinds import ticks_in
from freefloat.sim.events.clearance_watch import watch_clearances
from freefloat.sim.events.locate import step_with_events
from freefloat.sim.events.piecewise_steps import advance_motion
from freefloat.sim.motion.accelerations import derivative
from freefloat.sim.motion.actuation import Actuation, commanded_torques
from freefloat.sim.motion.forces_before import forces_before_tick
from freefloat.sim.motion.integrators import RateFunction
from freefloat.sim.motion.interactions import Flags
from freefloat.sim.motion.measurement_bus import truth_of
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.motion.prescribed_motion import apply_prescribed_rates, with_rates_so_far
from freefloat.sim.system.sensed_motion import sensed_states
from freefloat.sim.system.software_checks import checked_call, require_same_memory
from freefloat.sim.system.system import (
    Inputs,
    SoftwareState,
    System,
    SystemState,
    Tick,
    tick_of,
    with_entry,
)
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.tracing import cond

Due = Callable[[int], Flag | bool]  # whether a part with a period of so many ticks is due at this tick


def step(system: System, state: SystemState, inputs: Inputs, parts: Numeric | None = None) -> SystemState:
    """Advance by one tick: sense and decide what is due, let prescribed joints take their rates, integrate.

    With `parts` a tick is integrated in so many steps, one in each call, and `state.tick` counts those. Sensors and
    software act at whole ticks all the same: only the integration becomes finer.
    """
    h = system.dt if parts is None else system.dt / parts
    state = jax.tree.map(jnp.asarray, state)
    tick = tick_of(system, state, parts)
    state = run_tick(system, state, inputs, tick, parts)
    advance = partial(_advance, system, state, inputs, tick, h / system.dt)
    after = watch_clearances(system, state, advance, tick, jnp.asarray(h, float)) if state.clearances else advance(h)
    return dataclasses.replace(after, tick=state.tick + 1)


def _advance(
    system: System, state: SystemState, inputs: Inputs, tick: Tick, share: Scalar | float, h: Scalar | float
) -> SystemState:
    """The motion over a time h after the work of a tick; `share`: length of a step as a share of a tick."""
    if system.world.has_events:
        return step_with_events(system, state, inputs, tick, h)

    def rate_of(on: Flags, full: Vector | None = None) -> RateFunction:
        return lambda p, *times: derivative(system, p, state, inputs, tick, *times, on=on, full=full)

    asked = commanded_torques(system, state, inputs, tick)
    plants = advance_motion(system, state, rate_of, tick.t, h, share, asked)
    return dataclasses.replace(state, plants=plants)


# ---- at a tick


def run_tick(
    system: System, state: SystemState, inputs: Inputs, tick: Tick, parts: Numeric | None = None
) -> SystemState:
    """The state after the work of a tick: sensors, software and actuators that are due, joints that take their rates.

    Software runs in its order. Rates that it commands take effect before the next one's sensors read: a gyro that is
    read at the same tick measures the reaction already.
    """
    tick_state = _TickState(system, state, inputs, tick, parts)
    for k in range(len(system.wiring.software)):
        tick_state.run_software(k)
    tick_state.sense(range(len(system.sensors)))
    state = _run_actuators(tick_state.port_bus(), tick_state.due)
    return dataclasses.replace(state, plants=apply_prescribed_rates(system, state, inputs, tick))


def before_software(system: System, state: SystemState, inputs: Inputs, tick: Tick, k: int) -> PortBus:
    """The port bus of a tick just before software number k runs: its sensors and earlier software have run."""
    tick_state = _TickState(system, state, inputs, tick, None)
    for j in range(k):
        tick_state.run_software(j)
    tick_state.sense(system.wiring.software[k].sensors)
    return tick_state.port_bus()


class _TickState:
    """State of a tick while its sensors and software run one after the other."""

    def __init__(self, system: System, state: SystemState, inputs: Inputs, tick: Tick, parts: Numeric | None) -> None:
        self.system, self.state, self.inputs, self.tick, self._parts = system, state, inputs, tick, parts
        self.states, self._sensed, self._count = state.states, set(), state.tick
        self._forces = forces_before_tick(system, state, inputs, tick)  # before anything of this tick has run
        if any(system.wiring.prescribed_by_inputs):
            self.states = with_rates_so_far(self.port_bus(before_rates=True), tick.t)

    def port_bus(self, *, before_rates: bool = False) -> PortBus:
        """The port bus of the present state."""
        tick = self.tick
        return PortBus(
            self.system,
            self.state,
            self.states,
            self.inputs,
            tick.t,
            tick.number,
            before_rates=before_rates,
            forces=self._forces,
        )

    def due(self, ticks: int) -> Flag | bool:
        """Whether a part with a period of so many ticks is due at this tick."""
        parts = self._parts
        return True if parts is None and ticks == 1 else self._count % (ticks if parts is None else ticks * parts) == 0

    def sense(self, some: Iterable[int]) -> None:
        """Let sensors that have not run in this tick take a sample, if they are due."""
        for i in some:
            if i not in self._sensed:
                self._sensed.add(i)
                measured = sensed_states(self.system, self.states, self.inputs)
                truth = truth_of(self.system, self.state, measured, self.system.wiring.sensors[i].craft, self._forces)
                self.state = _sense(self.system, self.state, truth, i, self.tick, self.due)

    def run_software(self, k: int) -> None:
        """Run software number k, if it is due."""
        system, wires = self.system, self.system.wiring.software[k]
        self.sense(wires.sensors)
        self.state = _renew_software(self.port_bus(), k, self.due)
        somebody_looks = k + 1 < len(system.software) or len(self._sensed) < len(system.sensors) or system.actuators
        if wires.prescribes and somebody_looks:
            self.states = with_rates_so_far(self.port_bus(before_rates=True), self.tick.t, k)


def _sense(system: System, state: SystemState, truth: Truth, i: int, tick: Tick, due: Due) -> SystemState:
    """The state after sensor number i has taken a sample, if it is due."""
    wires, old = system.wiring.sensors[i], state.sensors[i]
    sensor = system.with_failures(system.sensors[i], wires.craft)
    clock = Clock(t=tick.t, tick=tick.number, dt=system.dt, hold=sensor.period or system.dt)

    def sample() -> Any:
        with checked_call(system.sensors[i], "measure"):
            return sensor.sense(old, truth, tick.number // wires.ticks, clock)

    return dataclasses.replace(state, sensors=with_entry(state.sensors, i, _if_due(due(wires.ticks), sample, old)))


def _renew_software(here: PortBus, k: int, due: Due) -> SystemState:
    """The state after software number k has renewed its memory and, if it is sampled, its commands, if it is due."""
    software, wires, state = here.system.software[k], here.system.wiring.software[k], here.state
    old, sampled = state.software[k], software.period is not None
    if not sampled and not wires.remembers:
        return state

    def new_state() -> SoftwareState:
        memory = old.memory
        if wires.remembers:
            with checked_call(software, "remember"):
                new = software.remember(memory, here.measurements(k), here.remembering_clock(k))
            memory = require_same_memory(software, memory, new)
        if not sampled:
            return SoftwareState(memory)
        after = here.with_memory(k, memory)
        return SoftwareState(memory, after.requested_commands(k), after.software_messages(k))

    new = _if_due(due(wires.ticks or 1), new_state, old)
    return dataclasses.replace(state, software=with_entry(state.software, k, new))


def _if_due(due: Flag | bool, new: Any, old: Any) -> Any:
    """`new()` if it is due, else `old`; a branch in compiled code, so that nothing is computed in between."""
    return new() if due is True else cond(due, new, lambda: old)


def _run_actuators(here: PortBus, due: Due) -> SystemState:
    """The state after all actuators with a memory that are due have renewed it."""
    system, state, memories = here.system, here.state, list(here.state.actuators)
    for c in range(len(system.world.crafts)):
        for number, actuator in system.actuators_of(c):
            sound = sound_part(actuator)
            if number is None or type(sound).actuate is Actuator.actuate:
                continue
            ticks = 1 if sound.period is None else ticks_in(sound.title, sound.period, system.dt)
            actuation = Actuation(here, c, here.t)
            clock = dataclasses.replace(actuation.clock, hold=ticks * system.dt)
            u = actuation.commands_for(actuator)  # now: software must not be asked within a branch
            move = partial(_renewed_memory, actuation.truth, actuator, memories[number], u, clock)
            memories[number] = _if_due(due(ticks), move, memories[number])
    return dataclasses.replace(state, actuators=tuple(memories))


def _renewed_memory(truth: Truth, actuator: Actuator, old: Any, u: PortCommands, clock: Clock) -> Any:
    sound = sound_part(actuator)
    with checked_call(sound, "actuate"):
        new = actuator.actuate(truth, old, u, clock)
    return require_same_memory(sound, old, new, "actuate")
