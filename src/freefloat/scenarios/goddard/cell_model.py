"""Hub, robot and beams as one linear loop in one direction: effect of the robot's lag and delay on the vibration.

The measured reaction of the beams moves the hub, m_s y_cmd'' = -(2 m y_r'' + 2 m sum p_j q_j''); the robot
follows, y_r = H y_cmd; it moves the beams, q_j'' + 2 zeta w_j q_j' + w_j^2 q_j = -p_j y_r'' (L2-normalised modes;
for rotation the hub's inertia, 2 m L^2 / 3 and h_j L stand for m_s, 2 m and p_j). A lag takes damping away.
"""

from __future__ import annotations

import cmath
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.polynomial import Polynomial

_LONGEST_STEP = 0.1  # [rad] of a mode's phase, by which the delay grows between two solutions of its pole
_SHORTEST_STEP = 1e-9  # [rad]; a pole that cannot be followed even by this step is reported
_CLOSE = 0.02  # of a pole's size, by which one step may move it


@dataclass(frozen=True)
class CellModel:
    """The linear loop. With infinite bandwidth and no delay it is the hub in free flight."""

    hub: float  # mass [kg], or inertia [kg m2]
    beams: float  # mass of both [kg], or inertia about the hub's centre [kg m2]
    both_masses: float  # of both beams [kg]
    coupling: np.ndarray  # p_j, or h_j L [m]
    frequencies: np.ndarray  # w_j of the clamped beam [rad/s]
    damping_ratio: float
    bandwidth: float = np.inf  # [Hz]
    lag: Literal["first", "second"] = "first"
    delay: float = 0.0  # [s]
    lag_damping: float = 0.7  # of a second-order lag
    gain: float = 1.0  # of the robot: what it makes of a command far below its bandwidth

    def robot(self, s: complex) -> complex:
        """Transfer function H(s) from command to motion of the robot."""
        if np.isinf(self.bandwidth):
            return self.gain * cmath.exp(-s * self.delay)
        w = 2.0 * np.pi * self.bandwidth
        lag = w / (s + w) if self.lag == "first" else w**2 / (s**2 + 2.0 * self.lag_damping * w * s + w**2)
        return self.gain * cmath.exp(-s * self.delay) * lag

    def reaction(self, s: complex) -> complex:
        """Dynamic mass [kg], or inertia [kg m2], D(s) of the beams at their roots."""
        w = self.frequencies
        modes = s**2 / (s**2 + 2.0 * self.damping_ratio * w * s + w**2)
        return self.beams - self.both_masses * complex(np.sum(self.coupling**2 * modes))

    def characteristic(self, s: complex) -> complex:
        """Characteristic function of the loop, zero at its poles."""
        return 1.0 + self.open_loop(s, self.robot(s))

    def open_loop(self, s: complex, robot: complex) -> complex:
        """Transfer around the loop at s, with a robot's own transfer there; minus one at a pole."""
        return robot * self.reaction(s) / self.hub

    def first_mode(self) -> complex:
        """Pole of the lowest vibration [rad/s]: the one that it becomes when the delay grows from zero."""
        return self.modes()[0]

    def modes(self) -> list[complex]:
        """Poles of the vibrations [rad/s], one for each mode of the beams, the lowest frequency without delay first.

        Times the denominators of lag and modes the characteristic function is P(s) + Q(s) exp(-s T): without delay
        its zeros are those of a polynomial, which are then followed as the delay grows.
        """
        P, Q = self._numerators()
        still = sorted((s for s in (P + Q).roots() if s.imag > 0.0), key=abs)
        clamped = np.sort(self.frequencies)
        starts = [min(still, key=lambda s, w=w: abs(s.imag - w)) for w in clamped]
        return [_follow_pole(P, Q, complex(s), self.delay) for s in starts]

    def first_damping(self) -> float:
        """Damping ratio of the lowest vibration; negative if the vibration grows."""
        s = self.first_mode()
        return -s.real / abs(s)

    def critical_delay(self) -> float:
        """Shortest delay at which any vibration grows [s]; zero if one grows without delay, infinite if there is none.

        On the imaginary axis |P(i w)| = |Q(i w)|, a polynomial in w; its phase gives the delay at each such w.
        """
        P, Q = self._numerators()
        if max(s.real for s in (P + Q).roots()) > 0.0:
            return 0.0
        turned = Polynomial([0.0, 1j])
        on_axis = [polynomial(turned) for polynomial in (P, Q)]
        sizes = [value * Polynomial(value.coef.conj()) for value in on_axis]
        crossings = [w.real for w in (sizes[0] - sizes[1]).roots() if w.real > 0.0 and abs(w.imag) < 1e-7 * abs(w)]
        delays = [float(np.angle(-Q(1j * w) / P(1j * w))) % (2.0 * np.pi) / w for w in crossings]
        return min(delays, default=np.inf)

    def with_robot(self, gain: float, delay: float) -> CellModel:
        """The loop with a robot of a gain and a delay [s] and no other lag, as it was measured at one frequency."""
        return replace(self, bandwidth=np.inf, gain=gain, delay=delay)

    def _numerators(self) -> tuple[Polynomial, Polynomial]:
        """Polynomials P and Q of the characteristic function P(s) + Q(s) exp(-s T)."""
        modes = [Polynomial([w**2, 2.0 * self.damping_ratio * w, 1.0]) for w in self.frequencies]
        product = Polynomial([1.0])
        for mode in modes:
            product = product * mode
        reaction = self.beams * product
        for p, mode in zip(self.coupling, modes, strict=True):
            reaction = reaction - self.both_masses * float(p) ** 2 * Polynomial([0.0, 0.0, 1.0]) * (product // mode)
        return self._lag_denominator() * product, self.gain / self.hub * reaction

    def _lag_denominator(self) -> Polynomial:
        """Denominator of the robot's lag, one at s = 0."""
        w = 2.0 * np.pi * self.bandwidth
        if np.isinf(w):
            return Polynomial([1.0])
        second = [1.0 / w**2] if self.lag == "second" else []
        first = 2.0 * self.lag_damping / w if self.lag == "second" else 1.0 / w
        return Polynomial([1.0, first, *second])


def _follow_pole(P: Polynomial, Q: Polynomial, s: complex, delay: float) -> complex:
    """Zero of P(s) + Q(s) exp(-s T) at a delay [s], followed from its value `s` at no delay by ever smaller steps."""
    reached, step = 0.0, _LONGEST_STEP / abs(s)
    while reached < delay:
        if step * abs(s) < _SHORTEST_STEP:
            raise ArithmeticError(
                f"A pole of the loop cannot be followed beyond a delay of {1e3 * reached:.4g} ms: two poles meet there."
            )
        aim = min(reached + step, delay)
        found = _newton_zero(P, Q, s, aim)
        if found is None or abs(found - s) > _CLOSE * abs(s):
            step *= 0.5
            continue
        s, reached, step = found, aim, min(2.0 * step, _LONGEST_STEP / abs(s))
    return s


def _newton_zero(P: Polynomial, Q: Polynomial, s: complex, delay: float) -> complex | None:
    """Zero of P(s) + Q(s) exp(-s T) near `s` by Newton's method; None where it does not converge."""
    dP, dQ = P.deriv(), Q.deriv()
    for _ in range(20):
        late = cmath.exp(-s * delay)
        slope = dP(s) + late * (dQ(s) - delay * Q(s))
        if slope == 0.0 or not cmath.isfinite(slope):
            return None
        change = (P(s) + late * Q(s)) / slope
        if abs(change) > abs(s):
            return None
        s -= change
        if abs(change) < 1e-13 * abs(s):
            return s
    return None
