"""Joint angles of a robot for a pose of its flange: followed from cycle to cycle, or searched without a start.

Following is Newton's method from the present angles, so that the posture never jumps; near singularities the step is
damped (Nakamura and Hanafusa, 1986), and the remaining distance is reported. A seventh joint is used to stay near a
posture.
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
_ITERATIONS = 5  # of `follow`; the error squares with each
_SMALL_STEP = 1e-5  # [rad]; the error after such a step is its square
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
    """Joint angles and rates of one cycle, and how well they meet the wanted pose."""

    q: np.ndarray  # [rad]
    rate: np.ndarray  # [rad/s]
    missing: float  # distance left to the wanted pose [m], angles counted with `LENGTH`
    manipulability: float  # smallest singular value of the Jacobian [m], angles counted with `LENGTH`
    demand: float  # share of the rate limits that the step needs; beyond 1 it was shortened


class InverseKinematics:
    """Inverse kinematics of one robot; poses of the flange P in the frame R of the robot's base."""

    def __init__(self, arm: RobotArm, posture: np.ndarray | None = None) -> None:
        self.arm = arm
        self.posture = np.array(arm.home if posture is None else posture, dtype=float)

    def follow_pose(self, X_RP: np.ndarray, twist: np.ndarray, now: JointAnswer, cycle: float) -> JointAnswer:
        """Joint angles and rates one cycle later, for a pose (4x4) and a twist in P axes [m/s, rad/s] of the flange."""
        q = now.q + cycle * now.rate
        size, factors, left = np.inf, _NO_FACTORS, _ITERATIONS
        while size >= _SMALL_STEP and left:
            error, J = self._error(X_RP, q)
            factors = np.linalg.svd(J, full_matrices=False)
            step = _damped_step(*factors, error)
            q, size, left = q + step, float(np.abs(step).max()), left - 1
        demand = float(np.max(np.abs(q - now.q) / (self.arm.rate_limit * cycle)))
        missing, weakest = size**2 * self.arm.reach, float(factors[1][-1])
        if demand > 1.0 or size >= _SMALL_STEP or weakest < NEAR_SINGULAR:
            q = now.q + (q - now.q) / max(demand, 1.0)
            missing = float(np.linalg.norm(self._error(X_RP, q)[0]))
        return JointAnswer(q, self._rates(X_RP, twist, q, factors), missing, weakest, demand)

    def find(self, X_RP: np.ndarray, who: str) -> np.ndarray:
        """Joint angles for a pose without a start: best of several branches; a pose out of reach raises an error."""
        solutions: list[np.ndarray] = []
        nearest = np.inf
        for start in self._starts(X_RP):
            q, missing = self._search(X_RP, start)
            nearest = min(nearest, missing)
            solutions += [q] if missing < 1e-9 else []
            if len(solutions) == _BRANCHES:
                break
        if not solutions:
            raise ModelError(
                f"The first pose of '{who}' is out of reach of its {self.arm.model} robot: the nearest posture misses "
                f"it by {1e3 * nearest:.0f} mm (a radian counted as {LENGTH:g} m). Place the robot, or what it "
                "carries, elsewhere."
            )
        return min(solutions, key=self._awkwardness)

    def joint_room(self, q: np.ndarray) -> float:
        """Smallest distance of a joint to its limits, as a share of half its range."""
        arm = self.arm
        return float(np.min(np.minimum(q - arm.lower, arm.upper - q) / (0.5 * (arm.upper - arm.lower))))

    def singular_value(self, q: np.ndarray) -> float:
        """Smallest singular value of the Jacobian [m], angles counted with `LENGTH`."""
        return float(np.linalg.svd(_SCALE[:, None] * self.arm.forward(q)[1], compute_uv=False)[-1])

    def _awkwardness(self, q: np.ndarray) -> float:
        """Distance from the posture as a share of the ranges; 1 more near a singularity or near a limit."""
        away = float(np.max(np.abs(q - self.posture) / (self.arm.upper - self.arm.lower)))
        cramped = self.joint_room(q) < 0.1 or self.singular_value(q) < 3.0 * NEAR_SINGULAR
        return away + (1.0 if cramped else 0.0)

    def _error(self, X_RP: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Error to a pose, and the Jacobian; angles counted as lengths."""
        X, J = self.arm.forward(q)
        error = np.empty(6)
        error[:3] = X_RP[:3, 3] - X[:3, 3]
        error[3:] = LENGTH * rotation_log(X_RP[:3, :3] @ X[:3, :3].T)
        return error, _SCALE[:, None] * J

    def _rates(self, X_RP: np.ndarray, twist: np.ndarray, q: np.ndarray, factors: Factors) -> np.ndarray:
        """Joint rates for a twist; the motion that leaves the flange at rest leads back to the posture."""
        R = X_RP[:3, :3]
        rates = _damped_step(*factors, np.concatenate([R @ linear(twist), LENGTH * (R @ angular(twist))]))
        if self.arm.count > 6:
            idle, Vt = _POSTURE_RATE * (self.posture - q), factors[2]
            rates = rates + idle - Vt.T @ (Vt @ idle)
        return rates

    def _starts(self, X_RP: np.ndarray) -> list[np.ndarray]:
        """Start postures of the search: the preferred one, many between the limits, half of them facing the pose."""
        arm = self.arm
        mixed = np.random.Generator(np.random.Philox(7)).uniform(0.02, 0.98, (_STARTS, arm.count))
        spread = arm.lower + mixed * (arm.upper - arm.lower)
        spread[::2, 0] = np.arctan2(X_RP[1, 3], X_RP[0, 3]) * np.sign(arm.joints[0].axis[2])
        return [self.posture, arm.home, *spread]

    def _search(self, X_RP: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, float]:
        """Angles nearest to a pose by Levenberg and Marquardt within the joint limits, and the remaining error [m]."""
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


def _damped_step(U: np.ndarray, s: np.ndarray, Vt: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Least-squares step; nearly singular directions are damped, the others are met exactly."""
    weakness = np.maximum(0.0, 1.0 - (s / NEAR_SINGULAR) ** 2)
    return Vt.T @ (s / (s**2 + weakness * NEAR_SINGULAR**2) * (U.T @ error))
