"""The workspace of a cell's robot that carries the servicer's base while the client's robot stands still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.hil.cell.inverse_kinematics import InverseKinematics, JointAnswer
from freefloat.hil.cell.robot_arm import RobotArm
from freefloat.planning.charts import RobotChart
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError

if TYPE_CHECKING:
    from freefloat.hil.cell import VirtualCell


@dataclass(frozen=True)
class CellRoom:
    """A robot, its place, and the place of the base that it carries; poses on the floor F."""

    arm: RobotArm
    X_FR: Pose  # its foot
    X_PM: Pose  # the base in the flange's frame
    X_FZ: Pose  # where the client's frame stands

    @staticmethod
    def of(cell: VirtualCell, placement: Pose, *, robot: str = "servicer", client: str = "client") -> CellRoom:
        """Workspace of a virtual cell's robot; raises an error if the client's own robot cannot reach the placement."""
        stations = {station.name: station for station in cell.stations}
        for name in (robot, client):
            if name not in stations:
                raise ModelError(f"The cell '{cell.name}' has no robot '{name}'. Robots: {', '.join(stations)}.")
        still, mine = stations[client], stations[robot]
        _, X_RP = _flange(still.X_FR, still.mockup.X_PM, placement)
        InverseKinematics(still.arm, still.posture).find(X_RP, client)
        return CellRoom(mine.arm, mine.X_FR, mine.mockup.X_PM, placement)

    @property
    def chart(self) -> RobotChart:
        """Chart of the poses of the base by the joints of the robot."""
        joints = self.arm.joints
        return RobotChart(
            offsets=np.array([joint.offset for joint in joints]),
            axes=np.array([joint.axis for joint in joints], dtype=float),
            X_TR=_numpy_pose(self.X_FZ.inverse() @ self.X_FR),
            X_LB=_numpy_pose(self.arm.flange @ self.X_PM),
            names=tuple(joint.name for joint in joints),
        )

    def joints(self, X_TB: Pose, near: np.ndarray | None = None) -> np.ndarray:
        """Joint angles [rad] for a pose of the base in the client's frame, near the angles `near` if given."""
        return InverseKinematics(self.arm, near).find(self._flange(X_TB), "servicer")

    def rates(self, q: np.ndarray, X_TB: Pose, V_TB: np.ndarray) -> np.ndarray:
        """Joint rates [rad/s] for a twist of the base, in base axes."""
        return np.linalg.lstsq(self.arm.forward(q)[1], self._flange_twist(X_TB, V_TB), rcond=None)[0]

    def follow_motion(
        self, poses: list[Pose], twists: np.ndarray, step: float
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Joint angles and rates along a motion, largest distance not reached and smallest singular value [m]."""
        kinematics = InverseKinematics(self.arm)
        q = kinematics.find(self._flange(poses[0]), "servicer")
        kinematics.posture = q
        now = JointAnswer(q, self.rates(q, poses[0], twists[0]), 0.0, kinematics.singular_value(q), 0.0)
        answers = [now]
        for X, V in zip(poses[1:], twists[1:], strict=True):
            R_PM = np.asarray(self.X_PM.R)
            omega = R_PM @ V[3:]
            velocity = R_PM @ V[:3] - np.cross(omega, np.asarray(self.X_PM.p))
            now = kinematics.follow_pose(self._flange(X), np.concatenate([velocity, omega]), now, step)
            answers.append(now)
        missing = max(answer.missing for answer in answers)
        weakest = min(answer.manipulability for answer in answers)
        return np.stack([a.q for a in answers]), np.stack([a.rate for a in answers]), missing, weakest

    def _flange(self, X_TB: Pose) -> np.ndarray:
        return _flange(self.X_FR, self.X_PM, self.X_FZ @ X_TB)[1]

    def _flange_twist(self, X_TB: Pose, V_TB: np.ndarray) -> np.ndarray:
        """Twist of the flange, in the axes of the robot's foot."""
        R_RB = np.asarray(self.X_FR.R).T @ np.asarray(self.X_FZ.R) @ np.asarray(X_TB.R)
        p_BP = np.asarray(self.X_PM.inverse().p)
        return np.concatenate([R_RB @ (V_TB[:3] + np.cross(V_TB[3:], p_BP)), R_RB @ V_TB[3:]])


def _flange(X_FR: Pose, X_PM: Pose, X_FM: Pose) -> tuple[Pose, np.ndarray]:
    X = X_FR.inverse() @ X_FM @ X_PM.inverse()
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = X.R, X.p
    return X, matrix


def _numpy_pose(X: Pose) -> Pose:
    return Pose(np.asarray(X.p), np.asarray(X.R))
