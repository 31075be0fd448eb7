"""The conservation audit of a run: does what the physics keeps stay kept, and do the books balance?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

# A fixed-step method of order four loses about (W h)^4 W T / 120 of what it should keep, W being the fastest rate
# of the motion. Rounding adds at most one unit in the last place per step. Whatever the step, more than one part in
# a thousand is no longer a simulation of that motion: the step is too coarse for it.
_TRUNCATION = 1e-2
_ROUNDING = 1e-12
_COARSEST = 1e-3


@dataclass(frozen=True)
class Accuracy:
    """What the integrator promises, from its order, its step and how fast the motion was."""

    relative: float  # permitted relative drift
    reason: str
    suspicion: str = ""  # why a balance that does not hold probably does not

    @staticmethod
    def of_rk4(dt: float, duration: float, fastest_rate: float, corner_rate: float = 0.0) -> Accuracy:
        """Fourth order, fixed step; second order across the corners of a law that has some."""
        said = f"RK4, step {dt:g} s, {duration:g} s, fastest rate {fastest_rate:.3g} rad/s"
        said += f", corners of {corner_rate:.3g} 1/s" if corner_rate else ""
        if not np.isfinite(fastest_rate):
            return Accuracy(_COARSEST, said)
        rounding = _ROUNDING + np.finfo(float).eps * duration / dt
        with np.errstate(over="ignore"):
            loss = _TRUNCATION * np.float64(fastest_rate * dt) ** 4 * fastest_rate * duration
            loss += np.float64(corner_rate * dt) ** 2
        if loss + rounding <= _COARSEST:
            return Accuracy(float(loss + rounding), said)
        fitting = (_COARSEST / (_TRUNCATION * fastest_rate * duration)) ** 0.25 / fastest_rate
        return Accuracy(
            _COARSEST,
            f"{said}; never more than {_COARSEST:g}",
            f"too coarse a step for that rate, at most {fitting:.2g} s would fit",
        )

    @staticmethod
    def of_adaptive(tolerance: float, steps: int) -> Accuracy:
        """Each accepted step may err by the tolerance."""
        said = f"adaptive, tolerance {tolerance:g}, {steps} steps"
        relative = float(tolerance * steps + _ROUNDING)
        if relative <= _COARSEST:
            return Accuracy(relative, said)
        return Accuracy(_COARSEST, f"{said}; never more than {_COARSEST:g}", "tighten the tolerance")


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
        verdict = "holds" if self.holds else "VIOLATED"
        return (
            f"{self.quantity:<42} {verdict:<8} off by {self.imbalance:9.2e} {self.unit} at {self.at:g} s "
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
        lines = [*map(str, self.entries), f"tolerance: {self.reason}"]
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


def fastest_rate(data: xarray.Dataset, mass: float, holds: Sequence[float] = ()) -> float:
    """Fastest rate of a recorded motion [rad/s]: of any rotation, or at which velocity or acceleration change.

    `holds` are the periods of sampled laws [s]: at their ticks, forces and prescribed rates may jump.
    """
    rates = [float(np.max(np.linalg.norm(data["base.rate"].values, axis=-1)))]
    if "joints.rate" in data:
        rates.append(float(np.max(np.abs(data["joints.rate"].values))))
    # Kinetic energy without the motion of the centre of mass, which no force of the spacecraft's own changes.
    drifting = np.sum(data["momentum.linear"].values ** 2, axis=-1) / (2.0 * mass)
    inner = float(np.max(data["energy.kinetic"].values - drifting))
    agility = float(np.max(data["energy.agility"].values))
    if inner > 1e-12 * float(np.max(drifting, initial=0.0)) and np.isfinite(agility):
        rates.append(float(np.sqrt(agility / inner)))
    return max([*rates, _forcing_rate(data["state.v"].values, data["time"].values, holds)])


def _forcing_rate(v: np.ndarray, t: np.ndarray, holds: Sequence[float]) -> float:
    """How fast the accelerations change, from differences of the recorded velocities.

    A jump at a tick is no error of the integrator. Differences across the ticks of sampled laws are left out, where
    the records are fine enough to have others, and of the rest nine tenths count: a law may switch by itself.
    """
    if len(t) < 4:
        return 0.0
    acceleration = np.diff(v, axis=0) / np.diff(t)[:, None]
    jerk = np.abs(np.diff(acceleration, axis=0)) / np.diff(t)[1:, None]
    smooth = ~_with_tick(t[:-1], t[1:], holds)
    within = smooth[:-1] & smooth[1:]
    jerk = np.quantile(jerk[within] if np.any(within) else jerk, 0.9, axis=0)
    largest = np.max(np.abs(acceleration), axis=0)
    moving = largest > 1e-9  # below this, differences of rounded numbers mean nothing
    return float(np.max(jerk[moving] / largest[moving], initial=0.0))


def _with_tick(start: np.ndarray, end: np.ndarray, holds: Sequence[float]) -> np.ndarray:
    """Intervals in which, or at whose start, a sampled law answers anew."""
    found = np.zeros(len(start), dtype=bool)
    for hold in holds:
        found |= np.ceil(start / hold - 1e-6) < end / hold - 1e-6
    return found


def audit(data: xarray.Dataset, accuracy: Accuracy, mass: float, warnings: tuple[str, ...] = ()) -> Audit:
    """Judge a run's channels; `mass` is the whole spacecraft's [kg].

    A spacecraft with kinetic energy T can hold at most sqrt(2 T m) of linear momentum in its motion: drift is
    judged against that, so that a run with zero total momentum is judged too.
    """
    t = data["time"].values
    energy = data["energy.kinetic"].values + data["energy.elastic"].values
    books = energy - energy[0] - data["energy.work"].values + data["energy.dissipated"].values
    top = float(np.max(energy, initial=0.0))
    P, L = data["momentum.linear"].values, data["momentum.angular"].values
    norms = np.linalg.norm(data["base.attitude"].values, axis=-1) - 1.0
    reach = float(np.max(np.linalg.norm(data["com.position"].values, axis=-1)))
    linear_scale = np.sqrt(2.0 * top * mass) + _largest(P)
    angular_scale = np.sqrt(2.0 * top * _largest(data["com.inertia_trace"].values)) + _largest(L) + reach * linear_scale
    energy_scale = max(top, _largest(data["energy.work"].values))
    relative = accuracy.relative
    entries = (
        _entry("linear momentum", "N s", t, P - P[0] - data["impulse.linear"].values, relative * linear_scale),
        _entry(
            "angular momentum about the inertial origin",
            "N m s",
            t,
            L - L[0] - data["impulse.angular"].values,
            relative * angular_scale,
        ),
        _entry("energy: change = work - dissipation", "J", t, books, relative * energy_scale),
        _entry("unit quaternion", "1", t, norms, _ROUNDING),
    )
    doubt = f": {accuracy.suspicion}" if accuracy.suspicion and not all(entry.holds for entry in entries) else ""
    return Audit(entries=entries, reason=accuracy.reason + doubt, warnings=warnings)


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _entry(quantity: str, unit: str, t: np.ndarray, imbalance: np.ndarray, permitted: float) -> Entry:
    size = np.abs(imbalance) if imbalance.ndim == 1 else np.linalg.norm(imbalance, axis=-1)
    worst = int(np.argmax(np.where(np.isfinite(size), size, np.inf)))
    return Entry(quantity, unit, float(size[worst]), float(t[worst]), float(permitted))
