"""Simulated sensor data of an experiment over time, with noise: what a spacecraft would send to the ground."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from freefloat.analysis.identification.sensitivities import channel_values
from freefloat.sim.experiment import Experiment
from freefloat.sim.rollout import FixedSteps, grid
from freefloat.sim.system.input_ports import tabulate
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.values.errors import ModelError


def sensor_data(experiment: Experiment, channels: Sequence[str]) -> dict[str, np.ndarray]:
    """`time` and channels at the recorded instants after the start: sensor readings, or else true values."""
    if experiment.integrator != "rk4":
        raise ModelError("sensor_data needs integrator='rk4'.")
    system, state = experiment.begin()
    timing, names = grid(experiment.duration, experiment.dt, experiment.record_dt), tuple(channels)
    steps = FixedSteps(system, state, experiment.inputs, 0, timing.steps, "native")
    blocks = list(steps.blocks(state, timing))
    records = jax.tree.map(lambda *parts: np.concatenate(parts), *blocks)
    table = tabulate(system, experiment.inputs, 0, timing.steps)
    inputs = {port: rows[np.asarray(records.tick) - 1] for port, rows in table.items()}
    first = {port: rows[0] for port, rows in table.items()}
    observe = compile_system(partial(channel_values, channels=names), system, state, experiment.start, first)
    seen = observe.batch(records, experiment.start, inputs, in_axes=(0, None, 0))
    time: dict[str, Any] = {"time": np.asarray(records.tick) * experiment.dt}
    return time | dict(zip(names, map(np.asarray, seen), strict=True))
