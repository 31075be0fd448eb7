"""Wheels that become full between ticks of an adaptive run: attempts end there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freefloat.sim.motion.full_wheels import OVER, TOGETHER, held_full, logged_wheels, most_momenta, wheel_momenta
from freefloat.sim.motion.port_bus import asked_torques
from freefloat.sim.system.craft_state import Plants
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.sim.system.tick import tick_of
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.values.arrays import Scalar, Vector

Reach = Callable[[float], tuple[Plants, Any]]  # plants after an attempt of a length [s], and its error


class WheelWatch:
    """Looks at the wheels that can become full; where there are none it does nothing."""

    def __init__(self, system: System, loop: SystemState, inputs: Inputs, target: Any) -> None:
        self.full = np.zeros(len(system.wiring.limited_wheels))  # +1, -1 or 0, held over an attempt
        self._most, self._passed = self.full, self.full > 0.0
        if self.full.size:
            self._look = compile_system(_look, system, loop.plants, loop, inputs, np.zeros(()), target=target)

    def begin_segment(self) -> None:
        """At a tick, and where a force jumps: all wheels are looked at again."""
        self._passed = np.zeros(self.full.size, bool)

    def look(self, plants: Plants, loop: SystemState, inputs: Inputs, t: float) -> Plants:
        """At the beginning of an attempt: which wheels are full is held; new ones are noted in the plants."""
        if not self.full.size:
            return plants
        plants, full, _, most = self._look(plants, loop, inputs, t)
        held = self._passed & (self.full != 0.0)  # one that became full stays so, until it is looked at again
        self.full, self._most = np.where(held, self.full, np.asarray(full)), np.asarray(most)
        return plants

    def first_full(self, reach: Reach, loop: SystemState, inputs: Inputs, t: float, h: float) -> float | None:
        """When in an attempt from t over h the first wheel becomes full [s]; None where none does."""
        others = (self.full == 0.0) & ~self._passed
        if not others.any():
            return None

        def rooms(length: float) -> np.ndarray:
            momenta = self._look(reach(length)[0], loop, inputs, t)[2]
            return np.where(others, 1.0 - np.abs(momenta) / self._most, 1.0)

        def room(length: float) -> float:
            return float(rooms(length).min())

        if room(h) >= -OVER:
            return None
        found = _crossing(room, h) if room(0.0) > 0.0 else 0.0
        self._passed = self._passed | (others & (rooms(found) <= TOGETHER))
        return found


def _crossing(room: Callable[[float], float], h: float) -> float:
    """Where a function that is positive at zero and negative at h changes its sign: halving, to rounding."""
    low, high = 0.0, h
    while low < 0.5 * (low + high) < high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(middle) > 0.0 else (low, middle)
    return low


def _look(
    system: System, plants: Plants, loop: SystemState, inputs: Inputs, t: Scalar
) -> tuple[Plants, Vector, Vector, Vector]:
    """Plants with their log, which wheels are full, what all have and what they may have."""
    asked = asked_torques(system, loop, inputs, tick_of(system, loop))(plants, t)
    momenta, full = wheel_momenta(system, plants), held_full(system, plants, asked)
    return logged_wheels(system, plants, momenta, full, t), full, momenta, most_momenta(system, momenta)
