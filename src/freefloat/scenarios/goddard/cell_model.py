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

_PERIODS = 0.45  # of the first mode: a longer delay changes the sign of its effect
_STEPS = 200


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

    def robot(self, s: complex) -> complex:
        """Transfer function H(s) from command to motion of the robot."""
        if np.isinf(self.bandwidth):
            return cmath.exp(-s * self.delay)
        w = 2.0 * np.pi * self.bandwidth
        lag = w / (s + w) if self.lag == "first" else w**2 / (s**2 + 2.0 * self.lag_damping * w * s + w**2)
        return cmath.exp(-s * self.delay) * lag

    def reaction(self, s: complex) -> complex:
        """Dynamic mass [kg], or inertia [kg m2], D(s) of the beams at their roots."""
        w = self.frequencies
        modes = s**2 / (s**2 + 2.0 * self.damping_ratio * w * s + w**2)
        return self.beams - self.both_masses * complex(np.sum(self.coupling**2 * modes))

    def characteristic(self, s: complex) -> complex:
        """Characteristic function of the loop, zero at its poles."""
        return 1.0 + self.robot(s) * self.reaction(s) / self.hub

    def first_mode(self, start: complex | None = None) -> complex:
        """Pole of the lowest vibration [rad/s], by Newton's method from the clamped beam's, or from `start`."""
        w = float(self.frequencies[0])
        share = self.both_masses * self.coupling[0] ** 2 / (self.hub + self.beams)
        s = start or complex(-self.damping_ratio * w, w / np.sqrt(1.0 - share))
        for _ in range(60):
            h = 1e-6 * w
            slope = (self.characteristic(s + h) - self.characteristic(s - h)) / (2.0 * h)
            step = self.characteristic(s) / slope
            s -= step
            if abs(step) < 1e-12 * w:
                break
        return s

    def first_damping(self) -> float:
        """Damping ratio of the lowest vibration; negative if the vibration grows."""
        s = self.first_mode()
        return -s.real / abs(s)

    def critical_delay(self) -> float:
        """Shortest delay at which the lowest vibration grows [s]; infinite if there is none."""
        longest = _PERIODS * 2.0 * np.pi / float(self.frequencies[0])
        s = replace(self, delay=0.0).first_mode()
        before = 0.0
        for delay in np.linspace(0.0, longest, _STEPS)[1:]:
            s = replace(self, delay=float(delay)).first_mode(s)
            if s.real > 0.0:
                return self._crossing(before, float(delay), s)
            before = float(delay)
        return np.inf

    def _crossing(self, stable: float, growing: float, s: complex) -> float:
        for _ in range(60):
            middle = 0.5 * (stable + growing)
            s = replace(self, delay=middle).first_mode(s)
            stable, growing = (stable, middle) if s.real > 0.0 else (middle, growing)
        return 0.5 * (stable + growing)
