"""Model of a robot controller, from commands to joint references: averaging, transport delay, interpolation, lag.

Everything is linear and equal for all joints, so that one matrix maps the last commands to the references of a whole
cycle.
"""

from __future__ import annotations

import numpy as np

from freefloat.hil.cell.motion_history import hermite_weights
from freefloat.hil.cell.settings import ServoSettings

References = tuple[np.ndarray, np.ndarray, np.ndarray]  # positions, rates, accelerations, each (substeps + 1, n)


class RobotServo:
    """Servo of one robot. The first row of the references is the present instant, the last row the end of the cycle."""

    def __init__(self, settings: ServoSettings, cycle: float, substeps: int) -> None:
        self.settings, self.cycle, self.substeps = settings, cycle, substeps
        self._weights = _interpolation(settings.delay / cycle, cycle, substeps)
        self._lag = _lag_step(settings, cycle / substeps)

    def start(self, q: np.ndarray) -> None:
        """Reset all stored commands and states to rest at these angles [rad]."""
        depth = self._weights[0].shape[1] // 2
        self._raw = np.tile(np.stack([q, np.zeros_like(q)]), (self.settings.averaging, 1, 1))
        self._nodes = np.tile(np.stack([q, np.zeros_like(q)]), (depth, 1, 1))
        self._state = np.stack([q, np.zeros_like(q)])

    def references(self, q: np.ndarray, rate: np.ndarray) -> References:
        """Store the command for the end of the cycle; returns the joint references during the cycle."""
        self._raw = np.concatenate([self._raw[1:], np.stack([q, rate])[None]])
        self._nodes = np.concatenate([self._nodes[1:], self._raw.mean(axis=0)[None]])
        count = self._nodes.shape[0]
        known = self._nodes.transpose(1, 0, 2).reshape(2 * count, -1)
        wanted, wanted_rate, wanted_acceleration = (weights @ known for weights in self._weights)
        if self.settings.lag == "none":
            return wanted, wanted_rate, wanted_acceleration
        return self._lagged_references(wanted, wanted_rate)

    def _lagged_references(self, wanted: np.ndarray, wanted_rate: np.ndarray) -> References:
        w, second = 2.0 * np.pi * self.settings.bandwidth, self.settings.lag == "second"
        states = np.empty((self.substeps + 1, *self._state.shape))
        states[0] = self._state
        A, b_now, b_next = self._lag
        for j in range(self.substeps):
            states[j + 1] = A @ states[j] + np.outer(b_now, wanted[j]) + np.outer(b_next, wanted[j + 1])
        self._state = states[-1]
        q, rate = states[:, 0], states[:, 1]
        if second:
            return q, rate, w**2 * (wanted - q) - 2.0 * self.settings.damping_ratio * w * rate
        rate = w * (wanted - q)
        return q, rate, w * (wanted_rate - rate)


def _interpolation(delay_cycles: float, cycle: float, substeps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of the last commands' angles and rates for angle, rate and acceleration at the substeps (cubic)."""
    depth = int(np.ceil(delay_cycles - 1e-9)) + 2
    values, rates, accelerations = (np.zeros((substeps + 1, 2 * depth)) for _ in range(3))
    for j in range(substeps + 1):
        at = j / substeps - delay_cycles  # in cycles after the start of this one
        segment = min(0, int(np.floor(at + 1e-9)))  # 0: the one that ends with the newest command
        s = at - segment
        before = depth - 2 + segment
        columns = [before, depth + before, before + 1, depth + before + 1]
        values[j, columns], rates[j, columns] = hermite_weights(s, cycle)
        accelerations[j, columns] = (
            (12 * s - 6) / cycle**2,
            (6 * s - 4) / cycle,
            (6 - 12 * s) / cycle**2,
            (6 * s - 2) / cycle,
        )
    return values, rates, accelerations


def _lag_step(settings: ServoSettings, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One substep of the lag, exact for an input that changes linearly: state (angle, rate)."""
    from scipy.linalg import expm

    w = 2.0 * np.pi * settings.bandwidth
    if settings.lag == "second":
        F = np.array([[0.0, 1.0], [-(w**2), -2.0 * settings.damping_ratio * w]])
        G = np.array([0.0, w**2])
    else:
        F, G = np.array([[-w, 0.0], [0.0, 0.0]]), np.array([w, 0.0])
    # States, input, and its change over the substep.
    block = np.zeros((4, 4))
    block[:2, :2], block[:2, 2], block[2, 3] = F, G, 1.0 / h
    step = expm(block * h)
    return step[:2, :2], step[:2, 2] - step[:2, 3], step[:2, 3]
