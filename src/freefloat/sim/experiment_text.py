"""What `print` shows of an experiment: times, parts, and the spacecraft with their joints at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.model.craft_text import MOST_LINES, world_lines
from freefloat.values.arrays import is_traced
from freefloat.values.short_text import cut, number_text

if TYPE_CHECKING:
    from freefloat.model import Spacecraft, State
    from freefloat.sim.experiment import Experiment

_WIDE = 118  # characters of a line
_MOST_PARTS = 12
_MOST_JOINTS = 8  # whose start is printed


def headline(experiment: Experiment) -> str:
    """What is simulated, how long, and in which steps, in one line."""
    names = ", ".join(experiment.world.names)
    steps = f"steps of {experiment.dt:g} s, rk4"
    if experiment.integrator == "adaptive":
        steps = f"adaptive steps, tolerance {experiment.tolerance:g}, ticks of {experiment.dt:g} s"
    return cut(f"Experiment with {names}: {experiment.duration:g} s, {steps}", _WIDE)


def lines(experiment: Experiment) -> list[str]:
    """The experiment in at most 40 lines."""
    head = [headline(experiment), *_part_lines(experiment)]
    if experiment.inputs:
        head.append(cut(f"inputs from outside: {', '.join(experiment.inputs)}", _WIDE))
    head += _start_lines(experiment)
    return [*head, *world_lines(experiment.world, MOST_LINES - len(head))]


def _part_lines(experiment: Experiment) -> list[str]:
    texts = []
    for part in experiment.system.parts:
        period = getattr(part, "period", None)
        every = f", every {number_text(period)} s" if isinstance(period, float | int) else ""
        where = f" on {part.on}" if part.on else ""
        texts.append(cut(f"part: {part.title}{where}{every}", _WIDE))
    if len(texts) > _MOST_PARTS:
        return [*texts[: _MOST_PARTS - 1], f"and {len(texts) - _MOST_PARTS + 1} parts more"]
    return texts


def _start_lines(experiment: Experiment) -> list[str]:
    """Where the joints of each spacecraft stand at the start; at most four lines."""
    world = experiment.world
    pairs = zip(world.names, world.crafts, experiment.start, strict=True)
    texts = [(name, _joints_text(craft, state)) for name, craft, state in pairs]
    return [cut(f"start of {name}: {text}", _WIDE) for name, text in texts[:4] if text]


def _joints_text(craft: Spacecraft, state: State) -> str:
    """Positions of the joints in degrees or metres; empty if there are none or too many."""
    layout = craft.layout
    if not 0 < len(layout.moving_joints) <= _MOST_JOINTS or is_traced(state.q):
        return ""
    positions = np.asarray(state.q)[list(layout.joint_positions)]
    factors = [180.0 / np.pi if name in layout.revolute else 1.0 for name in layout.moving_joints]
    units = ["deg" if name in layout.revolute else "m" for name in layout.moving_joints]
    numbers = [number_text(float(q) * factor, 4) for q, factor in zip(positions, factors, strict=True)]
    if len(set(units)) == 1:
        return f"joints {', '.join(numbers)} {units[0]}"
    return f"joints {', '.join(f'{number} {unit}' for number, unit in zip(numbers, units, strict=True))}"
