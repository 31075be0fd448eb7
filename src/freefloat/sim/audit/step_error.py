"""Loss of fixed steps: stretches of the run are integrated again at half the step, from the same states.

A loss of the integrator shrinks when the step does, by sixteen where the motion is smooth and by two or four where
something jumps inside a step. A wrong inertia or a missing force stays as it is. So the difference between both ways is
the integrator's, and only that is permitted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.sim.audit.audit import IntegratorLoss
from freefloat.sim.audit.balances import Sizes, balanced_quantity, imbalances
from freefloat.sim.rollout import FixedSteps, entries
from freefloat.sim.system.system import SystemState

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays

# First order, the worst that a corner makes of RK4, loses half its error when the step is halved: the whole is twice
# the difference. Twice that again, since stretches are restarted and, in long runs, only some of them repeated.
_MARGIN = 4.0
_ALWAYS = 4096  # steps that are repeated whatever the run: milliseconds
_SHARE = 8  # of a longer run, one step in so many is repeated
_STRETCHES = 200  # into which a run is divided at most
_HALVES = 2
_TINY = float(np.finfo(float).tiny)  # nothing is divided by less


@dataclass(frozen=True)
class _RepeatedStretches:
    """Stretches that were integrated twice: by whole steps as in the run, and by half steps."""

    largest: np.ndarray  # numbers of those that were chosen because the balances change most in them
    spread: np.ndarray  # numbers of those that stand for all others
    lost: dict[str, np.ndarray]  # size of the difference, by balance, for both in this order
    left: dict[str, np.ndarray]  # what half steps lose


def loss_of_fixed_steps(
    steps: FixedSteps,
    observe: Callable[[SystemState], LabelledArrays],
    records: SystemState,
    data: LabelledArrays,
    motion: Sizes,
    dt: float,
    prefixes: tuple[str, ...] = ("",),
) -> IntegratorLoss:
    """Permitted losses of RK4 in this run, measured at half the step; `records` are the states behind `data`."""
    count, ends = int(records.tick[-1] - records.tick[0]), imbalances(data, prefixes)
    plain = IntegratorLoss(f"RK4, {count} steps of {dt:g} s", count, dt)
    off = {name: float(np.max(_length(values))) for name, values in ends.items()}
    if all(off[name] <= plain.permitted_imbalance(name, motion) for name in ends):
        return dataclasses.replace(plain, reason=f"{plain.reason}, which lost no more than rounding")
    marks = _marks(len(records.tick))
    made = {name: _length(np.diff(values[marks], axis=0)) for name, values in ends.items()}  # in each stretch
    chosen = _chosen_stretches(made, motion, np.diff(records.tick[marks]), count)
    repeated = _repeat(steps, observe, records, data, marks, chosen, prefixes)
    lost = {name: _total_loss(made[name], repeated, name) for name in ends}
    # Of the most that may be lost.
    share = {name: off[name] / max(plain.largest_loss(name, motion), _TINY) for name in ends}
    worst = max(ends, key=lambda name: share[name])
    shrinks = float(np.sum(made[worst][np.concatenate(chosen)]) / max(np.sum(repeated.left[worst]), _TINY))
    balance = balanced_quantity(worst)
    return IntegratorLoss(
        reason=f"{plain.reason}; half the step would change the {balance.short} by {lost[worst]:.1e} {balance.unit}",
        steps=count,
        dt=dt,
        lost={name: _MARGIN * value for name, value in lost.items()},
        remedy=_shorter_step_text(dt, share[worst], shrinks),
        otherwise="with half the step it stays, so the step is not to blame: a force is missing from the books, or a "
        "model is not consistent with itself",
    )


def _marks(records: int) -> np.ndarray:
    """Numbers of the records between which the stretches lie, the first and the last among them."""
    return np.unique(np.linspace(0, records - 1, min(records - 1, _STRETCHES) + 1).round().astype(int))


def _chosen_stretches(
    made: dict[str, np.ndarray], motion: Sizes, ticks: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the stretches to repeat: where balances change most, and some spread over the rest."""
    room = max(2, max(_ALWAYS, steps // _SHARE) // int(np.max(ticks)))
    change = np.sum([made[name] / max(motion.size[name], _TINY) for name in made], axis=0)
    order = np.argsort(-np.where(np.isfinite(change), change, np.inf))
    if room >= len(order):
        return order, order[:0]
    largest, rest = order[: room // 2], np.sort(order[room // 2 :])
    places = np.linspace(0, len(rest) - 1, room - room // 2).round().astype(int)
    return largest, rest[np.unique(places)]


def _repeat(
    steps: FixedSteps,
    observe: Callable[[SystemState], LabelledArrays],
    records: SystemState,
    data: LabelledArrays,
    marks: np.ndarray,
    chosen: tuple[np.ndarray, np.ndarray],
    prefixes: tuple[str, ...],
) -> _RepeatedStretches:
    """The chosen stretches, integrated again at half the step."""
    both = np.concatenate(chosen)
    lengths = np.asarray(records.tick[marks[both + 1]] - records.tick[marks[both]])
    after = steps.reach_each(entries(records, marks[both]), lengths, _HALVES)
    seen = observe(dataclasses.replace(after, tick=after.tick // _HALVES))
    halved, ends = imbalances(seen, prefixes, start=data.isel(time=marks[both])), imbalances(data, prefixes)
    whole = {name: values[marks[both + 1]] - values[marks[both]] for name, values in ends.items()}
    return _RepeatedStretches(
        largest=chosen[0],
        spread=chosen[1],
        lost={name: _length(whole[name] - halved[name]) for name in ends},
        left={name: _length(halved[name]) for name in ends},
    )


def _total_loss(made: np.ndarray, repeated: _RepeatedStretches, name: str) -> float:
    """Loss of the integrator in the whole run: as found where the balance changes most, in proportion elsewhere."""
    known, lost = len(repeated.largest), repeated.lost[name]
    total = float(np.sum(lost[:known]))
    if repeated.spread.size:
        sampled = float(np.sum(made[repeated.spread]))
        share = min(1.0, float(np.sum(lost[known:])) / sampled) if sampled > 0.0 else 1.0
        total += share * float(np.sum(made) - np.sum(made[repeated.largest]))
    return total


def _shorter_step_text(dt: float, share: float, shrinks: float) -> str:
    """Remedy with a shorter step, from how the loss shrank: a whole fraction of this one, so that all periods fit."""
    order = float(np.clip(np.log2(max(shrinks, 1.0)), 1.0, 4.0)) if np.isfinite(shrinks) else 1.0
    parts = np.ceil((2.0 * share) ** (1.0 / order)) if np.isfinite(share) else np.inf
    if not 2.0 <= parts <= 1000.0:
        return "the step is too coarse for the motion. Halve dt until the result no longer changes"
    return f"the step is too coarse for the motion. dt = {dt / parts:.10g} would do"


def _length(values: np.ndarray) -> np.ndarray:
    return np.abs(values) if values.ndim == 1 else np.linalg.norm(values, axis=-1)
