"""Sensor wrenches of a gripper in an ideal cell: a hold between the frames that two robots carry."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from freefloat.hil.cell.gripper import Gripper, HeldFrame, Hold
from freefloat.hil.cell.rotations import cross, matrix_of
from freefloat.hil.facility import RobotReading
from freefloat.spatial.poses import Pose
from freefloat.spatial.sixvectors import angular, linear


class IdealHold:
    """Sensor wrenches of an `IdealCell` in which robot `holder` holds what `held` carries, while its `holds` is true.

    X_MH is the hand in the holder's carried frame M, X_ME the grasp point in that of the other. Sensors are at M.
    """

    def __init__(self, gripper: Gripper, holder: str, X_MH: Pose, held: str, X_ME: Pose) -> None:
        self._gripper, self._holder, self._held = gripper, holder, held
        self._frames = {holder: X_MH, held: X_ME}
        self._hold: Hold | None = None

    def __call__(self, time: float, readings: Mapping[str, RobotReading]) -> dict[str, np.ndarray]:
        """Wrenches of both sensors, at M in M axes; empty while nothing is held."""
        hand, ring = (self._frame(name, readings[name]) for name in (self._holder, self._held))
        if not readings[self._holder].holds:
            self._hold = None
            return {}
        if self._hold is None:
            self._hold = Hold(self._gripper, hand, ring)
        wrench = self._hold.wrench(hand, ring)
        return {
            name: _wrench_at_frame(sign * wrench, hand.p, readings[name])
            for name, sign in ((self._holder, 1), (self._held, -1))
        }

    def _frame(self, name: str, reading: RobotReading) -> HeldFrame:
        R, X, V = matrix_of(reading.quaternion), self._frames[name], reading.twist
        carried = HeldFrame(reading.position, R, R @ np.asarray(linear(V)), R @ np.asarray(angular(V)))
        return carried.at(np.asarray(X.p), np.asarray(X.R))


def _wrench_at_frame(wrench: np.ndarray, at: np.ndarray, read: RobotReading) -> np.ndarray:
    """A wrench at a point of the floor, both in floor axes, transformed to the carried frame in its axes."""
    R, force, torque = matrix_of(read.quaternion), np.asarray(linear(wrench)), np.asarray(angular(wrench))
    return np.concatenate([R.T @ force, R.T @ (torque + cross(at - read.position, force))])
