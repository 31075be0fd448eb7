"""Wheels that become full between ticks of an adaptive run: attempted steps end at that instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from freefloat.sim.motion.actuation import commanded_torques
from freefloat.sim.motion.full_wheels import OVER, TOGETHER, held_full, logged_wheels, most_momenta, wheel_momenta
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.sim.system.world_state import WorldState
from freefloat.values.arrays import Scalar, Vector

Reach = Callable[[float], tuple[WorldState, Any]]  # plants after an attempt of a length [s], and its error


class WheelWatch:
    """Watches the wheels that can become full in an adaptive run; does nothing if there are none."""

    def __init__(self, system: System, state: SystemState, inputs: Inputs, target: Any) -> None:
        self.full = np.zeros(len(system.wiring.limited_wheels))  # +1, -1 or 0, held over an attempt
        self._most, self._passed = self.full, self.full > 0.0
        if self.full.size:
            self._program = compile_system(
                _wheel_state, system, state.plants, state, inputs, np.zeros(()), target=target
            )

    def begin_segment(self) -> None:
        """Begin a segment, at a tick or where a force jumps: all wheels are watched again."""
        self._passed = np.zeros(self.full.size, bool)

    def hold_full_wheels(self, plants: WorldState, state: SystemState, inputs: Inputs, t: float) -> WorldState:
        """The plants at the beginning of an attempt, with newly full wheels in the log; flags of full wheels stay."""
        if not self.full.size:
            return plants
        plants, full, _, most = self._program(plants, state, inputs, t)
        held = self._passed & (self.full != 0.0)  # one that became full stays so, until it is looked at again
        self.full, self._most = np.where(held, self.full, np.asarray(full)), np.asarray(most)
        return plants

    def first_full(self, reach: Reach, state: SystemState, inputs: Inputs, t: float, h: float) -> float | None:
        """Time after t at which the first wheel becomes full in an attempt over h [s]; None if none does."""
        others = (self.full == 0.0) & ~self._passed
        if not others.any():
            return None

        def rooms(length: float) -> np.ndarray:
            momenta = self._program(reach(length)[0], state, inputs, t)[2]
            return np.where(others, 1.0 - np.abs(momenta) / self._most, 1.0)

        def room(length: float) -> float:
            return float(rooms(length).min())

        if room(h) >= -OVER:
            return None
        found = _crossing(room, h) if room(0.0) > 0.0 else 0.0
        self._passed = self._passed | (others & (rooms(found) <= TOGETHER))
        return found


def _crossing(room: Callable[[float], float], h: float) -> float:
    """Zero of a function that is positive at zero and negative at h, by bisection to rounding."""
    low, high = 0.0, h
    while low < 0.5 * (low + high) < high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(middle) > 0.0 else (low, middle)
    return low


def _wheel_state(
    system: System, plants: WorldState, state: SystemState, inputs: Inputs, t: Scalar
) -> tuple[WorldState, Vector, Vector, Vector]:
    """Plants with their log, flags of full wheels, momenta of limited wheels and their largest momenta [N m s]."""
    asked = commanded_torques(system, state, inputs, tick_of(system, state))(plants, t)
    momenta, full = wheel_momenta(system, plants), held_full(system, plants, asked)
    return logged_wheels(system, plants, momenta, full, t), full, momenta, most_momenta(system, momenta)
