"""Limits that a robot controller enforces: joints within their limits; and how a robot brakes at a violation."""

from __future__ import annotations

import numpy as np

from freefloat.hil.cell.inverse_kinematics import NEAR_SINGULAR, JointAnswer
from freefloat.hil.cell.robot_arm import RobotArm
from freefloat.hil.cell.servo import References

_CALMING = 0.1  # [s] for the inner loop to settle after the end of a ramp


def broken_limit(arm: RobotArm, who: str, answer: JointAnswer, references: References, left_behind: float) -> str:
    """Text of the limit that the motion of a cycle would break; empty if none."""
    q, rates, accelerations = references
    excess = (
        (np.maximum(arm.lower - q, q - arm.upper), "position", q, "deg"),
        (np.abs(rates) - arm.rate_limit, "rate", rates, "deg/s"),
        (np.abs(accelerations) - arm.acceleration_limit, "acceleration", accelerations, "deg/s2"),
    )
    for beyond, what, values, unit in excess:
        if beyond.max() > 0.0:
            row, joint = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
            value = np.rad2deg(values[row, joint])
            return f"{who}: joint {arm.joints[joint].name} beyond its {what} limit ({value:.1f} {unit}){_why(answer)}"
    if answer.demand > 1.0:
        return f"{who}: the commanded pose needs {answer.demand:.1f} times the joints' rate limits{_why(answer)}"
    if answer.missing > left_behind:
        return f"{who}: the joints stay {1e3 * answer.missing:.0f} mm behind the commanded pose{_why(answer)}"
    return ""


def _why(answer: JointAnswer) -> str:
    if answer.manipulability >= NEAR_SINGULAR:
        return ""
    return f", near a singular posture (smallest singular value {1e3 * answer.manipulability:.1f} mm)"


class Braking:
    """Brakes all joints of a robot to rest at the same time; the slowest joint uses its full acceleration."""

    def __init__(self, arm: RobotArm, q: np.ndarray, rate: np.ndarray) -> None:
        self.q, self.rate = q, rate
        self.duration = float(np.max(np.abs(rate) / arm.acceleration_limit))
        self._time = 0.0

    def references(self, cycle: float, substeps: int) -> References:
        """Joint references of the next cycle of braking."""
        t = np.minimum(self._time + cycle * np.arange(substeps + 1) / substeps, self.duration)[:, None]
        self._time += cycle
        if self.duration == 0.0:
            return np.tile(self.q, (substeps + 1, 1)), np.zeros_like(t * self.q), np.zeros_like(t * self.q)
        left = 1.0 - t / self.duration
        q = self.q + self.rate * (t - 0.5 * t**2 / self.duration)
        return q, self.rate * left, np.where(left > 0.0, -self.rate / self.duration, 0.0)

    @property
    def at_rest(self) -> bool:
        """Whether the robot is at rest, its inner loop included."""
        return self._time >= self.duration + _CALMING
