"""The conservation audit of a run: are momentum and energy conserved, and do work and impulse balance?

Everything is judged about the centre of mass, without its drift and with the wheels' spin apart, so that neither makes
a fault look small. A balance may be off by what the integrator itself loses, which is measured (`step_error`), and by
rounding; never by more than a thousandth of the motion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.sim.audit.balances import (
    AT_EVERY_INSTANT,
    COVERED,
    INTERACTION_BALANCES,
    UNFINISHED,
    WORLD_PREFIX,
    Sizes,
    balanced_quantity,
    imbalances,
)
from freefloat.values.judgement import Judgement
from freefloat.values.short_text import pre_block

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays

_EPS = float(np.finfo(float).eps)
# The laws of motion at an instant are sums of some hundred products for each body, each rounded; errors of either sign
# cancel in part. The largest of 300 random runs is 17 eps (benchmarks/audit_sensitivity.py ordinary).
_AT_AN_INSTANT = 64.0 * _EPS
# One unit in the last place for every step, since a sum of equal parts may be rounded the same way each time, and as
# much as at an instant for reading the balances.
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
_MOST_PRINTED = 32  # entries of a printed table
_QUATERNION = 1e-12  # its length is corrected at every step, so only rounding is left


@dataclass(frozen=True)
class IntegratorLoss:
    """Permitted losses of the integrator, found independently of the balances that they must explain."""

    reason: str
    steps: int  # how many steps were made: each may round once
    dt: float = 0.0  # length of a fixed step [s]
    relative: float = 0.0  # permitted share of the motion, for adaptive steps
    lost: dict[str, float] = field(default_factory=dict)  # permitted loss of each balance, for fixed steps, in its unit
    remedy: str = ""  # what to do where a balance is off by more than a thousandth
    otherwise: str = ""  # what it means where a balance is off by less, but not because of the integrator

    @staticmethod
    def of_adaptive(tolerance: float, steps: int) -> IntegratorLoss:
        """Permitted losses of an adaptive run: the tolerance for each accepted step."""
        reason = f"adaptive, tolerance {tolerance:g}, {steps} steps"
        if tolerance * steps > COARSEST:
            reason += f"; never more than {COARSEST:g}"
        return IntegratorLoss(reason, steps, relative=tolerance * steps, remedy="tighten the tolerance")

    def permitted_imbalance(self, balance: str, sizes: Sizes) -> float:
        """Permitted imbalance: the loss of the integrator, and rounding of the largest numbers in the balance."""
        size, rounded, most = sizes.size[balance], sizes.rounded[balance], self.largest_loss(balance, sizes)
        lost = self.relative * size + self.lost.get(balance, 0.0)
        lost = min(lost, most) if np.isfinite(lost) else most
        lost += _LOCATED * size if balance in INTERACTION_BALANCES else 0.0
        return float(lost + (_ROUNDING + _EPS * self.steps) * (size + rounded))

    def largest_loss(self, balance: str, sizes: Sizes) -> float:
        """Largest loss that is ever permitted, however much the integrator loses."""
        drifts = balance.endswith("linear") or balance == f"{WORLD_PREFIX}angular"
        return COARSEST * sizes.size[balance] + (DRIFT * sizes.rounded[balance] if drifts else 0.0)


@dataclass(frozen=True)
class AuditEntry(Judgement):
    """One balance: its largest imbalance, the value, beside the one that is permitted, the limit."""

    value: float
    at: float  # when the imbalance is largest [s]

    @property
    def holds(self) -> bool:
        """True if the imbalance is permitted; one that is not finite never is."""
        return bool(np.isfinite(self.value)) and self.value <= self.limit

    def __str__(self) -> str:
        return self.line(_WIDE)

    def line(self, wide: int) -> str:
        """The entry as text, with its name filled to a width."""
        verdict = "holds" if self.holds else "VIOLATED"
        return (
            f"{self.name:<{wide}} {verdict:<8} off by {self.value:9.2e} {self.unit} at {self.at:g} s "
            f"(permitted {self.limit:.1e})"
        )

    def as_dict(self) -> dict[str, Any]:
        """The entry as plain data for files; numbers that are not finite become None, which JSON can hold."""
        numbers = {"imbalance": self.value, "at": self.at, "permitted": self.limit}
        plain = {key: number if key == "at" or np.isfinite(number) else None for key, number in numbers.items()}
        return {"quantity": self.name, "unit": self.unit, **plain}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> AuditEntry:
        """The entry from plain data; a missing number is NaN."""
        permitted, imbalance = (math.nan if data[key] is None else data[key] for key in ("permitted", "imbalance"))
        return AuditEntry(data["quantity"], "at most", permitted, imbalance, data["unit"], data["at"])


@dataclass(frozen=True)
class Audit:
    """All balances of a run."""

    entries: tuple[AuditEntry, ...]
    reason: str  # where the tolerance comes from
    warnings: tuple[str, ...] = ()  # where the run left the domain of its model

    @property
    def holds(self) -> bool:
        """True if every balance holds."""
        return all(entry.holds for entry in self.entries)

    @property
    def violations(self) -> tuple[AuditEntry, ...]:
        """The balances that do not hold."""
        return tuple(entry for entry in self.entries if not entry.holds)

    @property
    def in_short(self) -> str:
        """How many balances hold, and which do not, in one line."""
        broken = ", ".join(entry.name for entry in self.violations[:4])
        if more := len(self.violations) - 4:
            broken += f" and {more} more" * (more > 0)
        held = len(self.entries) - len(self.violations)
        return f"{held} of {len(self.entries)} balances hold{f'; VIOLATED: {broken}' * bool(broken)}"

    def __repr__(self) -> str:
        return f"<Audit: {self.in_short}>"

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        return pre_block(str(self).splitlines())

    def __str__(self) -> str:
        wide = max([_WIDE, *(len(entry.name) for entry in self.entries)])
        lines = [*(entry.line(wide) for entry in self._printed_entries()), f"tolerance: {self.reason}"]
        if hidden := len(self.entries) - len(self._printed_entries()):
            lines.insert(-1, f"and {hidden} balances more: {self.in_short}")
        return "\n".join(lines + [f"warning: {text}" for text in self.warnings])

    def _printed_entries(self) -> tuple[AuditEntry, ...]:
        """The entries in a printed table: all of them, or, of very many, first those that do not hold."""
        if len(self.entries) <= _MOST_PRINTED:
            return self.entries
        return tuple(sorted(self.entries, key=lambda entry: entry.holds)[:_MOST_PRINTED])

    def as_dict(self) -> dict[str, Any]:
        """The audit as plain data for files; numbers that are not finite become None, which JSON can hold."""
        entries = tuple(entry.as_dict() for entry in self.entries)
        return {"entries": entries, "reason": self.reason, "warnings": self.warnings}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Audit:
        """The audit from plain data, as `as_dict` makes it."""
        return Audit(
            entries=tuple(map(AuditEntry.from_dict, data["entries"])),
            reason=data["reason"],
            warnings=tuple(data.get("warnings", ())),
        )


def audit(
    data: LabelledArrays,
    accuracy: IntegratorLoss,
    sizes: Sizes,
    prefixes: tuple[str, ...] = ("",),
    warnings: tuple[str, ...] = (),
) -> Audit:
    """The audit of a run's channels, for every spacecraft and for all together; `prefixes`: of their channels."""
    t, ends = data["time"].values, imbalances(data, prefixes)
    over_time = {
        key: _entry(
            balanced_quantity(key).quantity,
            balanced_quantity(key).unit,
            t,
            values,
            accuracy.permitted_imbalance(key, sizes),
        )
        for key, values in ends.items()
    }
    now = [
        _entry(_owned_quantity(prefix, law.quantity), law.unit, t, data[prefix + name].values, _at_instants(limit))
        for prefix in prefixes
        for name, law in AT_EVERY_INSTANT.items()
        for limit in (sizes.at_instants[prefix + name],)
    ]
    quaternions = [
        _entry(_owned_quantity(prefix, "unit quaternion"), "1", t, norms, _QUATERNION)
        for prefix in prefixes
        for norms in (np.linalg.norm(data[f"{prefix}base.attitude"].values, axis=-1) - 1.0,)
    ]
    stiff = _unfinished_entries(data, t)
    why = (
        _stiffness_text(data, accuracy)
        if stiff and not stiff[0].holds
        else _violation_text(over_time, now, accuracy, sizes)
    )
    entries = (*over_time.values(), *now, *quaternions, *stiff)
    return Audit(entries=entries, reason=accuracy.reason + why, warnings=warnings)


def _unfinished_entries(data: LabelledArrays, t: np.ndarray) -> list[AuditEntry]:
    """Entry for steps that were not finished because contact was too stiff; empty if the run has no such channel."""
    if UNFINISHED not in data:
        return []
    return [_entry("interactions: steps left unfinished", "1", t, data[UNFINISHED].values, 0.0)]


def _stiffness_text(data: LabelledArrays, accuracy: IntegratorLoss) -> str:
    """Text that says why steps were left unfinished, and gives a step that would do."""
    share = float(np.min(data[COVERED].values))
    shorter = f"dt = {accuracy.dt * 0.5 * share:.3g} would do" if accuracy.dt and share > 0.0 else "Shorten dt"
    return (
        f": contact is too stiff for this step, of which {100.0 * share:.2g} % could be made. {shorter}; or make the "
        "contact softer, or less damped"
    )


def _owned_quantity(prefix: str, quantity: str) -> str:
    return f"{prefix.removesuffix('.')}: {quantity}" if prefix else quantity


def _at_instants(size: np.ndarray) -> np.ndarray:
    """Permitted imbalance at each record; a motion below the rounding of the run's largest is only rounding."""
    return _AT_AN_INSTANT * (size + _EPS * np.max(size))


def _violation_text(
    over_time: dict[str, AuditEntry], now: list[AuditEntry], accuracy: IntegratorLoss, sizes: Sizes
) -> str:
    """Text that says what a violation probably means, and what to do; empty if there is none."""
    if not all(entry.holds for entry in now):
        return (
            ": the accelerations themselves do not keep momentum or energy, whatever the step. A model is not "
            "consistent with itself, which is a bug: please report it"
        )
    violated = {key: entry for key, entry in over_time.items() if not entry.holds}
    coarse = [key for key, entry in violated.items() if not entry.value <= accuracy.largest_loss(key, sizes)]
    if coarse and accuracy.remedy:
        return f": {accuracy.remedy}"
    return f": {accuracy.otherwise}" if violated and accuracy.otherwise else ""


def _entry(quantity: str, unit: str, t: np.ndarray, imbalance: np.ndarray, permitted: float | np.ndarray) -> AuditEntry:
    """The entry of the record whose imbalance is largest relative to the permitted one."""
    size = np.abs(imbalance) if imbalance.ndim == 1 else np.linalg.norm(imbalance, axis=-1)
    limit = np.broadcast_to(permitted, size.shape)
    share = np.where(size > 0.0, size / np.maximum(limit, np.finfo(float).tiny), 0.0)
    worst = int(np.argmax(np.where(np.isfinite(size), share, np.inf)))
    return AuditEntry(quantity, "at most", float(limit[worst]), float(size[worst]), unit, float(t[worst]))
