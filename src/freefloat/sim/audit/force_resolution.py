"""Does the step see the forces that act? Parts of the run are integrated again in far shorter steps, and compared.

The balances cannot tell: a push that begins and ends between the stages of a step is in neither of their sides. So the
booked impulses and works themselves are compared with those of finer steps from the same states. Where they differ by
more than a thousandth of the motion in a single step, that step is looked at more closely. A force that only jumps to
another value, once, is a corner that costs the integrator its order, and is permitted up to a hundredth. A force that
comes and goes within the step was not resolved.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import jax
import numpy as np

from freefloat.sim.audit.audit import COARSEST, Audit, Entry
from freefloat.sim.audit.balances import BETWEEN, Sizes, book_of
from freefloat.sim.rollout import FixedSteps
from freefloat.sim.system.system import SystemState

FEWEST, MOST = 7, 21  # parts of a step; odd, so that their nodes are few of those of whole and half steps
_FINE = 8192  # finer steps that are made in any case: short runs are looked at in more parts
_ALWAYS = 4096  # ticks that are repeated whatever the run
_SHARE = 28  # of a longer run, one tick in so many: a quarter of its steps
_JUMP = 1e-2  # of the motion: what a force that jumps inside a step may change
_SUSPECTS = 8  # intervals that are looked at closely, the worst first
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Unresolved:
    """A step in which forces act that it does not see."""

    book: str
    amount: float  # by which finer steps change what is booked, in the book's unit
    at: float  # when the step begins [s]
    permitted: float
    comes_and_goes: bool  # within the step; otherwise it jumps

    @property
    def entry(self) -> Entry:
        """As the audit lists it."""
        book = book_of(self.book)
        quantity = book.quantity.removesuffix(": change = work - dissipation")
        return Entry(f"forces between ticks: {quantity}", book.unit, self.amount, self.at, self.permitted)

    def sentence(self, dt: float) -> str:
        """What happened and what to do."""
        what = "come and go" if self.comes_and_goes else "jump"
        return (
            f"forces are not resolved by the step: between {self.at:.10g} and {self.at + dt:.10g} s they {what}, and a "
            f"finer step changes what is booked by {self.amount:.2g} {book_of(self.book).unit}. Let the effect declare "
            "its instants, give the software a period, or shorten dt"
        )


def unresolved_forces(
    steps: FixedSteps, records: SystemState, motion: Sizes, dt: float, prefixes: tuple[str, ...] = ("",)
) -> tuple[Unresolved, ...]:
    """The worst step whose forces are not resolved, of those that were looked at; nothing where all are."""
    ticks = np.asarray(records.tick)
    if len(ticks) < 2:
        return ()
    chosen, parts = chosen_intervals(ticks), parts_of_a_step(int(ticks[-1] - ticks[0]))
    finer = _after(steps, _at(records, chosen), np.diff(ticks)[chosen], parts)
    off = _differences(_booked(finer, prefixes), _booked(_at(records, chosen + 1), prefixes))
    limits = _limits(off, motion)
    share = np.max([off[book] / limits[book] for book in off], axis=0)
    suspects = [int(i) for i in np.argsort(-share)[:_SUSPECTS] if share[i] > 1.0]
    walks = {int(chosen[i]): _Walk(steps, int(np.diff(ticks)[chosen[i]]), parts, prefixes) for i in suspects}
    found = [_worst_step(walk, _at(records, i), limits, dt) for i, walk in walks.items()]
    worst = sorted((one for one in found if one), key=lambda one: one.amount / one.permitted)
    return tuple(worst[-1:])


def with_unresolved(judged: Audit, found: tuple[Unresolved, ...], dt: float) -> Audit:
    """The audit with an entry for each step that is not resolved, and what to do."""
    sentences = "".join(f": {one.sentence(dt)}" for one in found)
    entries = (*judged.entries, *(one.entry for one in found))
    return dataclasses.replace(judged, entries=entries, reason=judged.reason + sentences)


def chosen_intervals(ticks: np.ndarray) -> np.ndarray:
    """Which intervals between records are repeated: all of a short run, and some spread evenly over a longer one."""
    lengths = np.diff(ticks)
    room = max(1, max(_ALWAYS, int(ticks[-1] - ticks[0]) // _SHARE) // int(np.max(lengths)))
    return np.unique(np.linspace(0, len(lengths) - 1, min(room, len(lengths))).round().astype(int))


def parts_of_a_step(ticks: int) -> int:
    """Into how many parts each step is cut: an odd number."""
    return int(np.clip(_FINE // ticks, FEWEST, MOST)) // 2 * 2 + 1


@dataclass(frozen=True)
class _Walk:
    """Steps that are looked at one by one."""

    steps: FixedSteps
    count: int
    parts: int
    prefixes: tuple[str, ...]

    def booked(self, loops: SystemState) -> dict[str, np.ndarray]:
        """What came in."""
        return _booked(loops, self.prefixes)


def _worst_step(walk: _Walk, start: SystemState, limits: dict[str, float], dt: float) -> Unresolved | None:
    """Of the steps since a record, that in which finer steps change most; None if they resolve their forces."""
    states = [jax.tree.map(lambda x: np.asarray(x)[None], start)]
    for _ in range(walk.count):
        states.append(walk.steps.reach(states[-1], 1))
    walked = jax.tree.map(lambda *x: np.concatenate(x), *states)
    finer = walk.steps.reach(_in_parts(_at(walked, slice(0, walk.count)), walk.parts), 1, walk.parts)
    off = _differences(walk.booked(finer), walk.booked(_at(walked, slice(1, None))))
    book = max(off, key=lambda name: float(np.max(off[name])) / limits[name])
    worst = int(np.argmax(off[book]))
    amount, limit = float(off[book][worst]), limits[book]
    if not amount > limit:
        return None
    goes = bool(_comes_and_goes(walk, _at(walked, slice(worst, worst + 1)), book) > 0.5 * limit)
    permitted = limit if goes else limit * _JUMP / COARSEST
    if not amount > permitted:
        return None
    return Unresolved(book, amount, float(walked.tick[worst]) * dt, permitted, comes_and_goes=goes)


def _comes_and_goes(walk: _Walk, start: SystemState, book: str) -> float:
    """What is booked within a step beyond the rates at its beginning and its end."""
    states = [_in_parts(start, walk.parts)]
    for _ in range(walk.parts):
        states.append(walk.steps.advance(states[-1], 1, walk.parts))
    rates = np.diff(np.concatenate([walk.booked(state)[book] for state in states]), axis=0)
    ends = rates[[0, -1]]
    beyond = np.maximum(rates - np.max(ends, axis=0), 0.0) + np.maximum(np.min(ends, axis=0) - rates, 0.0)
    return float(np.linalg.norm(np.sum(beyond, axis=0)))


def _after(steps: FixedSteps, starts: SystemState, lengths: np.ndarray, parts: int) -> SystemState:
    """States after so many ticks of each start, in parts."""
    alike = [np.flatnonzero(lengths == ticks) for ticks in np.unique(lengths)]
    fine = _in_parts(starts, parts)
    reached = [steps.reach(_at(fine, some), int(lengths[some[0]]), parts) for some in alike]
    order = np.argsort(np.concatenate(alike))
    return jax.tree.map(lambda *x: np.concatenate(x)[order], *reached)


def _in_parts(loops: SystemState, parts: int) -> SystemState:
    """The same states with their ticks counted in parts."""
    return dataclasses.replace(loops, tick=np.asarray(parts * np.asarray(loops.tick), dtype=np.int32))


def _at(loops: SystemState, some: np.ndarray | slice | int) -> SystemState:
    return jax.tree.map(lambda x: np.asarray(x)[some], loops)


def _booked(loops: SystemState, prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """What came in, by the book that it belongs to (leading axis: state)."""
    found = {}
    for prefix, plant in zip(prefixes, loops.plants, strict=True):
        ledger = plant.ledger
        found[f"{prefix}linear"] = np.asarray(ledger.impulse)[:, :3]
        found[f"{prefix}angular"] = np.asarray(ledger.turning)
        found[f"{prefix}energy"] = np.stack([ledger.inner_work, ledger.dissipated], axis=-1)
    if loops.plants[0].inner:
        inner = loops.plants[0].inner
        works = [np.sum([getattr(own, name) for own in inner], axis=0) for name in ("work", "dissipated")]
        found[f"{BETWEEN}energy"] = np.stack(works, axis=-1)
    return found


def _differences(finer: dict[str, np.ndarray], whole: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {book: np.linalg.norm(finer[book] - whole[book], axis=-1) for book in whole}


def _limits(off: dict[str, np.ndarray], motion: Sizes) -> dict[str, float]:
    """A thousandth of the motion, that which only finer steps see among it, and rounding."""
    seen = {book: float(np.max(values, initial=0.0, where=np.isfinite(values))) for book, values in off.items()}
    rounding = {book: 64.0 * _EPS * (motion.size[book] + motion.rounded[book]) for book in off}
    tiny = float(np.finfo(float).tiny)
    return {book: float(COARSEST * (motion.size[book] + seen[book]) + rounding[book] + tiny) for book in off}
