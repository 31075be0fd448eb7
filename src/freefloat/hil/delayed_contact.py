"""Effect of a delay on a contact, in closed form: restitution, critical delay, margins. Computed before any motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.values.checks import require_number


def restitution(mass: float, stiffness: float, delay: float) -> float:
    """Speed after over speed before an elastic contact whose force is late [s]; above one the delay adds energy.

    mu s^2 + k exp(-s T) = 0 has the root s = (2/T) W0(i w T / 2), w = sqrt(k / mu): half a turn of it is the contact,
    e = exp(pi Re s / Im s), about exp(pi w T / 2).
    """
    from scipy.special import lambertw

    mass, stiffness, delay = _require_contact(mass, stiffness, delay)
    if not delay:
        return 1.0
    w = np.sqrt(stiffness / mass)
    root = 2.0 / delay * lambertw(0.5j * w * delay)
    return float(np.exp(np.pi * root.real / root.imag))


def critical_delay(mass: float, stiffness: float, damping: float) -> float:
    """Delay [s] at which a damped contact that stays closed (it pulls as well as pushes) neither decays nor grows.

    mu s^2 + (k + b s) exp(-s T) on the imaginary axis: w^2 = (b^2 + sqrt(b^4 + 4 mu^2 k^2)) / (2 mu^2) and
    T = atan(b w / k) / w, about b / k. Without damping there is none: any delay grows.
    """
    mass, stiffness, _ = _require_contact(mass, stiffness, 0.0)
    b = float(require_number("The damping of a contact", damping, "N s/m", least=0.0))
    w = np.sqrt((b**2 + np.sqrt(b**4 + 4.0 * mass**2 * stiffness**2)) / (2.0 * mass**2))
    return float(np.arctan(b * w / stiffness) / w)


def reduced_mass(first: float, second: float = np.inf) -> float:
    """Reduced mass mu [kg] of two bodies that meet at their centres of mass; against the floor, mass of the first."""
    return 1.0 / (1.0 / first + 1.0 / second)


@dataclass(frozen=True)
class ExpectedContact:
    """Stiffness and damping of the contact that a rehearsal is expected to make."""

    stiffness: float  # [N/m]
    damping: float = 0.0  # [N s/m]

    def __post_init__(self) -> None:
        require_number("ExpectedContact.stiffness", self.stiffness, "N/m", above=0.0)
        require_number("ExpectedContact.damping", self.damping, "N s/m", least=0.0)


@dataclass(frozen=True)
class DelayMargin:
    """Stability of a contact in a facility: the critical delay, and the delay that is left."""

    mass: float  # mu [kg]
    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    delay: float  # [s] that is left after compensation
    restitution: float  # without the passivity controller and without damping
    critical_delay: float  # [s]

    @property
    def margin(self) -> float:
        """Critical delay less the delay [s]: below zero a contact that stays closed swings up."""
        return self.critical_delay - self.delay

    def __str__(self) -> str:
        return (
            f"A contact of {self.stiffness:g} N/m and {self.damping:g} N s/m on {self.mass:.6g} kg bears "
            f"{1e3 * self.critical_delay:.4g} ms of delay; {1e3 * self.delay:.4g} ms are left. An elastic one would "
            f"come back {self.restitution:.4f} times as fast."
        )


def delay_margin(mass: float, stiffness: float, damping: float, delay: float) -> DelayMargin:
    """Stability of a contact of mass [kg], stiffness [N/m] and damping [N s/m] in a facility with a delay [s]."""
    return DelayMargin(
        mass=mass,
        stiffness=stiffness,
        damping=damping,
        delay=delay,
        restitution=restitution(mass, stiffness, delay),
        critical_delay=critical_delay(mass, stiffness, damping),
    )


def _require_contact(mass: float, stiffness: float, delay: float) -> tuple[float, float, float]:
    return (
        float(require_number("The mass of a contact", mass, "kg", above=0.0)),
        float(require_number("The stiffness of a contact", stiffness, "N/m", above=0.0)),
        float(require_number("The delay of a contact", delay, "s", least=0.0)),
    )
