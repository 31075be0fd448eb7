"""An industrial robot as data: joints, limits, links; and its forward kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freefloat.hil.cell.rotations import skew
from freefloat.spatial.poses import Pose

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class RobotJoint:
    """A revolute joint and the link that it moves. At zero all link frames are parallel to the robot's base."""

    name: str
    offset: Triple  # of its frame in that of the joint before [m]
    axis: Triple
    range_deg: tuple[float, float]
    rate_deg_s: float
    link_mass: float  # [kg]
    link_end: Triple  # the link is a round bar from its frame to this point [m]
    link_radius: float  # [m]
    rotor_inertia: float  # [kg m2], of motor and gear about the joint


@dataclass(frozen=True)
class RobotArm:
    """A chain of revolute joints on a foot. Equal for every robot of its kind; a cell places them."""

    model: str
    joints: tuple[RobotJoint, ...]
    flange: Pose  # in the last link's frame; its z axis points outwards
    foot_height: float  # [m]
    foot_radius: float  # [m]
    foot_mass: float  # [kg]
    time_to_full_speed: float  # [s]: acceleration limits are rate limits over this time
    home_deg: tuple[float, ...]

    @property
    def count(self) -> int:
        """Number of joints of the robot."""
        return len(self.joints)

    @cached_property
    def lower(self) -> np.ndarray:
        """Lower joint limits [rad]."""
        return np.deg2rad([joint.range_deg[0] for joint in self.joints])

    @cached_property
    def upper(self) -> np.ndarray:
        """Upper joint limits [rad]."""
        return np.deg2rad([joint.range_deg[1] for joint in self.joints])

    @cached_property
    def rate_limit(self) -> np.ndarray:
        """Rate limits of the joints [rad/s]."""
        return np.deg2rad([joint.rate_deg_s for joint in self.joints])

    @property
    def acceleration_limit(self) -> np.ndarray:
        """Acceleration limits of the joints [rad/s2]."""
        return self.rate_limit / self.time_to_full_speed

    @cached_property
    def home(self) -> np.ndarray:
        """A posture in the middle of the workspace [rad]."""
        return np.deg2rad(self.home_deg)

    @cached_property
    def reach(self) -> float:
        """Longest distance from the first joint to the flange [m]: the chain stretched out."""
        lengths = [np.linalg.norm(joint.offset) for joint in self.joints[1:]]
        return float(sum(lengths) + np.linalg.norm(self.flange.p))

    @cached_property
    def _chain(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Joint axes, their cross product matrices and squares, link frames at zero angles, flange."""
        axes = np.array([joint.axis for joint in self.joints])
        K = np.stack([skew(axis) for axis in axes])
        frames = np.tile(np.eye(4), (self.count, 1, 1))
        frames[:, :3, 3] = [joint.offset for joint in self.joints]
        flange = np.eye(4)
        flange[:3, :3], flange[:3, 3] = self.flange.R, self.flange.p
        return axes, K, K @ K, frames, flange

    def forward(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Flange pose X_RP as a 4x4 matrix, and its Jacobian (6, n) at P: (linear, angular) in robot base axes."""
        axes, K, K2, frames, flange = self._chain
        frames = frames.copy()
        frames[:, :3, :3] += np.sin(q)[:, None, None] * K + (1.0 - np.cos(q))[:, None, None] * K2
        chain = np.empty((self.count + 1, 4, 4))
        chain[0] = frames[0]
        for k in range(1, self.count):
            np.matmul(chain[k - 1], frames[k], out=chain[k])
        np.matmul(chain[self.count - 1], flange, out=chain[self.count])
        rotated = np.matmul(chain[:-1, :3, :3], axes[:, :, None])[:, :, 0]
        arms = chain[-1, :3, 3] - chain[:-1, :3, 3]
        J = np.empty((6, self.count))
        J[0] = rotated[:, 1] * arms[:, 2] - rotated[:, 2] * arms[:, 1]
        J[1] = rotated[:, 2] * arms[:, 0] - rotated[:, 0] * arms[:, 2]
        J[2] = rotated[:, 0] * arms[:, 1] - rotated[:, 1] * arms[:, 0]
        J[3:] = rotated.T
        return chain[-1], J
