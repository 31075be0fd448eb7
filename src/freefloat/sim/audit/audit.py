"""The conservation audit of a run: does what the physics keeps stay kept, and do the books balance?

Everything is judged about the centre of mass, without its drift and with the wheels' spin apart, so that neither makes
a fault look small. A balance may be off by what the integrator itself loses, which is measured (`step_error`), and by
rounding; never by more than a thousandth of the motion.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.sim.audit.balances import (
    AT_EVERY_INSTANT,
    COVERED,
    INTERACTING,
    UNFINISHED,
    WHOLE,
    Sizes,
    book_of,
    open_ends,
)

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays

_EPS = float(np.finfo(float).eps)
# The laws of motion at an instant are sums of some hundred products for each body, each rounded; errors of either sign
# cancel in part. The largest of 300 random runs is 17 eps (benchmarks/audit_sensitivity.py ordinary).
_AT_AN_INSTANT = 64.0 * _EPS
# One unit in the last place for every step, since a sum of equal parts may be rounded the same way each time, and as
# much as at an instant for reading the books.
_ROUNDING = 64.0 * _EPS
# Whatever the step, more than one part in a thousand is no longer a simulation of that motion.
COARSEST = 1e-3
# The drift is no part of the inner motion, but its velocity is kept in axes that turn, so that RK4 loses some of it: a
# millionth at most, which is 7.5 mm/s in orbit.
DRIFT = 1e-6
# Where contact begins, slips and ends is located to 1e-11 of a step. One that lasts a thousandth of a step is known so
# to 1e-8 of what it turns over.
_LOCATED = 1e-8
_WIDE = 42  # characters for the name of a quantity
_QUATERNION = 1e-12  # its length is corrected at every step, so only rounding is left


@dataclass(frozen=True)
class Accuracy:
    """What the integrator loses by itself, found apart from the balances that it must explain."""

    reason: str
    steps: int  # how many steps were made: each may round once
    dt: float = 0.0  # length of a fixed step [s]
    relative: float = 0.0  # permitted share of the motion, for adaptive steps
    lost: dict[str, float] = field(default_factory=dict)  # permitted loss of each book, for fixed steps, in its unit
    remedy: str = ""  # what to do where a balance is off by more than a thousandth
    otherwise: str = ""  # what it means where a balance is off by less, but not by the integrator

    @staticmethod
    def of_adaptive(tolerance: float, steps: int) -> Accuracy:
        """Each accepted step may err by the tolerance."""
        said = f"adaptive, tolerance {tolerance:g}, {steps} steps"
        if tolerance * steps > COARSEST:
            said += f"; never more than {COARSEST:g}"
        return Accuracy(said, steps, relative=tolerance * steps, remedy="tighten the tolerance")

    def permitted(self, book: str, sizes: Sizes) -> float:
        """For a book: what the integrator loses, and rounding of the largest numbers in it."""
        size, rounded, most = sizes.size[book], sizes.rounded[book], self.most(book, sizes)
        lost = self.relative * size + self.lost.get(book, 0.0)
        lost = min(lost, most) if np.isfinite(lost) else most
        lost += _LOCATED * size if book in INTERACTING else 0.0
        return float(lost + (_ROUNDING + _EPS * self.steps) * (size + rounded))

    def most(self, book: str, sizes: Sizes) -> float:
        """What is never exceeded, however much the integrator loses."""
        drifts = book.endswith("linear") or book == f"{WHOLE}angular"
        return COARSEST * sizes.size[book] + (DRIFT * sizes.rounded[book] if drifts else 0.0)


@dataclass(frozen=True)
class Entry:
    """One balance: the largest imbalance, when, and what is permitted."""

    quantity: str
    unit: str
    imbalance: float
    at: float  # [s]
    permitted: float

    @property
    def holds(self) -> bool:
        """True if the imbalance is permitted; one that is not finite never is."""
        return bool(np.isfinite(self.imbalance)) and self.imbalance <= self.permitted

    def __str__(self) -> str:
        return self.line(_WIDE)

    def line(self, wide: int) -> str:
        """In words, the quantity filled to a width."""
        verdict = "holds" if self.holds else "VIOLATED"
        return (
            f"{self.quantity:<{wide}} {verdict:<8} off by {self.imbalance:9.2e} {self.unit} at {self.at:g} s "
            f"(permitted {self.permitted:.1e})"
        )


@dataclass(frozen=True)
class Audit:
    """All balances of a run."""

    entries: tuple[Entry, ...]
    reason: str  # where the tolerance comes from
    warnings: tuple[str, ...] = ()  # where the run left the domain of its model

    @property
    def holds(self) -> bool:
        """True if every balance holds."""
        return all(entry.holds for entry in self.entries)

    @property
    def violations(self) -> tuple[Entry, ...]:
        """The balances that do not hold."""
        return tuple(entry for entry in self.entries if not entry.holds)

    def __str__(self) -> str:
        wide = max([_WIDE, *(len(entry.quantity) for entry in self.entries)])
        lines = [*(entry.line(wide) for entry in self.entries), f"tolerance: {self.reason}"]
        return "\n".join(lines + [f"warning: {text}" for text in self.warnings])

    def as_dict(self) -> dict[str, Any]:
        """Plain data for files; what is not finite becomes None, for which JSON has a word."""
        data = asdict(self)
        for entry in data["entries"]:
            entry |= {k: None for k in ("imbalance", "permitted") if not np.isfinite(entry[k])}
        return data

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Audit:
        """Back from plain data."""
        return Audit(
            entries=tuple(Entry(**{k: v if v is not None else np.nan for k, v in e.items()}) for e in data["entries"]),  # pyright: ignore[reportArgumentType]
            reason=data["reason"],
            warnings=tuple(data.get("warnings", ())),
        )


def audit(
    data: LabelledArrays,
    accuracy: Accuracy,
    sizes: Sizes,
    prefixes: tuple[str, ...] = ("",),
    warnings: tuple[str, ...] = (),
) -> Audit:
    """Judge a run's channels: those of every spacecraft, and of all together; channels begin with the prefixes."""
    t, ends = data["time"].values, open_ends(data, prefixes)
    over_time = {
        key: _entry(book_of(key).quantity, book_of(key).unit, t, values, accuracy.permitted(key, sizes))
        for key, values in ends.items()
    }
    now = [
        _entry(_owned(prefix, law.quantity), law.unit, t, data[prefix + name].values, _at_instants(limit))
        for prefix in prefixes
        for name, law in AT_EVERY_INSTANT.items()
        for limit in (sizes.at_instants[prefix + name],)
    ]
    quaternions = [
        _entry(_owned(prefix, "unit quaternion"), "1", t, norms, _QUATERNION)
        for prefix in prefixes
        for norms in (np.linalg.norm(data[f"{prefix}base.attitude"].values, axis=-1) - 1.0,)
    ]
    stiff = _unfinished(data, t)
    why = _too_stiff(data, accuracy) if stiff and not stiff[0].holds else _why(over_time, now, accuracy, sizes)
    entries = (*over_time.values(), *now, *quaternions, *stiff)
    return Audit(entries=entries, reason=accuracy.reason + why, warnings=warnings)


def _unfinished(data: LabelledArrays, t: np.ndarray) -> list[Entry]:
    """Steps that contact was too stiff for."""
    if UNFINISHED not in data:
        return []
    return [_entry("interactions: steps left unfinished", "1", t, data[UNFINISHED].values, 0.0)]


def _too_stiff(data: LabelledArrays, accuracy: Accuracy) -> str:
    """Why steps were left unfinished, and a step that would do."""
    share = float(np.min(data[COVERED].values))
    shorter = f"dt = {accuracy.dt * 0.5 * share:.3g} would do" if accuracy.dt and share > 0.0 else "Shorten dt"
    return (
        f": contact is too stiff for this step, of which {100.0 * share:.2g} % could be made. {shorter}; or make the "
        "contact softer, or less damped"
    )


def _owned(prefix: str, quantity: str) -> str:
    return f"{prefix.removesuffix('.')}: {quantity}" if prefix else quantity


def _at_instants(size: np.ndarray) -> np.ndarray:
    """What is permitted at each record; a motion below the rounding of the run's largest is itself but rounding."""
    return _AT_AN_INSTANT * (size + _EPS * np.max(size))


def _why(over_time: dict[str, Entry], now: list[Entry], accuracy: Accuracy, sizes: Sizes) -> str:
    """What a violation probably means, and what to do."""
    if not all(entry.holds for entry in now):
        return (
            ": the accelerations themselves do not keep momentum or energy, whatever the step. A model is not "
            "consistent with itself, which is a bug: please report it"
        )
    violated = {key: entry for key, entry in over_time.items() if not entry.holds}
    coarse = [key for key, entry in violated.items() if not entry.imbalance <= accuracy.most(key, sizes)]
    if coarse and accuracy.remedy:
        return f": {accuracy.remedy}"
    return f": {accuracy.otherwise}" if violated and accuracy.otherwise else ""


def _entry(quantity: str, unit: str, t: np.ndarray, imbalance: np.ndarray, permitted: float | np.ndarray) -> Entry:
    """The record that is worst by what is permitted there."""
    size = np.abs(imbalance) if imbalance.ndim == 1 else np.linalg.norm(imbalance, axis=-1)
    limit = np.broadcast_to(permitted, size.shape)
    share = np.where(size > 0.0, size / np.maximum(limit, np.finfo(float).tiny), 0.0)
    worst = int(np.argmax(np.where(np.isfinite(size), share, np.inf)))
    return Entry(quantity, unit, float(size[worst]), float(t[worst]), float(limit[worst]))
