"""A gripper: the distance at which it can close, and the compliance through which it then holds the grasped part.

It holds the pose that hand and ring have when it closes: springs and dampers between the two frames begin at rest.
Stiffness is the same in all directions, and so is that of turning, so that force and torque have a potential and act
on hand and ring with opposite signs at one point: energy and momentum are conserved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.hil.cell.rotations import cross, rotation_log
from freefloat.values.checks import require_array, require_bounds


@dataclass(frozen=True)
class Gripper:
    """Settings of a gripper. The defaults are those of a stiff hand on a light arm, assumed."""

    stiffness: float = 1e4  # [N/m]
    damping: float = 500.0  # [N s/m]
    turn_stiffness: float = 300.0  # [N m/rad]
    turn_damping: float = 15.0  # [N m s/rad]
    envelope: tuple[float, float] = (0.03, 0.2)  # [m], [rad] largest distances of tool and grasp frame for closing

    def __post_init__(self) -> None:
        require_bounds(self, {"stiffness": "N/m", "turn_stiffness": "N m/rad"}, above=0.0)
        require_bounds(self, {"damping": "N s/m", "turn_damping": "N m s/rad"}, least=0.0)
        require_array("Gripper.envelope", self.envelope, "m, rad", (2,), "a distance [m] and an angle [rad]")
        require_bounds(self, {"envelope": "m, rad"}, above=0.0)

    def reaches(self, hand: HeldFrame, ring: HeldFrame) -> bool:
        """Whether the hand is close enough to this ring to close on it."""
        distance, angle = np.linalg.norm(hand.p - ring.p), np.linalg.norm(rotation_log(ring.R.T @ hand.R))
        return bool(distance <= self.envelope[0] and angle <= self.envelope[1])


@dataclass(frozen=True)
class HeldFrame:
    """Pose and twist of a frame on the floor, all in floor axes."""

    p: np.ndarray  # [m]
    R: np.ndarray  # (3, 3)
    velocity: np.ndarray  # of its origin [m/s]
    omega: np.ndarray  # [rad/s]

    def at(self, p_MH: np.ndarray, R_MH: np.ndarray) -> HeldFrame:
        """Pose and twist of a frame H that is fixed to this frame M."""
        arm = self.R @ p_MH
        return HeldFrame(self.p + arm, self.R @ R_MH, self.velocity + cross(self.omega, arm), self.omega)


class Hold:
    """Spring and damper between hand and ring, from the moment at which a gripper has closed."""

    def __init__(self, gripper: Gripper, hand: HeldFrame, ring: HeldFrame) -> None:
        self.gripper = gripper
        self._p, self._R = ring.R.T @ (hand.p - ring.p), ring.R.T @ hand.R

    def wrench(self, hand: HeldFrame, ring: HeldFrame) -> np.ndarray:
        """Wrench on the hand at its origin (6,) [N, N m], floor axes; the ring gets the opposite at the same point."""
        own, rest = self.gripper, ring.at(self._p, self._R)
        turn = hand.R @ rotation_log(rest.R.T @ hand.R)
        drift = hand.velocity - ring.velocity - cross(ring.omega, hand.p - ring.p)
        force = -own.stiffness * (hand.p - rest.p) - own.damping * drift
        torque = -own.turn_stiffness * turn - own.turn_damping * (hand.omega - ring.omega)
        return np.concatenate([force, torque])
