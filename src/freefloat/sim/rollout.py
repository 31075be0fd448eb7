"""Time stepping of a whole run: fixed steps in compiled blocks, and adaptive steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import numpy as np

from freefloat.sim.kernel import run_tick, step
from freefloat.sim.motion.accelerations import derivative
from freefloat.sim.motion.adaptive_wheels import WheelWatch
from freefloat.sim.motion.cut_steps import cutting_instants, next_instant, rate_inside
from freefloat.sim.motion.integrators import dormand_prince_step
from freefloat.sim.motion.prescribed_motion import apply_prescribed_rates
from freefloat.sim.system.input_ports import Signal, tabulate
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.sim.system.world_state import WorldRate, WorldState
from freefloat.values.arrays import Scalar
from freefloat.values.checks import require_quantity

Engine = Literal["native", "jax"]
# Between blocks the driver reports progress, checks numbers and can be interrupted: so many records, or so many steps.
BLOCK = 64
_BLOCK_STEPS = 100_000
AUDITED = 200  # instants at least at which a run is audited, however few are recorded
_MOST_STEPS = 2**30 - 1  # ticks are counted in 32 bits, and the audit halves them
_MOST_RECORDS = 200_000  # where no interval of records was given
_SMALLEST_STEP = 1e-9  # [s]; an adaptive step below this means that the tolerance cannot be met


class ToleranceError(ArithmeticError):
    """Raised when an adaptive step would have to become shorter than is permitted."""


@dataclass(frozen=True)
class Grid:
    """Number of steps in a run, and number of steps between two records."""

    steps: int
    record_every: int

    @property
    def records(self) -> int:
        """Number of instants recorded after the start; the last one is the end, even after a shorter interval."""
        return -(-self.steps // self.record_every)

    @property
    def stretches(self) -> tuple[Grid, ...]:
        """The grid split into even ones: the whole intervals, then the rest of the run."""
        rest = self.steps % self.record_every
        even = (Grid(self.steps - rest, self.record_every),) if self.steps > rest else ()
        return (*even, Grid(rest, rest)) if rest else even

    def require_even(self, why: str) -> Grid:
        """The grid itself if its records are evenly spaced, else an error; `why` says what needs even spacing."""
        if self.steps % self.record_every:
            raise ValueError(
                f"The duration is {self.steps} steps, which is not a whole number of intervals of {self.record_every} "
                f"steps between records: {why}. Change the duration or the interval."
            )
        return self


def grid(duration: float, dt: float, record_dt: float | None) -> Grid:
    """The grid of a duration and a recording interval [s] for a step dt [s]; an error if they are not whole steps."""
    require_quantity("The step dt", dt, "s", above=0.0)
    steps = _whole_steps("duration", duration, dt)
    if steps > _MOST_STEPS:
        raise ValueError(
            f"duration={duration:g} s is {steps:.3g} steps of dt={dt:g} s, and a run has at most {_MOST_STEPS:.3g}. "
            "Use a longer dt."
        )
    if record_dt is not None:
        return Grid(steps, min(steps, _whole_steps("record_dt", record_dt, dt)))
    every = max(1, steps // 2000)
    while steps % every:
        every -= 1
    if steps // every > _MOST_RECORDS:
        raise ValueError(
            f"duration={duration:g} s is {steps} steps of dt={dt:g} s, which cannot be shared out evenly among some "
            "2000 records. Give record_dt, or a duration that is a rounder number of steps."
        )
    return Grid(steps, every)


def _whole_steps(name: str, value: float, dt: float) -> int:
    ratio = require_quantity(name, value, "s", above=0.0) / dt
    if not ratio < 2.0**53:  # beyond, a float does not tell one count from the next
        raise ValueError(f"{name}={value:g} s is far too long for steps of dt={dt:g} s. Use a longer dt.")
    count = round(ratio)
    if count < 1 or abs(count * dt - value) > 1e-9 * max(value, dt):
        raise ValueError(f"{name}={value} s must be a whole number of steps of dt={dt} s.")
    return count


def with_audited_instants(timing: Grid) -> Grid:
    """The grid with additional records where those asked for are few: the audit needs some hundred."""
    most = max(1, timing.steps // AUDITED)
    every = min(timing.record_every, most)
    while timing.record_every % every:
        every -= 1
    return Grid(timing.steps, every)


class FixedSteps:
    """Compiled RK4 steps of a system, with the inputs at each of them."""

    def __init__(
        self, system: System, state: SystemState, signals: Mapping[str, Signal], first: int, steps: int, target: Engine
    ) -> None:
        self.table = tabulate(system, signals, first, steps)
        self._outside = (self.table, np.full((), first, np.int32)) if system.ports else ()

        self._compiled = compile_system(step_of_run, system, state, _in_parts(1), *self._outside, target=target)

    def blocks(self, state: SystemState, timing: Grid, parts: int = 1) -> Iterator[SystemState]:
        """Blocks of recorded states (leading axis: time); each tick is made in `parts` steps, counted by `tick`."""
        for even in timing.stretches:
            every = parts * even.record_every
            records = max(1, min(BLOCK, _BLOCK_STEPS // every))
            for chunk in self._compiled.rollout_chunks(
                state,
                _in_parts(parts),
                *self._outside,
                steps=parts * even.steps,
                chunk=records * every,
                record_every=every,
            ):
                state = chunk.state
                yield chunk.record

    def reach(self, states: SystemState, ticks: int, parts: int = 1) -> SystemState:
        """States after so many ticks from many states, each tick made in `parts` steps, which their `tick` counts."""
        return self.advance(in_parts(states, parts), parts * ticks, parts)

    def reach_each(self, states: SystemState, ticks: np.ndarray, parts: int) -> SystemState:
        """States after a number of ticks for each of many states, each tick made in `parts` steps."""
        alike = [np.flatnonzero(ticks == count) for count in np.unique(ticks)]
        reached = [self.reach(entries(states, some), int(ticks[some[0]]), parts) for some in alike]
        order = np.argsort(np.concatenate(alike))
        return jax.tree.map(lambda *x: np.concatenate(x)[order], *reached)

    def advance(self, states: SystemState, steps: int, parts: int) -> SystemState:
        """States after so many steps from many states; `parts` steps make a tick, and their `tick` counts steps."""
        return self._compiled.rollout_side_by_side(states, _in_parts(parts), *self._outside, steps=steps)


def in_parts(states: SystemState, parts: int) -> SystemState:
    """The states with `tick` counted in parts of a tick."""
    return dataclasses.replace(states, tick=np.asarray(parts * np.asarray(states.tick), dtype=np.int32))


def entries(states: SystemState, some: np.ndarray | slice | int | None) -> SystemState:
    """Some of many states (leading axis); `None` makes many of a single one."""
    return jax.tree.map(lambda x: np.asarray(x)[some], states)


def step_of_run(system: System, state: SystemState, parts: Any, *outside: Any) -> SystemState:
    """One step, of which `parts` make a tick; `outside`: a table of the inputs at the ports, and its first tick."""
    return step(system, state, _input_row(outside, state.tick // parts), parts)


def _input_row(outside: tuple[Any, ...], tick: Any) -> Inputs:
    """Inputs at a tick."""
    if not outside:
        return {}
    table, first = outside
    return {port: rows[tick - first] for port, rows in table.items()}


def _in_parts(count: int) -> np.ndarray:
    """Number of steps in a tick, as an array for compiled code."""
    return np.full((), count, np.int32)


@dataclass
class AdaptiveCount:
    """Counts of an adaptive run: accepted and rejected steps, and the next step length."""

    accepted: int = 0
    rejected: int = 0
    step: float = 0.0  # that would be tried next [s]


def adaptive_steps(
    system: System,
    state: SystemState,
    signals: Mapping[str, Signal],
    timing: Grid,
    target: Engine,
    tolerance: float,
    count: AdaptiveCount,
) -> Iterator[SystemState]:
    """Recorded states one by one; between two ticks the step length follows the error."""
    first = int(state.tick)
    table = tabulate(system, signals, first, timing.steps)
    instant, inputs = np.zeros(()), {port: rows[0] for port, rows in table.items()}
    begin = compile_system(_begin_tick, system, state, inputs, target=target)
    watch = WheelWatch(system, state, inputs, target)
    given = state.plants, state, inputs, instant, watch.full, instant
    attempt = compile_system(partial(_attempt, tolerance=tolerance), system, *given, target=target)
    finish = compile_system(_finish, system, state, inputs, target=target)
    count.step = count.step or system.dt
    instants = _instants(system, state)
    for length in (even.record_every for even in timing.stretches for _ in range(even.records)):
        for _ in range(length):
            inputs = {port: rows[int(state.tick) - first] for port, rows in table.items()}
            state = begin(state, inputs)
            start = float(state.tick) * system.dt
            instants = _instants(system, state) if system.actuators else instants
            plants = _between_ticks(attempt, watch, state, inputs, start, system.dt, instants, count)
            state = finish(dataclasses.replace(state, plants=plants), inputs)
        yield jax.tree.map(lambda x: np.asarray(x)[None], state)


def _instants(system: System, state: SystemState) -> np.ndarray:
    cuts = cutting_instants(system, state)
    return np.zeros(0) if cuts is None else np.asarray(cuts)


def _begin_tick(system: System, state: SystemState, inputs: Inputs) -> SystemState:
    return run_tick(system, state, inputs, tick_of(system, state))


def _attempt(
    system: System,
    plants: WorldState,
    state: SystemState,
    inputs: Inputs,
    t: jax.Array,
    full: jax.Array,
    h: jax.Array,
    *,
    tolerance: float,
) -> tuple[WorldState, Scalar]:
    tick, held = tick_of(system, state), full if full.size else None

    def rate(plants: WorldState, now: Scalar, inside: Scalar) -> WorldRate:
        return derivative(system, plants, state, inputs, tick, now, inside, full=held)

    smooth = rate if cutting_instants(system, state) is None else rate_inside(rate, t, h)
    return dormand_prince_step(smooth, plants, t, h, tolerance)


def _finish(system: System, state: SystemState, inputs: Inputs) -> SystemState:
    """The state at the end of a tick, with prescribed joints at the rates that continuous software commands there."""
    after = dataclasses.replace(tick_of(system, state), t=(state.tick + 1) * system.dt)
    plants = apply_prescribed_rates(system, state, inputs, after)
    return dataclasses.replace(state, tick=state.tick + 1, plants=plants)


def _between_ticks(
    attempt: Callable,
    watch: WheelWatch,
    state: SystemState,
    inputs: Inputs,
    start: float,
    length: float,
    instants: np.ndarray,
    count: AdaptiveCount,
) -> WorldState:
    """Integrate over one tick with steps as long as the error permits.

    No step crosses an instant at which a force jumps; a step ends where a wheel becomes full.
    """
    done, plants = 0.0, state.plants
    watch.begin_segment()
    while done < length:
        t, smooth = start + done, next_instant(instants - start, done, length)
        trial = min(count.step, smooth - done)
        plants = watch.hold_full_wheels(plants, state, inputs, t)
        reach = partial(attempt, plants, state, inputs, t, watch.full)
        reached, error = reach(trial)
        error = float(error)
        if not np.isfinite(error):
            if trial <= _SMALLEST_STEP:
                return reached  # the caller finds the non-finite state and reports where it is
            count.step = trial / 10.0
            continue
        grow = 0.9 * max(error, 1e-10) ** -0.2
        if error <= 1.0:
            cut = watch.first_full(reach, state, inputs, t, trial)
            if cut is not None:
                plants, done, count.accepted = reach(cut)[0], done + cut, count.accepted + 1
                continue
            plants, count.accepted = reached, count.accepted + 1
            if smooth - done - trial < 1e-12 * length:
                done = smooth
                watch.begin_segment()
            else:
                done += trial
            # A step cut short by the tick or an instant says little about how long the next may be.
            longer = trial * min(5.0, grow)
            count.step = max(count.step, longer) if trial < count.step else max(trial * 0.2, longer)
        else:
            count.rejected += 1
            count.step = trial * max(0.2, grow)
            if count.step < _SMALLEST_STEP:
                raise ToleranceError(
                    f"the adaptive step fell below {_SMALLEST_STEP:g} s at t = {start + done:g} s: the tolerance "
                    "cannot be met. Loosen it, or look for software or contact that is not smooth there"
                )
    return plants
