"""Choice of the step for a wanted accuracy: trial runs, each at half the step of the one before, by one compiled tick.

The tick is the longest time that divides every period, the duration and the interval of records. A trial makes several
steps of it, which is an input of the compiled code. The step that is chosen is a whole fraction of the tick.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from freefloat.sim.audit.channel_differences import difference, is_number, unit_of
from freefloat.sim.record.recording import Recorder
from freefloat.sim.rollout import FixedSteps, Grid, grid
from freefloat.sim.system.input_ports import tabulate
from freefloat.sim.system.input_signals import Steps
from freefloat.values.errors import ModelError

if TYPE_CHECKING:
    from freefloat.sim.experiment import Experiment
    from freefloat.values.labelled import LabelledArrays

# What may be asked for by name: the end of the channels that it concerns, their unit, and that unit in it.
_KINDS = {
    "attitude_deg": ("base.attitude", "rad", np.pi / 180.0),
    "position_mm": (".position", "m", 1e-3),
    "joints_deg": ("joints.position", "rad", np.pi / 180.0),
}
_FEWEST_TICKS = 100  # in a run, however coarse the periods are
_MOST_STEPS = 5_000_000  # of one trial
_MARGIN = 0.7  # of what is wanted: the order is not exact
_RESOLUTION = 10**9  # periods are whole numbers of nanoseconds


def longest_tick(duration: float, periods: list[float], record_dt: float | None) -> float:
    """The longest step [s], at most a hundredth of the run, that divides the duration, all periods and record_dt."""
    times = [duration, *periods, *([] if record_dt is None else [record_dt])]
    whole = [Fraction(t).limit_denominator(_RESOLUTION) for t in times]
    if wrong := [t for t, w in zip(times, whole, strict=True) if w <= 0]:
        raise ValueError(f"A duration or period of {wrong[0]:g} s is too short to choose a step for. Give dt.")
    denominator = math.lcm(*(w.denominator for w in whole))
    tick = Fraction(math.gcd(*(int(w * denominator) for w in whole)), denominator)
    return float(tick / max(1, math.ceil(_FEWEST_TICKS * tick / whole[0])))


def periods_of(part: Any) -> Iterator[float]:
    """Periods [s] of a part and of the parts within it."""
    if not dataclasses.is_dataclass(part):
        return
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if field.name == "period" and isinstance(value, (int, float)) and value > 0.0:
            yield float(value)
        elif dataclasses.is_dataclass(value) and hasattr(value, "period"):
            yield from periods_of(value)


def require_accuracy(wanted: Mapping[str, float], inputs: Mapping[str, Any]) -> None:
    """Raise an error if no step can be chosen for the wanted accuracy."""
    if not isinstance(wanted, Mapping) or not wanted:
        raise ValueError(f'accuracy in place of dt is a mapping such as {{"attitude_deg": 0.01}}, got {wanted!r}.')
    for name, value in wanted.items():
        if not isinstance(value, (int, float)) or not np.isfinite(value) or value <= 0.0:
            raise ValueError(f"accuracy: '{name}' must be a positive number, got {value!r}.")
    for port, signal in inputs.items():
        if callable(signal) or isinstance(signal, Steps) or np.ndim(signal) > 1:
            raise ModelError(f"The input '{port}' is given tick by tick, so the step is fixed by it. Give dt.")


def with_chosen_step(experiment: Experiment, wanted: Mapping[str, float]) -> Experiment:
    """The experiment with the longest step that trials find accurate enough; its own step is the tick of the trials."""
    trials = _Trials(experiment, wanted)
    parts, last, before = 1, trials.run(1), np.nan
    while True:
        next_one = trials.run(2 * parts)
        excess, name = trials.excess(last, next_one)
        order = float(np.clip(np.log2(before / excess), 1.0, 4.0)) if np.isfinite(before) and excess > 0.0 else 1.0
        whole = 2.0**order / (2.0**order - 1.0)
        if whole * excess <= 1.0:
            break
        parts, last, before = 2 * parts, next_one, excess
        if 2 * parts * trials.timing.steps > _MOST_STEPS:
            raise ValueError(
                f"The accuracy cannot be reached: with dt = {trials.tick / parts:.3g} s '{name}' is still off by "
                f"{excess:.2g} times what is wanted. Ask for less or for a shorter duration, or give dt."
            )
    if parts > 1:  # somewhere between this step and twice as much
        parts = min(parts, max(parts // 2 + 1, math.ceil(parts * (whole * excess / _MARGIN) ** (1.0 / order))))
    return experiment.with_step(trials.tick / parts)


class _Trials:
    """Trial runs of an experiment with different numbers of steps in a tick."""

    def __init__(self, experiment: Experiment, wanted: Mapping[str, float]) -> None:
        self.system, self.state = experiment.begin()
        self.tick, self.timing = experiment.dt, grid(experiment.duration, experiment.dt, experiment.record_dt)
        table = tabulate(self.system, experiment.inputs, 0, self.timing.steps)
        self._recorder = Recorder(self.system, self.state, experiment.start, table, 0, "native")
        self._steps = FixedSteps(self.system, self.state, experiment.inputs, 0, self.timing.steps, "native")
        self._wanted = wanted

    def run(self, parts: int) -> LabelledArrays:
        """Channels of a run with `parts` steps in each tick."""
        blocks = list(self._steps.blocks(self.state, Grid(self.timing.steps, self.timing.record_every), parts))
        records = jax.tree.map(lambda *x: np.concatenate(x), *blocks)
        return self._recorder.dataset(dataclasses.replace(records, tick=records.tick // parts))

    def excess(self, first: LabelledArrays, second: LabelledArrays) -> tuple[float, str]:
        """The largest difference of two runs as a multiple of the wanted accuracy, and the name of its channel."""
        excesses = {}
        for wanted, value in self._wanted.items():
            for name in self._channels(first, wanted):
                limit = value * (_KINDS[wanted][2] if wanted in _KINDS else 1.0)
                apart = difference(first[name], second[name].values)
                excesses[name] = float(np.max(np.where(np.isfinite(apart), apart, np.inf))) / limit
        worst = max(excesses, key=lambda name: excesses[name])
        return excesses[worst], worst

    def _channels(self, data: LabelledArrays, wanted: str) -> list[str]:
        if wanted not in _KINDS:
            if wanted not in data.data_vars or not is_number(data[wanted]):
                known = ", ".join(_KINDS)
                raise ValueError(f"accuracy: there is no quantity '{wanted}'. Give {known}, or a channel of the run.")
            return [wanted]
        ending, unit, _ = _KINDS[wanted]
        names = [
            n for n in data.data_vars if n.endswith(ending) and unit_of(data[n]) == unit and n != "bodies.position"
        ]
        if not names:
            raise ValueError(
                f"accuracy: this experiment has no channel for '{wanted}' (it records '*{ending}' in {unit})."
            )
        return names
