"""Joint angles of a robot for a pose of its flange: followed from cycle to cycle, or found from nothing.

Following is Newton's method from the present angles, so that the posture never jumps; near singularities the step is
damped (Nakamura and Hanafusa, 1986) and what cannot be followed is left behind and told. A seventh joint is used to
stay near a posture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.hil.cell.robot_arm import RobotArm
from freefloat.hil.cell.rotations import rotation_log
from freefloat.spatial.sixvectors import angular, linear
from freefloat.values.errors import ModelError

LENGTH = 0.5  # [m]: a radian counts as half a metre in errors and singular values
NEAR_SINGULAR = 0.02  # smallest singular value [m] below which steps are damped
_ITERATIONS = 5  # of following; the error squares with each
_SMALL_STEP = 1e-5  # [rad]; a step that small leaves its square
_SEARCH_ITERATIONS = 120
_STARTS = 60
_BRANCHES = 6  # solutions among which the best is chosen
_SEARCH_STEP = 0.3  # largest joint step of the search [rad]
_POSTURE_RATE = 0.5  # [1/s] at which the seventh joint returns to its posture
Factors = tuple[np.ndarray, np.ndarray, np.ndarray]  # singular value decomposition of the Jacobian
_NO_FACTORS: Factors = (np.zeros((6, 6)), np.zeros(6), np.zeros((6, 6)))
_SCALE = np.array([1.0, 1.0, 1.0, LENGTH, LENGTH, LENGTH])


@dataclass(frozen=True)
class JointAnswer:
    """Angles for one cycle."""

    q: np.ndarray  # [rad]
    rate: np.ndarray  # [rad/s]
    missing: float  # distance left to the wanted pose [m], angles counted with `LENGTH`
    manipulability: float  # smallest singular value of the Jacobian [m], angles counted with `LENGTH`
    demand: float  # share of the rate limits that the way asks for; beyond 1 the step was shortened


class InverseKinematics:
    """Of one robot; poses and twists of the flange P in the frame R of the robot's base."""

    def __init__(self, arm: RobotArm, posture: np.ndarray | None = None) -> None:
        self.arm = arm
        self.posture = np.array(arm.home if posture is None else posture, dtype=float)

    def follow(self, X_RP: np.ndarray, twist: np.ndarray, now: JointAnswer, cycle: float) -> JointAnswer:
        """Angles and rates one cycle on for a pose (4x4) and a twist of the flange, in P axes [m/s, rad/s]."""
        q = now.q + cycle * now.rate
        size, factors, left = np.inf, _NO_FACTORS, _ITERATIONS
        while size >= _SMALL_STEP and left:
            error, J = self._error(X_RP, q)
            factors = np.linalg.svd(J, full_matrices=False)
            step = _damped(*factors, error)
            q, size, left = q + step, float(np.abs(step).max()), left - 1
        demand = float(np.max(np.abs(q - now.q) / (self.arm.rate_limit * cycle)))
        missing, weakest = size**2 * self.arm.reach, float(factors[1][-1])
        if demand > 1.0 or size >= _SMALL_STEP or weakest < NEAR_SINGULAR:
            q = now.q + (q - now.q) / max(demand, 1.0)
            missing = float(np.linalg.norm(self._error(X_RP, q)[0]))
        return JointAnswer(q, self._rates(X_RP, twist, q, factors), missing, weakest, demand)

    def find(self, X_RP: np.ndarray, who: str) -> np.ndarray:
        """Angles for a pose from nothing, of the least awkward branch; refused by name if out of reach."""
        found: list[np.ndarray] = []
        nearest = np.inf
        for start in self._starts(X_RP):
            q, missing = self._search(X_RP, start)
            nearest = min(nearest, missing)
            found += [q] if missing < 1e-9 else []
            if len(found) == _BRANCHES:
                break
        if not found:
            raise ModelError(
                f"The first pose of '{who}' is out of reach of its {self.arm.model} robot: the nearest posture misses "
                f"it by {1e3 * nearest:.0f} mm (a radian counted as {LENGTH:g} m). Place the robot, or what it "
                "carries, elsewhere."
            )
        return min(found, key=self._awkwardness)

    def room(self, q: np.ndarray) -> float:
        """Smallest distance of a joint to its limits, as a share of half its range."""
        arm = self.arm
        return float(np.min(np.minimum(q - arm.lower, arm.upper - q) / (0.5 * (arm.upper - arm.lower))))

    def singular_value(self, q: np.ndarray) -> float:
        """Smallest singular value of the Jacobian [m], angles counted with `LENGTH`."""
        return float(np.linalg.svd(_SCALE[:, None] * self.arm.forward(q)[1], compute_uv=False)[-1])

    def _awkwardness(self, q: np.ndarray) -> float:
        """How far from the posture, as a share of the ranges; nearly singular or near a limit counts as far."""
        away = float(np.max(np.abs(q - self.posture) / (self.arm.upper - self.arm.lower)))
        cramped = self.room(q) < 0.1 or self.singular_value(q) < 3.0 * NEAR_SINGULAR
        return away + (1.0 if cramped else 0.0)

    def _error(self, X_RP: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is left to a pose, and the Jacobian; angles counted as lengths."""
        X, J = self.arm.forward(q)
        error = np.empty(6)
        error[:3] = X_RP[:3, 3] - X[:3, 3]
        error[3:] = LENGTH * rotation_log(X_RP[:3, :3] @ X[:3, :3].T)
        return error, _SCALE[:, None] * J

    def _rates(self, X_RP: np.ndarray, twist: np.ndarray, q: np.ndarray, factors: Factors) -> np.ndarray:
        """Joint rates for a twist; what does not move the flange leads back to the posture."""
        R = X_RP[:3, :3]
        rates = _damped(*factors, np.concatenate([R @ linear(twist), LENGTH * (R @ angular(twist))]))
        if self.arm.count > 6:
            idle, Vt = _POSTURE_RATE * (self.posture - q), factors[2]
            rates = rates + idle - Vt.T @ (Vt @ idle)
        return rates

    def _starts(self, X_RP: np.ndarray) -> list[np.ndarray]:
        """Postures to search from: its own, and many between the limits, half of them turned towards the pose."""
        arm = self.arm
        mixed = np.random.Generator(np.random.Philox(7)).uniform(0.02, 0.98, (_STARTS, arm.count))
        spread = arm.lower + mixed * (arm.upper - arm.lower)
        spread[::2, 0] = np.arctan2(X_RP[1, 3], X_RP[0, 3]) * np.sign(arm.joints[0].axis[2])
        return [self.posture, arm.home, *spread]

    def _search(self, X_RP: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, float]:
        """Levenberg and Marquardt within the joint limits."""
        q, damping = np.array(start), 1e-2
        error, J = self._error(X_RP, q)
        for _ in range(_SEARCH_ITERATIONS):
            if np.linalg.norm(error) < 1e-12 or damping > 1e4:
                break
            step = J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(6), error)
            step *= min(1.0, _SEARCH_STEP / max(float(np.abs(step).max()), 1e-12))
            trial = np.clip(q + step, self.arm.lower, self.arm.upper)
            trial_error, trial_J = self._error(X_RP, trial)
            if np.linalg.norm(trial_error) < np.linalg.norm(error):
                q, error, J, damping = trial, trial_error, trial_J, max(damping / 4.0, 1e-9)
            else:
                damping *= 4.0
        return q, float(np.linalg.norm(error))


def _damped(U: np.ndarray, s: np.ndarray, Vt: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Least-squares step; the directions that are nearly lost are damped, the others met exactly."""
    weakness = np.maximum(0.0, 1.0 - (s / NEAR_SINGULAR) ** 2)
    return Vt.T @ (s / (s**2 + weakness * NEAR_SINGULAR**2) * (U.T @ error))
