"""From recorded states to channels: one labelled dataset with units, frames and every body's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.dynamics import inertial_body_poses
from freefloat.engine import compile
from freefloat.model import State
from freefloat.sim.rollout import Engine
from freefloat.sim.run_channels import run_channels
from freefloat.sim.system import System, SystemState
from freefloat.values.channels import Channel

if TYPE_CHECKING:
    import xarray


class Recorder:
    """All channels of a system, compiled."""

    def __init__(self, system: System, loop: SystemState, start: State, target: Engine) -> None:
        self.system, self.channels = system, dict[str, Channel]()

        def values_of(loop: SystemState) -> dict[str, Any]:
            pairs = run_channels(system, loop, start)
            self.channels.update((channel.name, channel) for channel, _ in pairs)  # known once traced
            position, attitude = inertial_body_poses(system.craft, loop.plant.state)
            bodies = {"bodies.position": position, "bodies.attitude": attitude}
            return bodies | {channel.name: value for channel, value in pairs}

        self._values = compile(values_of, loop, target=target)

    def dataset(self, records: SystemState) -> xarray.Dataset:
        """Every channel of every record."""
        import xarray

        values, system = self._values.batch(records), self.system
        arrays: dict[str, Any] = {c.name: _label_values(c, values[c.name]) for c in self.channels.values()}
        state = records.plant.state
        arrays["state.v"] = (
            ("time", "speed"),
            state.v,
            {"units": "SI", "long_name": "Generalised speeds, tree order"},
        )
        arrays["state.q"] = (
            ("time", "coordinate"),
            state.q,
            {"units": "SI", "long_name": "Generalised coordinates, tree order"},
        )
        for kind, axis, unit in (("position", "xyz", "m"), ("attitude", "wxyz", "1")):
            attributes = {"units": unit, "frame": "N", "long_name": f"Every body's {kind}"}
            arrays[f"bodies.{kind}"] = (("time", "body", axis), np.asarray(values[f"bodies.{kind}"]), attributes)
        time = records.tick * system.dt
        coordinates: dict[str, Any] = {"time": ("time", time, {"units": "s", "long_name": "Time"})}
        coordinates |= {c.axis: list(c.components) for c in self.channels.values() if c.axis}
        coordinates["body"] = list(system.craft.body_names)
        return xarray.Dataset(arrays, coords=coordinates)


def _label_values(channel: Channel, values: Any) -> tuple[tuple[str, ...], np.ndarray, dict[str, Any]]:
    attributes: dict[str, Any] = {"units": channel.unit, "frame": channel.frame, "long_name": channel.label}
    if channel.flags:
        attributes["flags"] = list(channel.flags)
    return ("time", channel.axis) if channel.axis else ("time",), np.asarray(values), attributes
