"""From recorded states to channels: one labelled dataset with units, frames and the pose of every body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import inertial_body_poses
from freefloat.model import State
from freefloat.sim.record.run_channels import owned_channel, run_channels
from freefloat.sim.rollout import Engine
from freefloat.sim.start import zero_inputs
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.values.channels import Channel
from freefloat.values.errors import ModelError, name_fault
from freefloat.values.labelled import LabelledArrays


class Recorder:
    """Compiled function of all channels of a system; `table`: inputs at every tick from number `first` on."""

    def __init__(
        self,
        system: System,
        state: SystemState,
        start: tuple[State, ...],
        table: Mapping[str, np.ndarray],
        first: int,
        target: Engine,
    ) -> None:
        self.system, self._start = system, start
        self.table, self.first = table, first
        learnt: list[Channel] = []

        def values_of(system: System, state: SystemState, start: tuple[State, ...], inputs: Inputs) -> dict[str, Any]:
            pairs = run_channels(system, state, start, inputs)
            learnt[:] = [channel for channel, _ in pairs]
            places = [inertial_body_poses(c, s) for c, s in zip(system.world.crafts, state.states, strict=True)]
            position, attitude = (jnp.concatenate(column) for column in zip(*places, strict=True))
            bodies = {"bodies.position": position, "bodies.attitude": attitude}
            return bodies | {channel.name: value for channel, value in pairs}

        self._values = compile_system(
            values_of, system, state, start, zero_inputs(system), target=target, notes=lambda: tuple(learnt)
        )
        self.channels = _with_numbers(system, self._values.notes)
        _require_storable(self.channels)
        results = self._values.compiled.structure.signature.results
        coordinates = sum(craft_state.q.size + craft_state.v.size for craft_state in state.states)
        self.numbers = 1 + sum(leaf.size for leaf in results) + int(coordinates)  # of one record, its time included

    def dataset(self, records: SystemState) -> LabelledArrays:
        """Dataset with every channel at every record."""
        at = self._inputs(records)
        values, system = self._values.batch(records, self._start, at, in_axes=(0, None, 0)), self.system
        arrays: dict[str, Any] = {c.name: label_values(c, values[c.name]) for c in self.channels}
        arrays |= self._states(records)
        for kind, axis, unit in (("position", "xyz", "m"), ("attitude", "wxyz", "1")):
            attributes = {"units": unit, "frame": "N", "long_name": f"Every body's {kind}"}
            arrays[f"bodies.{kind}"] = (("time", "body", axis), np.asarray(values[f"bodies.{kind}"]), attributes)
        time = records.tick * system.dt
        coordinates: dict[str, Any] = {"time": ("time", time, {"units": "s", "long_name": "Time"})}
        coordinates |= {c.axis: list(c.components) for c in self.channels if c.axis}
        world = system.world
        coordinates["body"] = [
            world.prefix(c) + name for c, craft in enumerate(world.crafts) for name in craft.body_names
        ]
        return LabelledArrays(arrays, coordinates)

    def _inputs(self, records: SystemState) -> dict[str, np.ndarray]:
        """Inputs in the step before each record; for the start those of the step after it."""
        rows = np.maximum(np.asarray(records.tick) - self.first - 1, 0)
        return {port: values[rows] for port, values in self.table.items()}

    def _states(self, records: SystemState) -> dict[str, Any]:
        found, world = {}, self.system.world
        words = {
            "v": ("speed", "Generalised speeds, tree order"),
            "q": ("coordinate", "Generalised coordinates, tree order"),
        }
        for c, state in enumerate(records.states):
            for name, (axis, label) in words.items():
                prefix = world.prefix(c)
                attributes = {"units": "SI", "long_name": label}
                found[f"{prefix}state.{name}"] = (("time", prefix + axis), getattr(state, name), attributes)
        return found


def channels_of(system: System, state: SystemState, start: tuple[State, ...]) -> tuple[Channel, ...]:
    """The channels that a run would record, without running or compiling it."""
    learnt: list[Channel] = []

    def collect_channels(state: SystemState, start: tuple[State, ...], inputs: Inputs) -> None:
        learnt[:] = [channel for channel, _ in run_channels(system, state, start, inputs)]

    jax.eval_shape(collect_channels, state, start, zero_inputs(system))
    return _with_numbers(system, tuple(learnt))


def _require_storable(channels: tuple[Channel, ...]) -> None:
    """Raise an error, before the run, for names of channels that no file could hold."""
    for channel in channels:
        if fault := next(filter(None, map(name_fault, (channel.name, channel.axis or ""))), ""):
            raise ModelError(f"The channel {channel.name!r:.80} cannot be recorded: {fault}. Give it another name.")


def _with_numbers(system: System, channels: tuple[Channel, ...]) -> tuple[Channel, ...]:
    """Channels with the labels of the actual parts: a label may quote a number, compiled code serves many numbers."""
    world, own = system.world, []
    for c, craft in enumerate(world.crafts):
        acting = [effect for effect in system.effects if system.acts_on(effect, c)]
        own += [owned_channel(world, c, x) for effect in acting for x in effect.channels(craft)]
    for software in system.software:
        own += [owned_channel(world, system.craft_index(software), x) for x in software.channels()]
    known = {channel.name: channel for channel in own}
    return tuple(known.get(channel.name, channel) for channel in channels)


def label_values(channel: Channel, values: Any) -> tuple[tuple[str, ...], np.ndarray, dict[str, Any]]:
    """Axes, values and attributes of a channel, for a dataset."""
    attributes: dict[str, Any] = {"units": channel.unit, "frame": channel.frame, "long_name": channel.label}
    if channel.flags:
        attributes["flags"] = list(channel.flags)
    if channel.normal != 1:
        attributes["normal_flags"] = channel.normal
    return ("time", channel.axis) if channel.axis else ("time",), np.asarray(values), attributes
