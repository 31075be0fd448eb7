"""One step of a system: what is due at a tick, then the motion until the next. Pure functions of a system's state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.effects.failures import BlindSensor, OpenThruster
from freefloat.effects.thrusters import Thrusters
from freefloat.model import Clock, Sensor, State, ThrusterDuty, Truth
from freefloat.model.ports import ticks_in
from freefloat.sim.events.clearance_watch import watch_clearances
from freefloat.sim.events.locate import step_with_events
from freefloat.sim.events.piecewise_steps import advance_motion
from freefloat.sim.motion.accelerations import derivative
from freefloat.sim.motion.integrators import RateFunction
from freefloat.sim.motion.interactions import Flags
from freefloat.sim.motion.port_bus import Instant, asked_torques, command_inputs
from freefloat.sim.motion.prescribed_motion import (
    apply_prescribed_rates,
    with_rates_from_outside,
    with_rates_until,
)
from freefloat.sim.system.sensed_motion import seen_states
from freefloat.sim.system.software_checks import checked_call, require_same_memory
from freefloat.sim.system.system import Inputs, SoftwareState, System, SystemState, blinds, put
from freefloat.sim.system.tick import Tick, tick_of
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.tracing import cond

Due = Callable[[int], Flag | bool]  # whether something that comes every so many ticks comes now


def step(system: System, loop: SystemState, inputs: Inputs, parts: Numeric | None = None) -> SystemState:
    """Advance by one tick: sense and decide what is due, let prescribed joints take their rates, integrate.

    With `parts` a tick is integrated in so many steps, one in each call, and `loop.tick` counts those. Sensors and
    software act at whole ticks all the same: only the integration becomes finer.
    """
    h = system.dt if parts is None else system.dt / parts
    loop = jax.tree.map(jnp.asarray, loop)
    tick = tick_of(system, loop, parts)
    loop = act(system, loop, inputs, tick, parts)
    advance = partial(_advance, system, loop, inputs, tick, h / system.dt)
    after = watch_clearances(system, loop, advance, tick, jnp.asarray(h, float)) if loop.clearances else advance(h)
    return dataclasses.replace(after, tick=loop.tick + 1)


def _advance(
    system: System, loop: SystemState, inputs: Inputs, tick: Tick, share: Scalar | float, h: Scalar | float
) -> SystemState:
    """The motion over a time h from a tick at which everything due has been done; `share`: of a tick in a step."""
    if system.world.has_events:
        return step_with_events(system, loop, inputs, tick, h)

    def rate_of(on: Flags, full: Vector | None = None) -> RateFunction:
        return lambda p, *times: derivative(system, p, loop, inputs, tick, *times, on=on, full=full)

    asked = asked_torques(system, loop, inputs, tick)
    plants = advance_motion(system, loop, rate_of, tick.t, h, share, asked)
    return dataclasses.replace(loop, plants=plants)


# ---- at a tick


def act(system: System, loop: SystemState, inputs: Inputs, tick: Tick, parts: Numeric | None = None) -> SystemState:
    """What happens at a tick: sensors and software whose turn it is, valves, and joints that take their rates.

    Software runs in its order. Rates that it commands take effect before the next one's sensors read: a gyro that is
    read at the same tick feels the reaction already.
    """
    turn = _Turn(system, loop, inputs, tick, parts)
    for k in range(len(system.wiring.software)):
        turn.run_software(k)
    turn.sense(range(len(system.sensors)))
    loop = _move_valves(turn.instant(), turn.due)
    return dataclasses.replace(loop, plants=apply_prescribed_rates(system, loop, inputs, tick))


def before_software(system: System, loop: SystemState, inputs: Inputs, tick: Tick, k: int) -> Instant:
    """The instant of a tick at which software number k is asked: its sensors have looked, those before it answered."""
    turn = _Turn(system, loop, inputs, tick, None)
    for j in range(k):
        turn.run_software(j)
    turn.sense(system.wiring.software[k].sensors)
    return turn.instant()


class _Turn:
    """A tick as far as it has come."""

    def __init__(self, system: System, loop: SystemState, inputs: Inputs, tick: Tick, parts: Numeric | None) -> None:
        self.system, self.loop, self.inputs, self.tick, self._parts = system, loop, inputs, tick, parts
        self.states, self._sensed, self._count = with_rates_from_outside(system, loop, inputs, tick.t), set(), loop.tick

    def instant(self, *, before_rates: bool = False) -> Instant:
        """Now."""
        tick = self.tick
        return Instant(self.system, self.loop, self.states, self.inputs, tick.t, tick.number, before_rates=before_rates)

    def due(self, ticks: int) -> Flag | bool:
        """Whether something that comes every so many ticks comes now."""
        parts = self._parts
        return True if parts is None and ticks == 1 else self._count % (ticks if parts is None else ticks * parts) == 0

    def sense(self, some: Iterable[int]) -> None:
        """Sensors that have not looked yet take a sample, if it is their turn."""
        for i in some:
            if i not in self._sensed:
                self._sensed.add(i)
                seen = seen_states(self.system, self.states, self.inputs)
                self.loop = _sense(self.system, self.loop, seen, i, self.tick, self.due)

    def run_software(self, k: int) -> None:
        """Software number k is asked, if it is its turn."""
        system, wires = self.system, self.system.wiring.software[k]
        self.sense(wires.sensors)
        self.loop = _renew(self.instant(), k, self.due)
        somebody_looks = k + 1 < len(system.software) or len(self._sensed) < len(system.sensors) or system.thrusters
        if wires.prescribes and somebody_looks:
            self.states = with_rates_until(self.instant(before_rates=True), k)


def _sense(system: System, loop: SystemState, states: tuple[State, ...], i: int, tick: Tick, due: Due) -> SystemState:
    """Sensor number i takes a sample if it is its turn."""
    sensor, wires, old = system.sensors[i], system.wiring.sensors[i], loop.sensors[i]
    clock = Clock(t=tick.t, tick=tick.number, dt=system.dt, hold=sensor.period or system.dt)
    truth, works = Truth(system.world, states, wires.craft), _works(system, sensor, tick.t)

    def sample() -> Any:
        with checked_call(sensor, "measure"):
            return sensor.sense(old, truth, tick.number // wires.ticks, clock, works)

    return dataclasses.replace(loop, sensors=put(loop.sensors, i, _if_due(due(wires.ticks), sample, old)))


def _works(system: System, sensor: Sensor, t: Scalar) -> Flag:
    working = jnp.asarray(True)
    for failure in system.failures:
        if isinstance(failure, BlindSensor) and system.on(failure) == system.on(sensor) and blinds(failure, sensor):
            working = working & ~failure.present(t)
    return working


def _renew(here: Instant, k: int, due: Due) -> SystemState:
    """Software number k remembers and, where it is sampled, answers, if it is its turn."""
    law, wires, loop = here.system.software[k], here.system.wiring.software[k], here.loop
    old, sampled = loop.software[k], law.period is not None
    if not sampled and not wires.remembers:
        return loop

    def answer() -> SoftwareState:
        memory = old.memory
        if wires.remembers:
            with checked_call(law, "remember"):
                new = law.remember(memory, here.measurements(k), here.remembering_clock(k))
            memory = require_same_memory(law, memory, new)
        if not sampled:
            return SoftwareState(memory)
        after = here.with_memory(k, memory)
        return SoftwareState(memory, after.wanted(k), after.hear(k))

    new = _if_due(due(wires.ticks or 1), answer, old)
    return dataclasses.replace(loop, software=put(loop.software, k, new))


def _if_due(due: Flag | bool, new: Any, old: Any) -> Any:
    """What is new, if it is due; a branch, so that it costs nothing in between."""
    return new() if due is True else cond(due, new, lambda: old)


def _move_valves(here: Instant, due: Due) -> SystemState:
    """Valves open, and it is settled when they close."""
    system, loop = here.system, here.loop
    valves = []
    for thrusters, old in zip(system.thrusters, loop.valves, strict=True):
        ticks = 1 if thrusters.period is None else ticks_in(thrusters.title, thrusters.period, system.dt)
        clock = Clock(t=here.t, tick=here.tick, dt=system.dt, hold=ticks * system.dt)
        duty, stuck = _duty(here, thrusters), _stuck_open(system, thrusters, here.t)
        move = partial(thrusters.actuate, old, duty, clock, stuck)
        valves.append(_if_due(due(ticks), move, old))
    return dataclasses.replace(loop, valves=tuple(valves))


def _duty(here: Instant, thrusters: Thrusters) -> Vector:
    """What all software, or somebody outside, asks of a set of thrusters."""
    system, c = here.system, here.system.on(thrusters)
    outside = [one for one in command_inputs(system, c, here.inputs) if isinstance(one, ThrusterDuty)]
    if outside:  # the thrusters of all sets, one set after the other
        sets = [one for one in system.thrusters if system.on(one) == c]
        first = sum(len(one.nozzles) for one in sets[: sets.index(thrusters)])
        return outside[0].duty[first : first + len(thrusters.nozzles)]
    asked = [
        one
        for k, wires in enumerate(system.wiring.software)
        if wires.craft == c and wires.pushes
        for one in here.commands(k)
        if isinstance(one, ThrusterDuty) and one.thrusters in ("", thrusters.name)
    ]
    return sum((one.duty for one in asked), start=jnp.zeros(len(thrusters.nozzles)))


def _stuck_open(system: System, thrusters: Thrusters, t: Scalar) -> Vector:
    stuck = jnp.zeros(len(thrusters.nozzles))
    for failure in system.failures:
        if isinstance(failure, OpenThruster) and system.on(failure) == system.on(thrusters):
            mine = np.array([float(nozzle.name == failure.thruster) for nozzle in thrusters.nozzles])
            stuck = jnp.maximum(stuck, jnp.where(failure.present(t), 1.0, 0.0) * mine)
    return stuck
