"""A wrist force/torque sensor: its load, its errors, and the part that is the tool's own weight.

The sign is that of a real sensor: a push on the tool is read as that push. MuJoCo's site sensors have the opposite.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from freefloat.hil.cell.rotations import cross
from freefloat.hil.cell.settings import SensorSettings
from freefloat.spatial.sixvectors import angular, linear


@dataclass(frozen=True)
class ToolLoad:
    """Mass properties of the tool on the sensor at an instant, in W axes about W, and gravity."""

    mass: float  # [kg]
    com: np.ndarray  # (3,) [m]
    inertia: np.ndarray  # (3, 3) about W [kg m2]
    gravity: np.ndarray  # (3,) [m/s2]

    def weight(self) -> np.ndarray:
        """Wrench of gravity on the tool (6,) [N, N m]."""
        force = self.mass * self.gravity
        return np.concatenate([force, cross(self.com, force)])

    def inertia_wrench(self, twist: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Wrench that the motion of a rigid tool needs (6,) [N, N m], from twist of W and its rate, in W axes."""
        v, w = np.asarray(linear(twist)), np.asarray(angular(twist))
        a, alpha = np.asarray(linear(acceleration)) + cross(w, v), np.asarray(angular(acceleration))
        force = self.mass * (a + cross(alpha, self.com) + cross(w, cross(w, self.com)))
        torque = self.mass * cross(self.com, a) + self.inertia @ alpha + cross(w, self.inertia @ w)
        return np.concatenate([force, torque])


class WristSensor:
    """Wrist sensor of one robot; its errors depend on the seed and the robot's name only."""

    def __init__(self, settings: SensorSettings, name: str, cycle: float, seed: int) -> None:
        self.settings, self.cycle = settings, cycle
        self._draw = np.random.Generator(np.random.Philox(key=[seed, zlib.crc32(name.encode())]))
        self._offset = self._six(settings.bias) * self._draw.standard_normal(6)
        self._walk, self._tare = np.zeros(6), np.zeros(6)
        self._last_twist: np.ndarray | None = None

    def tare(self, felt: np.ndarray, load: ToolLoad) -> None:
        """Average samples at rest, and subtract their mean from now on."""
        samples = [self.read(felt, load, np.zeros(6)) for _ in range(self.settings.tare_samples)]
        if samples:
            self._tare = np.mean(samples, axis=0)
        self._last_twist = None

    def read(self, felt: np.ndarray, load: ToolLoad, twist: np.ndarray) -> np.ndarray:
        """One sample (6,) [N, N m]: wrench of the tool on the flange, with errors, less the known load of the tool."""
        s = self.settings
        self._walk = self._walk + self._six(s.drift) * np.sqrt(self.cycle) * self._draw.standard_normal(6)
        value = felt + self._offset + self._walk + self._six(s.noise) * self._draw.standard_normal(6)
        limit, steps = self._six(s.range), self._six(s.resolution)
        value = np.clip(value, -limit, limit)
        fine = steps == 0.0
        value = np.where(fine, value, np.round(value / np.where(fine, 1.0, steps)) * steps)
        known = (1.0 - s.weight_error) * load.weight() - self._inertia(load, twist)
        return np.where(s.passed, value - known - self._tare, 0.0)

    def is_overloaded(self, felt: np.ndarray) -> bool:
        """Whether a wrench is beyond the range of the sensor."""
        return bool(np.any(np.abs(felt) > self._six(self.settings.range)))

    def _inertia(self, load: ToolLoad, twist: np.ndarray) -> np.ndarray:
        last, self._last_twist = self._last_twist, twist
        if not self.settings.inertia_compensated or last is None:
            return np.zeros(6)
        return load.inertia_wrench(twist, (twist - last) / self.cycle)

    @staticmethod
    def _six(pair: tuple[float, float]) -> np.ndarray:
        return np.repeat(np.asarray(pair, dtype=float), 3)
