"""Piecewise constant signals for input ports, with the times of their jumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.effects.wrench_steps import WrenchSteps
from freefloat.model import World
from freefloat.values import ModelError
from freefloat.values.arrays import ArrayLike
from freefloat.values.checks import require_numbers, set_fields

_ON_A_TICK = 1e-6  # of a tick: times are rounded numbers


@dataclass(frozen=True)
class Steps:
    """A signal for a port of `inputs`: `values[i]` from `times[i]` on, zero before the first.

    At a wrench port the times are free: steps of the integrator are cut there, so that impulses are exact at any `dt`.
    What comes in at other ports is held over each tick, so their times must lie on ticks.
    """

    times: ArrayLike  # (n,) rising [s]
    values: ArrayLike  # (n, ...): a row of the port's shape for each time

    def __post_init__(self) -> None:
        times, values = (
            require_numbers("Steps.times", self.times, "s"),
            require_numbers("Steps.values", self.values, ""),
        )
        if np.ndim(times) != 1 or not len(times):
            raise ModelError(f"Steps.times must be a list of times [s], got shape {np.shape(times)}.")
        if len(wrong := np.flatnonzero(np.diff(times) <= 0.0)):
            first, then = times[wrong[0]], times[wrong[0] + 1]
            raise ModelError(f"Steps.times must rise, but {then:g} s follows {first:g} s. Sort them, each time once.")
        if np.shape(values)[:1] != np.shape(times):
            raise ModelError(
                f"Steps.values needs a row for each of the {len(times)} times, got shape {np.shape(values)}."
            )
        set_fields(self, times=times, values=values)

    def require_shape(self, port: str, shape: tuple[int, ...]) -> None:
        """Raise an error if the values do not have the shape of a port."""
        if np.shape(self.values)[1:] != shape:
            raise ModelError(
                f"Input '{port}': Steps.values must be {(len(self.times), *shape)} numbers, a row for each time, got "
                f"shape {np.shape(self.values)}."
            )

    def at_ticks(self, port: str, shape: tuple[int, ...], dt: float) -> Callable[[int], np.ndarray]:
        """The values as a function of the tick, for a port whose input is held over each tick."""
        self.require_shape(port, shape)
        ticks = np.round(np.asarray(self.times) / dt)
        if len(off := np.flatnonzero(np.abs(np.asarray(self.times) / dt - ticks) > _ON_A_TICK)):
            raise ModelError(
                f"Input '{port}' jumps at {self.times[off[0]]:.10g} s, between two ticks of {dt:g} s, but it is held "
                "over each tick. Put the times on ticks, choose dt so that they are, or push with a wrench port such "
                "as 'base.wrench', whose times are free."
            )
        rows = np.concatenate([np.zeros((1, *shape)), np.asarray(self.values)])
        return lambda tick: rows[int(np.searchsorted(ticks, tick, side="right"))]


def split_wrench_steps(world: World, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[WrenchSteps, ...]]:
    """The signals that are held over ticks, and effects that replace `Steps` at wrench ports."""
    held, pushes = {}, []
    for port, signal in inputs.items():
        number, rest = world.locate(port, 0)
        named_port = world.single or rest != port  # a port without its spacecraft is rejected with the others
        if isinstance(signal, Steps) and named_port and rest.endswith(".wrench") and not rest.startswith("command."):
            frame = rest.removesuffix(".wrench")
            world.crafts[number].frame(frame)  # an unknown one raises an error with its name
            signal.require_shape(port, (6,))
            own = "" if world.single else world.names[number]
            pushes.append(WrenchSteps(frame, np.asarray(signal.times), np.asarray(signal.values), name=port, on=own))
        else:
            held[port] = signal
    return held, tuple(pushes)
