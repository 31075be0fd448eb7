"""What software outside sees at a tick: as it would inside, for whoever hands it over."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from freefloat import engine
from freefloat.model import Command
from freefloat.sim.kernel import before_software
from freefloat.sim.motion.port_bus import Instant, Reading
from freefloat.sim.start import zero_inputs
from freefloat.sim.system.software_checks import checked_call, remembers
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.sim.system.tick import tick_of
from freefloat.values import record
from freefloat.values.arrays import Vector


@record
class View:
    """Measurements one after the other, when each was taken [s], and whether each is valid (1 or 0)."""

    values: Vector
    taken: Vector
    valid: Vector


def view_at_tick(system: System, loop: SystemState, inputs: Inputs, *, k: int, names: tuple[str, ...]) -> View:
    """What software number k measures when it is asked at the tick of a state."""
    return _view(before_software(system, loop, inputs, tick_of(system, loop), k).measurements(k), names)


def view_at_start(system: System, loop: SystemState, inputs: Inputs, *, k: int, names: tuple[str, ...]) -> View:
    """What software number k measures before its first tick: sensors as if they had no latency."""
    here = Instant(system, loop, loop.states, inputs, jnp.zeros(()), loop.tick, at_start=True)
    return _view(here.measurements(k), names)


def _view(y: Reading, names: tuple[str, ...]) -> View:
    values = [jnp.asarray(y[name], float).reshape(-1) for name in names]
    return View(
        jnp.concatenate(values) if values else jnp.zeros(0),
        jnp.stack([jnp.asarray(y.taken(name), float) for name in names]) if names else jnp.zeros(0),
        jnp.stack([jnp.asarray(y.valid(name), float) for name in names]) if names else jnp.zeros(0),
    )


def measured_shapes(system: System, loop: SystemState, k: int, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Shapes of measurements for software number k; one that nobody measures is refused by name."""

    def look(loop: SystemState) -> dict[str, Any]:
        y = Instant(system, loop, loop.states, zero_inputs(system), jnp.zeros(()), loop.tick, at_start=True)
        return {name: jnp.asarray(y.measurements(k)[name]) for name in names}

    return {name: value.shape for name, value in jax.eval_shape(look, loop).items()}


def interface_of(
    system: System, loop: SystemState, k: int
) -> tuple[tuple[str, ...], tuple[Command, ...], dict[str, Any]]:
    """Names that software number k reads, in order, and shapes of its commands and messages."""
    law, names, nothing = system.software[k], set[str](), zero_inputs(system)

    def begin(loop: SystemState) -> None:
        here = Instant(system, loop, loop.states, nothing, jnp.zeros(()), loop.tick, at_start=True)
        with checked_call(law, "begin"):
            law.begin(here.measurements(k))
        names.update(here.asked.get(k, ()))

    try:
        jax.eval_shape(begin, loop)
    except Exception as error:
        if not engine.needs_numbers(error):
            raise
        begin(loop)  # software may plan with NumPy

    def answer(loop: SystemState) -> Any:
        here = Instant(system, loop, loop.states, nothing, jnp.zeros(()), loop.tick, at_start=True)
        if remembers(law):
            with checked_call(law, "remember"):
                law.remember(loop.software[k].memory, here.measurements(k), here.remembering_clock(k))
        found = here.wanted(k), here.hear(k)
        names.update(here.asked.get(k, ()))
        return found

    commands, messages = jax.eval_shape(answer, loop)
    return tuple(sorted(names)), commands, messages
