"""Commands for cells under test."""

import numpy as np

from freefloat.hil.cell.rotations import quaternion_of
from freefloat.hil.facility import ArmCommand, MotionCommand
from freefloat.spatial import Pose

HOLD = np.array([0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])  # [rad], the arm as it starts in the paper's case


def command(X_FM, twist=None, arm=None):
    twist = np.zeros(6) if twist is None else np.asarray(twist, dtype=float)
    return MotionCommand(np.asarray(X_FM.p, dtype=float), quaternion_of(np.asarray(X_FM.R)), twist, arm)


def arm_command(torque=None):
    return ArmCommand(HOLD, np.zeros(7), np.zeros(7) if torque is None else torque)


def moved(X_FM, shift):
    return Pose(np.asarray(X_FM.p) + np.asarray(shift, dtype=float), np.asarray(X_FM.R))
