"""Does the step resolve the forces that act? Parts of the run are integrated again in far shorter steps, and compared.

The balances cannot show it: a push that begins and ends between the stages of a step is on neither side. So the
recorded impulses and works themselves are compared with those of finer steps from the same states. Where they differ by
more than a thousandth of the motion in a single step, that step is checked more closely. A force that only jumps to
another value, once, is a corner that costs the integrator its order, and is permitted up to a hundredth. A force that
comes and goes within the step was not resolved.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import jax
import numpy as np

from freefloat.sim.audit.audit import COARSEST, Audit, AuditEntry
from freefloat.sim.audit.balances import INTERACTION_PREFIX, Sizes, balanced_quantity
from freefloat.sim.rollout import FixedSteps, entries, in_parts
from freefloat.sim.system.system import SystemState

FEWEST, MOST = 7, 21  # parts of a step; odd, so that their nodes are few of those of whole and half steps
_FINE = 8192  # finer steps that are made in any case: short runs are looked at in more parts
_ALWAYS = 4096  # ticks that are repeated whatever the run
_SHARE = 28  # of a longer run, one tick in so many: a quarter of its steps
_JUMP = 1e-2  # of the motion: what a force that jumps inside a step may change
_SUSPECTS = 8  # intervals that are looked at closely, the worst first
_EPS = float(np.finfo(float).eps)
_DIGITS = 64.0  # by which rounding, or the errors of the pieces of a step, add up


@dataclass(frozen=True)
class UnresolvedForce:
    """A step in which forces act that it does not resolve."""

    book: str  # key of the balance
    amount: float  # by which finer steps change what is recorded, in the unit of the balance
    at: float  # when the step begins [s]
    permitted: float
    comes_and_goes: bool  # within the step; otherwise it jumps

    @property
    def entry(self) -> AuditEntry:
        """The entry of the audit."""
        balance = balanced_quantity(self.book)
        name = f"forces between ticks: {balance.short}"
        return AuditEntry(name, "at most", self.permitted, self.amount, balance.unit, self.at)

    def sentence(self, dt: float) -> str:
        """Sentence that says what happened and what to do."""
        what = "come and go" if self.comes_and_goes else "jump"
        return (
            f"forces are not resolved by the step: between {self.at:.10g} and {self.at + dt:.10g} s they {what}, and a "
            f"finer step changes what is booked by {self.amount:.2g} {balanced_quantity(self.book).unit}. Let the "
            "effect declare its instants, give the software a period, or shorten dt"
        )


def unresolved_forces(
    steps: FixedSteps, records: SystemState, motion: Sizes, dt: float, prefixes: tuple[str, ...] = ("",)
) -> tuple[UnresolvedForce, ...]:
    """The worst step whose forces are not resolved, of those that were checked; empty if all are resolved."""
    ticks = np.asarray(records.tick)
    if len(ticks) < 2:
        return ()
    chosen, parts = chosen_intervals(ticks), parts_of_a_step(int(ticks[-1] - ticks[0]))
    finer = steps.reach_each(entries(records, chosen), np.diff(ticks)[chosen], parts)
    off = _differences(_ledger_values(finer, prefixes), _ledger_values(entries(records, chosen + 1), prefixes))
    limits = _limits(off, motion)
    share = np.max([off[balance] / limits[balance] for balance in off], axis=0)
    suspects = [int(i) for i in np.argsort(-share)[:_SUSPECTS] if share[i] > 1.0]
    intervals = {
        int(chosen[i]): _IntervalSteps(steps, int(np.diff(ticks)[chosen[i]]), parts, prefixes) for i in suspects
    }
    found = [_worst_step(interval, entries(records, i), limits, dt) for i, interval in intervals.items()]
    worst = sorted((step for step in found if step), key=lambda step: step.amount / step.permitted)
    return tuple(worst[-1:])


def with_unresolved_forces(judged: Audit, found: tuple[UnresolvedForce, ...], dt: float) -> Audit:
    """The audit with an entry and a sentence for each step whose forces are not resolved."""
    sentences = "".join(f": {step.sentence(dt)}" for step in found)
    entries = (*judged.entries, *(step.entry for step in found))
    return dataclasses.replace(judged, entries=entries, reason=judged.reason + sentences)


def chosen_intervals(ticks: np.ndarray) -> np.ndarray:
    """Numbers of the intervals between records to repeat: all of a short run, evenly spaced ones of a longer run."""
    lengths = np.diff(ticks)
    room = max(1, max(_ALWAYS, int(ticks[-1] - ticks[0]) // _SHARE) // int(np.max(lengths)))
    return np.unique(np.linspace(0, len(lengths) - 1, min(room, len(lengths))).round().astype(int))


def parts_of_a_step(ticks: int) -> int:
    """Number of parts into which each step is cut, an odd number, from the ticks of a run."""
    return int(np.clip(_FINE // ticks, FEWEST, MOST)) // 2 * 2 + 1


@dataclass(frozen=True)
class _IntervalSteps:
    """Steps of an interval that are integrated and checked one by one."""

    steps: FixedSteps
    count: int
    parts: int
    prefixes: tuple[str, ...]

    def ledger_values(self, states: SystemState) -> dict[str, np.ndarray]:
        """Impulses and works of states, by balance."""
        return _ledger_values(states, self.prefixes)


def _worst_step(
    interval: _IntervalSteps, start: SystemState, limits: dict[str, float], dt: float
) -> UnresolvedForce | None:
    """The step after a record in which finer steps change most; None if all steps resolve their forces."""
    states = [entries(start, None)]
    for _ in range(interval.count):
        states.append(interval.steps.reach(states[-1], 1))
    reached = jax.tree.map(lambda *x: np.concatenate(x), *states)
    finer = interval.steps.reach(entries(reached, slice(0, interval.count)), 1, interval.parts)
    off = _differences(interval.ledger_values(finer), interval.ledger_values(entries(reached, slice(1, None))))
    balance = max(off, key=lambda name: float(np.max(off[name])) / limits[name])
    worst = int(np.argmax(off[balance]))
    amount, limit = float(off[balance][worst]), limits[balance]
    if not amount > limit:
        return None
    goes = bool(_comes_and_goes(interval, entries(reached, slice(worst, worst + 1)), balance) > 0.5 * limit)
    permitted = limit if goes else limit * _JUMP / COARSEST
    if not amount > permitted:
        return None
    return UnresolvedForce(balance, amount, float(reached.tick[worst]) * dt, permitted, comes_and_goes=goes)


def _comes_and_goes(interval: _IntervalSteps, start: SystemState, balance: str) -> float:
    """Size of what is recorded within a step beyond the rates at its beginning and its end."""
    states = [in_parts(start, interval.parts)]
    for _ in range(interval.parts):
        states.append(interval.steps.advance(states[-1], 1, interval.parts))
    rates = np.diff(np.concatenate([interval.ledger_values(state)[balance] for state in states]), axis=0)
    ends = rates[[0, -1]]
    beyond = np.maximum(rates - np.max(ends, axis=0), 0.0) + np.maximum(np.min(ends, axis=0) - rates, 0.0)
    return float(np.linalg.norm(np.sum(beyond, axis=0)))


def _ledger_values(states: SystemState, prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Impulses and works since the start, by balance (leading axis: state)."""
    found = {}
    for prefix, plant in zip(prefixes, states.plants, strict=True):
        ledger = plant.ledger
        found[f"{prefix}linear"] = np.asarray(ledger.impulse)[:, :3]
        found[f"{prefix}angular"] = np.asarray(ledger.angular_impulse_com)
        found[f"{prefix}energy"] = np.stack([ledger.inner_work, ledger.dissipated], axis=-1)
    if inner := states.plants.interactions:
        works = [np.sum([getattr(own, name) for own in inner], axis=0) for name in ("work", "dissipated")]
        found[f"{INTERACTION_PREFIX}energy"] = np.stack(works, axis=-1)
    return found


def _differences(finer: dict[str, np.ndarray], whole: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {balance: np.linalg.norm(finer[balance] - whole[balance], axis=-1) for balance in whole}


def _limits(off: dict[str, np.ndarray], motion: Sizes) -> dict[str, float]:
    """Limit of each balance: a thousandth of the motion, including that which only finer steps show, and what is lost.

    That is rounding and, beside contact, the error that is permitted in each of the pieces that make a step: a body
    that lies still trembles by as much.
    """
    seen = {balance: float(np.max(values, initial=0.0, where=np.isfinite(values))) for balance, values in off.items()}
    lost = {
        name: _DIGITS * (_EPS * (motion.size[name] + motion.rounded[name]) + motion.of_pieces.get(name, 0.0))
        for name in off
    }
    tiny = float(np.finfo(float).tiny)
    return {balance: float(COARSEST * (motion.size[balance] + seen[balance]) + lost[balance] + tiny) for balance in off}
