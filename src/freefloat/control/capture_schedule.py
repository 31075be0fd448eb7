"""When a capture does what: synchronise, approach, grasp, rigidise, done."""

from __future__ import annotations

from itertools import pairwise

import jax.numpy as jnp

from freefloat.control.profiles import Quintic
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Scalar, is_traced
from freefloat.values.checks import require_all, require_bounds

SYNCHRONISE, APPROACH, GRASP, RIGIDISE, DONE = range(5)
CAPTURE_PHASES = ("synchronise", "approach", "grasp", "rigidise", "done")
_BEGINNINGS = ("approach", "grasp", "rigidise", "done")  # fields with the times at which phases begin
TICK = 1e-9  # [s]: a time that is reached but for rounding


@record
class CaptureSchedule:
    """Times from the start of the run [s], as the paper of the OOS-Sim facility prints them until the grasp."""

    approach: Numeric | float = 9.1  # the tool sets out
    grasp: Numeric | float = 32.6  # it is there, and the gripper closes
    rigidise: Numeric | float = 33.0  # the gripper has closed
    done: Numeric | float = 43.0  # nothing moves any more
    exchange: Numeric | float = 2.0  # in which the joints' own springs take over from the tool's, from the grasp on
    handover: Numeric | float = 5.0  # in which the arm takes over from the thrusters what turns both, while rigidising

    def __post_init__(self) -> None:
        require_all(
            lambda: require_bounds(self, dict.fromkeys(_BEGINNINGS, "s"), least=0.0),
            lambda: require_bounds(self, {"exchange": "s", "handover": "s"}, above=0.0),
            self._require_order,
        )

    def _require_order(self) -> None:
        times = [getattr(self, name) for name in _BEGINNINGS]
        if not is_traced(*times) and not all(a < b for a, b in pairwise(times)):
            given = ", ".join(f"{name} {time:g} s" for name, time in zip(_BEGINNINGS, times, strict=True))
            raise ModelError(
                f"CaptureSchedule: each phase must begin after the one before, got {given}. Give growing times."
            )

    def phase(self, t: Scalar) -> Numeric:
        """Number of the phase at a time (int32)."""
        begun = [t >= time - TICK for time in (self.approach, self.grasp, self.rigidise, self.done)]
        return sum((jnp.asarray(one).astype(jnp.int32) for one in begun), jnp.zeros((), jnp.int32))

    def travel(self, length: Numeric | float, t: Scalar) -> Scalar:
        """Way of the tool towards what it reaches for [m], a quintic from the approach to the grasp."""
        return Quintic(length, self.grasp - self.approach).distance(t - self.approach)

    def speed(self, length: Numeric | float, t: Scalar) -> Scalar:
        """Its rate [m/s]."""
        return Quintic(length, self.grasp - self.approach).rate(t - self.approach)

    def exchanged(self, t: Scalar) -> Scalar:
        """Share of the joints' own springs, 0 until the grasp and 1 after the exchange, smooth in between."""
        return Quintic(1.0, self.exchange).distance(t - self.grasp)

    def handed_over(self, t: Scalar) -> Scalar:
        """Share of the co-rotation that the arm makes: 0 until it is rigidised, 1 after the handover."""
        return Quintic(1.0, self.handover).distance(t - self.rigidise)
