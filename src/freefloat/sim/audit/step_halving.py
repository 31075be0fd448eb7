"""The accuracy of a run from the same run at half the step: the same compiled code, the same records.

Where the error is proportional to h^p, the run at half the step has 2^-p of it, so that the difference of both is
1 - 2^-p of the run's error. p is 4 where motion is smooth; `step_order` measures it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import numpy as np

from freefloat.model import World
from freefloat.sim.audit.accuracy import ChannelError, RunAccuracy
from freefloat.sim.audit.channel_differences import difference, is_number, size_of, switch_flags, unit_of
from freefloat.sim.audit.error_growth import growth_rate
from freefloat.sim.audit.event_shifts import between_events, event_shifts
from freefloat.sim.events.run_events import Event
from freefloat.sim.rollout import FixedSteps, Grid, entries, in_parts
from freefloat.sim.system.system import SystemState

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArray, LabelledArrays

HALVES = 2
# An event cuts its step, and what is shorter than half a step is integrated alike in both runs: half may not show.
_CUT = 2.0
_EPS = float(np.finfo(float).eps)
_FAR_TURNED = 0.2  # [rad]; beyond, a difference is no longer proportional to its cause
_FAR_MOVED = 0.25  # of the way that a channel makes


@dataclass(frozen=True)
class ComparedRun:
    """A run for the measurement of its accuracy: its states, channels and events at the same instants."""

    records: SystemState
    data: LabelledArrays
    events: tuple[Event, ...]


def halved_records(
    steps: FixedSteps, records: SystemState, timing: Grid, parts: int, wanted: Callable[[], bool]
) -> SystemState | None:
    """The states of a run with each tick in `parts` steps; None if `wanted` becomes false."""
    finer = in_parts(entries(records, 0), parts)
    blocks = [entries(finer, None)]
    done = Grid(int(records.tick[-1] - records.tick[0]), timing.record_every)
    for block in steps.blocks(finer, done, parts):
        blocks.append(block)
        if not wanted():
            return None
    whole: SystemState = jax.tree.map(lambda *x: np.concatenate(x), *blocks)
    return dataclasses.replace(whole, tick=np.asarray(whole.tick // parts, dtype=np.int32))


def compare_runs(
    world: World, run: ComparedRun, finer: ComparedRun, shown: np.ndarray, order: float, reason: str
) -> RunAccuracy:
    """The accuracy of a run from a run at half the step; `shown`: flags of the records that were asked for."""
    steps = int(run.records.tick[-1] - run.records.tick[0])
    factor = 2.0**order / (2.0**order - 1.0)
    shifts, remarks = event_shifts(run.events, finer.events, factor)
    if shifts:  # the first event comes before any step is cut
        factor *= _CUT
        first = min(shift.time for shift in shifts)
        shifts = tuple(
            dataclasses.replace(shift, shift=_CUT * shift.shift) if shift.time > first else shift for shift in shifts
        )
    time = run.data["time"].values
    use = shown & ~between_events(time, run.events, finer.events)
    channels, scales = {}, (factor, _EPS * (64.0 + HALVES * steps), _extent(run.data))
    for name, array in run.data.data_vars.items():
        if is_number(array) and array.dims[:1] == ("time",) and array.values.size:
            channels |= _channel_errors(world, name, array, finer.data[name].values, use, time, scales)
    headline = headline_channels(world, channels)
    apart, floor = _largest_differences(run.data, finer.data, headline, use, steps)
    converged = all(channels[name].verdict != "not converged" for name in headline.values())
    rate = 0.0 if converged else growth_rate(time[use], apart, floor)
    if rate:
        remarks = (
            *remarks,
            f"Chaotic: small differences grow exponentially at {rate:.3g} 1/s (2.72 times in {1.0 / rate:.3g} s). "
            "No step follows such a motion for long.",
        )
    elif not converged:
        remarks = (*remarks, "Not converged: halve dt until the result no longer changes.")
    return RunAccuracy(reason, channels, headline, shifts, remarks, order, rate)


# ---- channels


def _channel_errors(
    world: World,
    name: str,
    array: LabelledArray,
    other: np.ndarray,
    use: np.ndarray,
    time: np.ndarray,
    scales: tuple[float, float, float],
) -> dict[str, ChannelError]:
    """Errors of a channel, by name; a channel whose components have different units has one for each unit.

    `scales`: factor from difference to error, rounding as a share, largest distance of bodies from the origin [m].
    """
    factor, rounding, extent = scales
    apart, names, unit = difference(array, other), _components(array), unit_of(array)
    jumped = switch_flags(array, apart) & use[:, None]
    apart = np.where(use[:, None] & ~jumped, apart, 0.0)
    largest, way = size_of(array)
    floor = rounding * max(largest, {"m": extent, "rad": 1.0}.get(unit, 0.0))
    units = _component_units(world, name, names, unit)
    found = {}
    for own_unit in dict.fromkeys(units):
        mine = [k for k, u in enumerate(units) if u == own_unit]
        key = name if len(set(units)) == 1 else f"{name} [{own_unit}]"
        found[key] = _largest(apart[:, mine], [names[k] for k in mine], own_unit, time, (factor, floor, way))
        if array.dims[-1] in ("wxyz", "rpy"):  # no rotation is off by more than half a turn
            found[key] = dataclasses.replace(found[key], error=min(found[key].error, np.pi))
        found[key] = dataclasses.replace(found[key], switched=int(np.count_nonzero(np.any(jumped[:, mine], axis=1))))
    return found


def _largest(
    apart: np.ndarray, names: list[str], unit: str, time: np.ndarray, scales: tuple[float, float, float]
) -> ChannelError:
    factor, floor, way = scales
    size = np.where(np.isfinite(apart), apart, np.inf)
    row, column = np.unravel_index(int(np.argmax(size)), size.shape)
    largest = float(size[row, column])
    if largest <= floor:
        return ChannelError(floor, unit, float(time[row]), names[column], "rounding")
    far = _FAR_TURNED if unit == "rad" else max(_FAR_MOVED * way, 8.0 * floor)
    verdict = "measured" if largest <= far else "not converged"
    return ChannelError(factor * largest, unit, float(time[row]), names[column], verdict)


def _extent(data: LabelledArrays) -> float:
    """Largest distance of a body from the origin [m], at least 1 m: positions are rounded sums of such lengths."""
    return float(np.max(np.abs(data["bodies.position"].values), initial=1.0))


def _components(array: LabelledArray) -> list[str]:
    """Names of the components that are compared; one empty name for a single number."""
    axes = [axis for axis in array.dims[1:] if axis not in ("xyz", "wxyz", "rpy")]
    return [str(name) for name in array.along(axes[0])] if axes else [""]


def _component_units(world: World, name: str, names: list[str], unit: str) -> list[str]:
    """The unit of each component of a channel: joints may turn or slide."""
    if ", " not in unit:
        return [unit] * len(names)
    turning, sliding = unit.split(", ")
    number = next((c for c in range(len(world.crafts)) if name.startswith(world.prefix(c))), 0)
    craft = world.crafts[number]
    return [turning if craft.joint(joint).kind == "revolute" else sliding for joint in names]


def headline_channels(world: World, channels: dict[str, ChannelError]) -> dict[str, str]:
    """Short list of channels by label: attitude, hands, joints, tips and position of every spacecraft."""
    found: dict[str, str] = {}
    for c, craft in enumerate(world.crafts):
        prefix = world.prefix(c)
        own = {f"{prefix}attitude": "base.attitude"}
        own |= {prefix + frame.name: f"{frame.name}.position" for frame in craft.frames}
        own |= {f"{prefix}joints": "joints.position", f"{prefix}joints (turning)": "joints.position [rad]"}
        own |= {f"{prefix}joints (sliding)": "joints.position [m]"}
        own |= {prefix + name.removesuffix(".displacement"): name for name in _tips(channels, prefix)}
        own |= {f"{prefix}base": "base.position"}
        found |= {label: prefix + name for label, name in own.items() if prefix + name in channels}
    return found


def _tips(channels: dict[str, ChannelError], prefix: str) -> list[str]:
    """Channels of the node with the largest error of each flexible body."""
    worst: dict[str, str] = {}
    for name in channels:
        if name.startswith(prefix) and name.endswith(".displacement"):
            body = name.removeprefix(prefix).split(".")[0]
            if body not in worst or channels[name].error > channels[worst[body]].error:
                worst[body] = name
    return [name.removeprefix(prefix) for name in worst.values()]


def _largest_differences(
    data: LabelledArrays, finer: LabelledArrays, headline: dict[str, str], use: np.ndarray, steps: int
) -> tuple[np.ndarray, float]:
    """Largest difference of the short list at each record, in radians or as a share of the range; and rounding."""
    shares = [np.zeros(np.count_nonzero(use))]
    for name in {name.split(" [")[0] for name in headline.values()}:
        apart = difference(data[name], finer[name].values)[use]
        _, way = size_of(data[name])
        scale = 1.0 if unit_of(data[name]) == "rad" else way
        if scale > 1e-9:
            shares.append(np.max(apart, axis=1) / scale)
    return np.max(shares, axis=0), _EPS * (64.0 + HALVES * steps)
