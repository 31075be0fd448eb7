"""Drivers around the pure functions: fixed steps in compiled blocks, and adaptive steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np

from freefloat import engine
from freefloat.sim.integrators import dormand_prince_step
from freefloat.sim.plant import Plant
from freefloat.sim.system import (
    Inputs,
    System,
    SystemState,
    apply_prescribed_rates,
    derivative,
    no_inputs,
    sample,
    step,
)
from freefloat.values.arrays import Scalar
from freefloat.values.checks import require_quantity

Engine = Literal["native", "jax"]
# Between blocks the driver reports progress, checks numbers and can be interrupted: so many records, or so many steps.
BLOCK = 64
_BLOCK_STEPS = 100_000
AUDITED = 200  # instants at least at which a run is audited, however few are recorded
_MOST_STEPS = 2**30 - 1  # ticks are counted in 32 bits, and the audit halves them
_MOST_RECORDS = 200_000  # that nobody asked for
_SMALLEST_STEP = 1e-9  # [s]; an adaptive step below this means that the tolerance cannot be met


class ToleranceError(ArithmeticError):
    """An adaptive step that cannot become short enough."""


@dataclass(frozen=True)
class Grid:
    """Time in integer ticks: how many steps, and how many of them between two records."""

    steps: int
    record_every: int

    @property
    def records(self) -> int:
        """How many instants are recorded after the start."""
        return self.steps // self.record_every


def grid(duration: float, dt: float, record_dt: float | None) -> Grid:
    """Fit a duration and a recording interval to the step; an error says what does not fit."""
    require_quantity("The step dt", dt, "s", above=0.0)
    steps = _whole("duration", duration, dt)
    if steps > _MOST_STEPS:
        raise ValueError(
            f"duration={duration:g} s is {steps:.3g} steps of dt={dt:g} s, and a run has at most {_MOST_STEPS:.3g}. "
            "Use a longer dt."
        )
    if record_dt is not None:
        every = _whole("record_dt", record_dt, dt)
        if steps % every:
            raise ValueError(f"duration={duration} s is not a whole number of record_dt={record_dt} s.")
        return Grid(steps, every)
    every = max(1, steps // 2000)
    while steps % every:
        every -= 1
    if steps // every > _MOST_RECORDS:
        raise ValueError(
            f"duration={duration:g} s is {steps} steps of dt={dt:g} s, which cannot be shared out evenly among some "
            "2000 records. Give record_dt, or a duration that is a rounder number of steps."
        )
    return Grid(steps, every)


def _whole(name: str, value: float, dt: float) -> int:
    count = round(require_quantity(name, value, "s", above=0.0) / dt)
    if count < 1 or abs(count * dt - value) > 1e-9 * max(value, dt):
        raise ValueError(f"{name}={value} s must be a whole number of steps of dt={dt} s.")
    return count


def with_audited_instants(timing: Grid) -> Grid:
    """The same grid with records between those asked for, where they are few: the audit looks at some hundred."""
    most = max(1, timing.steps // AUDITED)
    every = min(timing.record_every, most)
    while timing.record_every % every:
        every -= 1
    return Grid(timing.steps, every)


def fixed_step(system: System, loop: SystemState, target: Engine) -> engine.Compiled:
    """One step of RK4, compiled; its second argument says how many of them make a tick."""
    inputs = no_inputs(system)
    return engine.compile(lambda z, parts: step(system, z, inputs, parts), loop, in_parts(1), target=target)


def in_parts(count: int) -> np.ndarray:
    """How many steps make a tick, as compiled code takes it."""
    return np.full((), count, np.int32)


def fixed_steps(advance: engine.Compiled, loop: SystemState, timing: Grid) -> Iterator[SystemState]:
    """Blocks of recorded loops (leading axis: time), by fixed steps."""
    every = timing.record_every
    records = max(1, min(BLOCK, _BLOCK_STEPS // every))
    for chunk in advance.rollout_chunks(
        loop, in_parts(1), steps=timing.steps, chunk=records * every, record_every=every
    ):
        yield chunk.record


@dataclass
class AdaptiveCount:
    """How much work an adaptive run was."""

    accepted: int = 0
    rejected: int = 0


def adaptive_steps(
    system: System, loop: SystemState, timing: Grid, target: Engine, tolerance: float, count: AdaptiveCount
) -> Iterator[SystemState]:
    """Records one by one; between two ticks the step length follows the error."""
    inputs = no_inputs(system)
    instant = np.zeros(())
    held = (loop.plant, loop.held, instant)
    sampler = engine.compile(lambda z: _sample_and_apply(system, z), loop, target=target)
    attempt = engine.compile(
        lambda p, hold, t, h: _attempt(system, p, hold, inputs, t, h, tolerance), *held, instant, target=target
    )
    finish = engine.compile(lambda p, hold, t: apply_prescribed_rates(system, p, hold, t), *held, target=target)
    h = system.dt
    for _ in range(timing.records):
        for _ in range(timing.record_every):
            held, plant = sampler(loop)
            start = float(loop.tick) * system.dt
            plant, h = _between_ticks(attempt, plant, held, start, system.dt, h, count)
            plant = finish(plant, held, start + system.dt)
            loop = SystemState(tick=loop.tick + 1, plant=plant, held=held)
        yield jax.tree.map(lambda x: np.asarray(x)[None], loop)


def _sample_and_apply(system: System, loop: SystemState) -> tuple[tuple[Any, ...], Plant]:
    held = sample(system, loop)
    return held, apply_prescribed_rates(system, loop.plant, held, loop.tick * system.dt)


def _attempt(
    system: System, plant: Plant, held: tuple, inputs: Inputs, t: jax.Array, h: jax.Array, tolerance: float
) -> tuple[Plant, Scalar]:
    return dormand_prince_step(lambda p, *times: derivative(system, p, held, inputs, *times), plant, t, h, tolerance)


def _between_ticks(
    attempt: Callable, plant: Plant, held: tuple, start: float, length: float, h: float, count: AdaptiveCount
) -> tuple[Plant, float]:
    """Integrate over one tick with steps as long as the error permits; returns the step to try next."""
    done = 0.0
    while done < length:
        trial = min(h, length - done)
        reached, error = attempt(plant, held, start + done, trial)
        error = float(error)
        if not np.isfinite(error):
            if trial <= _SMALLEST_STEP:
                return reached, h  # the caller sees the non-finite state and says where it is
            h = trial / 10.0
            continue
        grow = 0.9 * max(error, 1e-10) ** -0.2
        if error <= 1.0:
            plant, count.accepted = reached, count.accepted + 1
            done = length if length - done - trial < 1e-12 * length else done + trial
            # A step cut short by the tick says little about how long the next may be.
            h = max(h, trial * min(5.0, grow)) if trial < h else trial * min(5.0, max(0.2, grow))
        else:
            count.rejected += 1
            h = trial * max(0.2, grow)
            if h < _SMALLEST_STEP:
                raise ToleranceError(
                    f"the adaptive step fell below {_SMALLEST_STEP:g} s at t = {start + done:g} s: the tolerance "
                    "cannot be met. Loosen it, or look for a law or contact that is not smooth there"
                )
    return plant, h
