"""Two industrial robots from public dimensions.

KR120 (six axes, 120 kg, 2.5 m): lengths, joint ranges and rates as in the public ROS-Industrial description of the
KUKA KR 120 R2500 pro. SIA10D (seven axes, 10 kg): likewise of the Yaskawa Motoman SIA10D. Manufacturers publish neither
link masses nor rotor inertias nor accelerations: the total mass is that of the data sheets (1049 kg, 60 kg); its
distribution, the rotors and the time to full speed are assumed here.
"""

from __future__ import annotations

import numpy as np

from freefloat.hil.cell.robot_arm import RobotArm, RobotJoint
from freefloat.spatial.poses import Pose

# offset [m], axis, range [deg], rate [deg/s]; link: mass [kg], end [m], radius [m]; rotor [kg m2]
_KR120 = (
    RobotJoint("a1", (0.0, 0.0, 0.675), (0, 0, -1), (-185, 185), 156, 250, (0.35, 0.0, 0.0), 0.22, 150),
    RobotJoint("a2", (0.35, 0.0, 0.0), (0, 1, 0), (-155, 35), 156, 200, (1.15, 0.0, 0.0), 0.14, 150),
    RobotJoint("a3", (1.15, 0.0, 0.0), (0, 1, 0), (-130, 154), 156, 190, (0.6, 0.0, -0.041), 0.14, 100),
    RobotJoint("a4", (1.0, 0.0, -0.041), (-1, 0, 0), (-350, 350), 330, 60, (-0.3, 0.0, 0.0), 0.10, 15),
    RobotJoint("a5", (0.0, 0.0, 0.0), (0, 1, 0), (-130, 130), 330, 35, (0.08, 0.0, 0.0), 0.09, 15),
    RobotJoint("a6", (0.0, 0.0, 0.0), (-1, 0, 0), (-350, 350), 615, 14, (0.16, 0.0, 0.0), 0.055, 8),
)
_SIA10D = (
    RobotJoint("s", (0.0, 0.0, 0.36), (0, 0, 1), (-180, 180), 170, 12, (0.0, 0.0, 0.05), 0.075, 5),
    RobotJoint("l", (0.0, 0.0, 0.0), (0, 1, 0), (-110, 110), 170, 10, (0.0, 0.0, 0.27), 0.07, 5),
    RobotJoint("e", (0.0, 0.0, 0.36), (0, 0, 1), (-170, 170), 170, 8, (0.0, 0.0, 0.05), 0.065, 3),
    RobotJoint("u", (0.0, 0.0, 0.0), (0, -1, 0), (-135, 135), 170, 7, (0.0, 0.0, 0.27), 0.06, 3),
    RobotJoint("r", (0.0, 0.0, 0.36), (0, 0, -1), (-180, 180), 200, 5, (0.0, 0.0, 0.04), 0.055, 1),
    RobotJoint("b", (0.0, 0.0, 0.0), (0, -1, 0), (-110, 110), 200, 4, (0.0, 0.0, 0.07), 0.05, 1),
    RobotJoint("t", (0.0, 0.0, 0.155), (0, 0, -1), (-180, 180), 400, 2, (0.0, 0.0, -0.02), 0.04, 0.5),
)


def kr120() -> RobotArm:
    """A six-axis robot of the class of a KUKA KR 120 R2500 pro."""
    outwards = Pose.from_rpy_deg((0.0, 90.0, 0.0), (0.215, 0.0, 0.0))
    return RobotArm(
        model="KR120-class",
        joints=_KR120,
        flange=Pose(outwards.position, np.asarray(outwards.rotation)),
        foot_height=0.6,  # [m]
        foot_radius=0.3,  # [m]
        foot_mass=300.0,  # [kg]
        time_to_full_speed=0.25,  # [s], assumed
        home_deg=(0.0, -70.0, 110.0, 0.0, -40.0, 0.0),
    )


def sia10d() -> RobotArm:
    """A seven-axis robot of the class of a Yaskawa Motoman SIA10D."""
    return RobotArm(
        model="SIA10D-class",
        joints=_SIA10D,
        flange=Pose(),
        foot_height=0.3,  # [m]
        foot_radius=0.11,  # [m]
        foot_mass=12.0,  # [kg]
        time_to_full_speed=0.2,  # [s], assumed
        home_deg=(0.0, -10.0, 0.0, -85.0, 0.0, 75.0, 0.0),
    )
