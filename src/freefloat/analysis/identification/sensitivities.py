"""Measurements of a simulated experiment with exact derivatives: one direction of the parameters per batch instance.

The step is differentiated forward (`jax.jvp`) before it is compiled, so a tangent of the whole state runs beside the
motion. Integers and flags of the state (ticks, modes of software) have no tangent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.analysis.identification.parameters import Placement, find_parameters
from freefloat.model import State
from freefloat.sensors.imperfection import Imperfection, ImperfectSensor
from freefloat.sim.experiment import Experiment
from freefloat.sim.kernel import step
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.record.run_channels import run_channels
from freefloat.sim.rollout import grid
from freefloat.sim.start import begin
from freefloat.sim.system.input_ports import tabulate
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.errors import ModelError, SoftwareError

Channels = tuple[str, ...]
Values = tuple[Any, ...]  # one array for each channel


@record
class StateWithTangent:
    """A state and its derivative along one direction of the parameters."""

    state: SystemState
    change: tuple[Any, ...]  # derivative of each real leaf of the state


@record
class _NoRandomErrors(Imperfection):
    """No noise and no lost samples: the sensor reports its mean value."""

    def noise(self, key: int, number: Numeric, count: int) -> Vector:
        """Zero noise, `count` numbers."""
        return jnp.zeros(count)

    def is_lost(self, key: int, number: Numeric) -> Numeric:
        """Whether a sample is lost: never."""
        return jnp.asarray(False)


def _without_noise(experiment: Experiment) -> Experiment:
    """Experiment with sensors that make no random errors."""
    sensors = tuple(
        dataclasses.replace(sensor, imperfection=_NoRandomErrors()) if isinstance(sensor, ImperfectSensor) else sensor
        for sensor in experiment.system.sensors
    )
    return dataclasses.replace(experiment, system=dataclasses.replace(experiment.system, sensors=sensors))


class Sensitivities:
    """Channels of an experiment and their derivatives by parameters, at every recorded instant after the start."""

    def __init__(self, experiment: Experiment, paths: Sequence[str], channels: Sequence[str]) -> None:
        _require_smooth(experiment)
        quiet, channels = _without_noise(experiment), tuple(channels)
        self.parameters, self.channels = find_parameters(experiment, paths), channels
        timing = grid(quiet.duration, quiet.dt, quiet.record_dt)
        self.start, self.timing = quiet.start, timing.require_even("identification compares evenly spaced data")
        self.system, state = quiet.begin()
        self.time = quiet.dt * self.timing.record_every * np.arange(1, self.timing.records + 1)
        self._table = tabulate(self.system, quiet.inputs, 0, self.timing.steps)
        first = {port: rows[0] for port, rows in self._table.items()}
        seen = jax.eval_shape(partial(channel_values, channels=channels), self.system, state, self.start, first)
        self.shapes = {name: value.shape for name, value in zip(channels, seen, strict=True)}
        values, direction = self.parameters.nominal, np.zeros(len(self.parameters.names))
        placement = self.parameters.placement
        begin_at = partial(_tangent_at_start, placement=placement)
        self._begin = compile_system(begin_at, self.system, self.start, values, direction, first)
        motion = StateWithTangent(state, tuple(np.zeros_like(leaf) for leaf in _real(state)))
        advance = partial(_step_with_tangent, placement=placement)
        self._advance = compile_system(advance, self.system, motion, values, direction, self._table)
        observe = partial(_channels_with_tangent, channels, placement)
        self._observe = compile_system(observe, self.system, motion, self.start, values, direction, first)

    def __call__(self, values: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Values (instants, ...) and derivatives by all parameters (parameters, instants, ...) of each channel."""
        return self.along(values, np.eye(len(values)))

    def along(self, values: np.ndarray, directions: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Values of each channel and their derivatives along some directions of the parameters, one in each row."""
        count, records, every = len(directions), self.timing.records, self.timing.record_every
        first = {port: rows[0] for port, rows in self._table.items()}
        motions = self._begin.batch(self.start, values, directions, first, in_axes=(None, None, 0, None))
        axes = (0, None, 0, None)
        rolled = self._advance.rollout_batch(
            motions, values, directions, self._table, steps=self.timing.steps, record_every=every, in_axes=axes
        )
        flat = jax.tree.map(lambda x: x.reshape(count * records, *x.shape[2:]), rolled.record)
        rows = np.tile(every * np.arange(1, records + 1) - 1, count)  # a record holds the inputs of the step before it
        inputs = {port: table[rows] for port, table in self._table.items()}
        along, axes = np.repeat(directions, records, axis=0), (0, None, None, 0, 0)
        seen, changes = self._observe.batch(flat, self.start, values, along, inputs, in_axes=axes)
        shape = (count, records)
        return [x.reshape(*shape, *x.shape[1:])[0] for x in seen], [x.reshape(*shape, *x.shape[1:]) for x in changes]


def _require_smooth(experiment: Experiment) -> None:
    """Raise an error if the experiment has no derivative through steps of a fixed length."""
    if not isinstance(experiment, Experiment):
        raise ModelError(f"Derivatives need an Experiment, got {experiment!r}. Make one: Experiment.of(craft, ...).")
    system = experiment.system
    if experiment.integrator != "rk4":
        raise ModelError("Identification needs integrator='rk4': the length of adaptive steps would have derivatives.")
    if system.world.has_events or system.interactions or any(part.limit is not None for part in system.clearances):
        raise ModelError(
            "Identification takes derivatives through every step, and an event or a contact has none. Take data from a "
            "phase without: after capture, compose the spacecraft by Spacecraft.grasp."
        )
    for sensor in system.sensors:
        if np.any(np.asarray(getattr(sensor, "step", 0.0)) > 0.0):
            raise ModelError(f"{sensor.title} rounds to steps, which has no derivative. Give it step=0.0.")


def _tangent_at_start(
    system: System, start: tuple[State, ...], values: Vector, direction: Vector, inputs: Inputs, *, placement: Placement
) -> StateWithTangent:
    def at(values: Vector) -> tuple[tuple[Any, ...], SystemState]:
        state = begin(*placement.insert_values(system, start, values), inputs)[1]
        return _real(state), state

    _, change, state = jax.jvp(at, (values,), (direction,), has_aux=True)
    return StateWithTangent(state, change)


def _step_with_tangent(
    system: System,
    motion: StateWithTangent,
    values: Vector,
    direction: Vector,
    table: dict[str, Any],
    *,
    placement: Placement,
) -> StateWithTangent:
    inputs = {port: rows[motion.state.tick] for port, rows in table.items()}

    def after(real: tuple[Any, ...], values: Vector) -> tuple[tuple[Any, ...], SystemState]:
        state = step(placement.insert_values(system, (), values)[0], _with_real(motion.state, real), inputs)
        return _real(state), state

    _, change, state = jax.jvp(after, (_real(motion.state), values), (motion.change, direction), has_aux=True)
    return StateWithTangent(state, change)


def _channels_with_tangent(
    channels: Channels,
    placement: Placement,
    system: System,
    motion: StateWithTangent,
    start: tuple[State, ...],
    values: Vector,
    direction: Vector,
    inputs: Inputs,
) -> tuple[Values, Values]:
    def channels_at(real: tuple[Any, ...], values: Vector) -> Values:
        changed, state = placement.insert_values(system, (), values)[0], _with_real(motion.state, real)
        return channel_values(changed, state, start, inputs, channels)

    return jax.jvp(channels_at, (_real(motion.state), values), (motion.change, direction))


def channel_values(
    system: System, state: SystemState, start: tuple[State, ...], inputs: Inputs, channels: Channels
) -> Values:
    """Value of each channel: a sensor reading if there is one, else the true value, else a channel of the run."""
    tick, recorded = tick_of(system, state), None
    here, found = PortBus(system, state, state.states, inputs, tick.t, tick.number), []
    for name in channels:
        try:
            found.append(jnp.asarray(here.observe(name), dtype=float))
        except SoftwareError:
            if recorded is None:
                recorded = {channel.name: value for channel, value in run_channels(system, state, start, inputs)}
            if name not in recorded:
                raise ModelError(f"No channel is called '{name}'. Channels: {', '.join(recorded)}.") from None
            found.append(jnp.asarray(recorded[name], dtype=float))
    return tuple(found)


def _is_real(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.floating)


def _real(state: SystemState) -> tuple[Any, ...]:
    return tuple(leaf for leaf in jax.tree.leaves(state) if _is_real(leaf))


def _with_real(state: SystemState, real: tuple[Any, ...]) -> SystemState:
    leaves, tree = jax.tree.flatten(state)
    real_leaves = iter(real)
    return jax.tree.unflatten(tree, [next(real_leaves) if _is_real(leaf) else leaf for leaf in leaves])
