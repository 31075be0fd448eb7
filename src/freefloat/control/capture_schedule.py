"""Time schedule of a capture: synchronise, approach, grasp, rigidise, done."""

from __future__ import annotations

from itertools import pairwise

import jax.numpy as jnp

from freefloat.control.profiles import Quintic
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Scalar, is_traced
from freefloat.values.checks import require_all, require_bounds

SYNCHRONISE, APPROACH, GRASP, RIGIDISE, DONE = range(5)
CAPTURE_PHASES = ("synchronise", "approach", "grasp", "rigidise", "done")
_PHASE_STARTS = ("approach", "grasp", "rigidise", "done")  # fields with the times at which phases begin
TICK = 1e-9  # [s]: a time counts as reached within this, because of rounding


@record
class CaptureSchedule:
    """Times from the start of the run [s], as the paper of the OOS-Sim facility prints them until the grasp."""

    approach: Numeric | float = 9.1  # the tool sets out
    grasp: Numeric | float = 32.6  # it is there, and the gripper closes
    rigidise: Numeric | float = 33.0  # the gripper has closed
    done: Numeric | float = 43.0  # nothing moves any more
    exchange: Numeric | float = 2.0  # in which the joints' own springs take over from the tool's, from the grasp on
    handover: Numeric | float = 5.0  # in which the arm takes over the co-rotation from the thrusters, while rigidising

    def __post_init__(self) -> None:
        require_all(
            lambda: require_bounds(self, dict.fromkeys(_PHASE_STARTS, "s"), least=0.0),
            lambda: require_bounds(self, {"exchange": "s", "handover": "s"}, above=0.0),
            self._require_order,
        )

    def _require_order(self) -> None:
        times = [getattr(self, name) for name in _PHASE_STARTS]
        if not is_traced(*times) and not all(a < b for a, b in pairwise(times)):
            given = ", ".join(f"{name} {time:g} s" for name, time in zip(_PHASE_STARTS, times, strict=True))
            raise ModelError(
                f"CaptureSchedule: each phase must begin after the one before, got {given}. Give growing times."
            )

    def phase(self, t: Scalar) -> Numeric:
        """Number of the phase at a time (int32)."""
        begun = [t >= time - TICK for time in (self.approach, self.grasp, self.rigidise, self.done)]
        return sum((jnp.asarray(started).astype(jnp.int32) for started in begun), jnp.zeros((), jnp.int32))

    def travel(self, length: Numeric | float, t: Scalar) -> Scalar:
        """Distance of the tool along its approach [m], a quintic from the approach to the grasp."""
        return Quintic(length, self.grasp - self.approach).distance(t - self.approach)

    def speed(self, length: Numeric | float, t: Scalar) -> Scalar:
        """Speed of the tool along its approach [m/s]."""
        return Quintic(length, self.grasp - self.approach).rate(t - self.approach)

    def joint_spring_share(self, t: Scalar) -> Scalar:
        """Share of the joints' own springs: 0 until the grasp and 1 after the exchange, smooth in between."""
        return Quintic(1.0, self.exchange).distance(t - self.grasp)

    def arm_rotation_share(self, t: Scalar) -> Scalar:
        """Share of the co-rotation that the arm makes: 0 until the grasp is rigidised, 1 after the handover."""
        return Quintic(1.0, self.handover).distance(t - self.rigidise)
