"""Measurements of external software at a tick: the same numbers that software inside the simulation reads."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from freefloat import engine
from freefloat.model import Command
from freefloat.sim.kernel import before_software
from freefloat.sim.motion.measurement_bus import SoftwareMeasurements
from freefloat.sim.start import port_bus_at_start, zero_inputs
from freefloat.sim.system.software_checks import checked_call, remembers
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.values import record
from freefloat.values.arrays import Vector


@record
class MeasurementView:
    """All measured values in one row, the instant of each measurement [s], and whether each is valid (1 or 0)."""

    values: Vector
    taken: Vector
    valid: Vector


def view_at_tick(
    system: System, state: SystemState, inputs: Inputs, *, k: int, names: tuple[str, ...]
) -> MeasurementView:
    """Measurements of software number k at the tick of a state."""
    return _measurement_view(before_software(system, state, inputs, tick_of(system, state), k).measurements(k), names)


def view_at_start(
    system: System, state: SystemState, inputs: Inputs, *, k: int, names: tuple[str, ...]
) -> MeasurementView:
    """Measurements of software number k before its first tick: sensors act as if they had no latency."""
    here = port_bus_at_start(system, state, inputs, jnp.zeros(()))
    return _measurement_view(here.measurements(k), names)


def _measurement_view(y: SoftwareMeasurements, names: tuple[str, ...]) -> MeasurementView:
    values = [jnp.asarray(y[name], float).reshape(-1) for name in names]
    return MeasurementView(
        jnp.concatenate(values) if values else jnp.zeros(0),
        jnp.stack([jnp.asarray(y.taken(name), float) for name in names]) if names else jnp.zeros(0),
        jnp.stack([jnp.asarray(y.valid(name), float) for name in names]) if names else jnp.zeros(0),
    )


def measured_shapes(system: System, state: SystemState, k: int, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Shapes of measurements of software number k; a name that nothing measures raises an error."""

    def measure(state: SystemState) -> dict[str, Any]:
        y = port_bus_at_start(system, state, zero_inputs(system), jnp.zeros(()))
        return {name: jnp.asarray(y.measurements(k)[name]) for name in names}

    return {name: value.shape for name, value in jax.eval_shape(measure, state).items()}


def interface_of(
    system: System, state: SystemState, k: int
) -> tuple[tuple[str, ...], tuple[Command, ...], dict[str, Any]]:
    """Names that software number k reads, in order, and shapes of its commands and messages."""
    software, names, nothing = system.software[k], set[str](), zero_inputs(system)

    def begin(state: SystemState) -> None:
        here = port_bus_at_start(system, state, nothing, jnp.zeros(()))
        with checked_call(software, "begin"):
            software.begin(here.measurements(k))
        names.update(here.asked.get(k, ()))

    try:
        jax.eval_shape(begin, state)
    except Exception as error:
        if not engine.needs_numbers(error):
            raise
        begin(state)  # software may plan with NumPy

    def answer(state: SystemState) -> Any:
        here = port_bus_at_start(system, state, nothing, jnp.zeros(()))
        if remembers(software):
            with checked_call(software, "remember"):
                software.remember(state.software[k].memory, here.measurements(k), here.remembering_clock(k))
        outputs = here.requested_commands(k), here.software_messages(k)
        names.update(here.asked.get(k, ()))
        return outputs

    commands, messages = jax.eval_shape(answer, state)
    return tuple(sorted(names)), commands, messages
