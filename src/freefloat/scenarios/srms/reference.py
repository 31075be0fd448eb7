"""Our reference numbers for the payload impacts, with one bending mode for each boom, in the plane, on a free base.

They are not the paper's, which prints neither parameters nor numbers in its figures: two prototypes, written
independently of this package and of each other, agree on them.
"""

from __future__ import annotations

from dataclasses import dataclass

Three = tuple[float, float, float]


@dataclass(frozen=True)
class ImpactReference:
    """Reference of the instantaneous effect of a grasp; impulse on the arm, moment about the contact point."""

    impulse: Three  # x, y [N s], about z [N m s]
    energy: float  # change [J]
    joint_rates: Three  # after [rad/s]
    tip_rates: tuple[float, float]  # of both booms, after [m/s]
    payload: Three  # velocity of its centre and spin, after [m/s], [rad/s]


@dataclass(frozen=True)
class MotionReference:
    """Reference of the motion in the ten seconds after a grasp."""

    angles_deg: dict[float, Three]  # change of the joint angles, by time since the impact [s]
    tips_mm: tuple[float, float]  # largest deflection of both booms
    tip_digit: float  # accuracy to which they are printed and sampled [mm]
    yaw_deg: float | None = None  # of the base after 10 s


IMPACTS = {
    ("srms-tangential", "soft"): ImpactReference(
        impulse=(-3.55751591, 7.48406831, -11.61350424),
        energy=-0.3053875040,
        joint_rates=(-0.01199805, -0.03846203, -0.0792056),
        tip_rates=(0.14571136, 0.25476685),
        payload=(0.00035575, -0.00074841, -0.04854036),
    ),
    ("srms-tangential", "hard"): ImpactReference(
        impulse=(-11.88825938, 13.61361674, -19.89560362),
        energy=-1.0242532047,
        joint_rates=(-0.02992622, -0.05828593, -0.07887961),
        tip_rates=(0.30822402, 0.28158659),
        payload=(-0.03740178, 0.03853257, -0.04565803),
    ),
    ("srms-normal", "hard"): ImpactReference(
        impulse=(-27.07782864, 5.13014747, -10.15627207),
        energy=-2.0308371479,
        joint_rates=(-0.03214126, -0.03694853, 0.03640854),
        tip_rates=(0.41445869, -0.27554953),
        payload=(-0.24729222, -0.00051301, 0.00305728),
    ),
}

MOTIONS = {
    ("srms-tangential", "soft"): MotionReference(
        {
            1.0: (0.583117, 0.393266, -3.732057),
            5.0: (2.171192, 3.040144, -19.013584),
            10.0: (2.312316, 8.514438, -38.59865),
        },
        (1.0809, 1.8056),
        2e-4,
        -4.1342e-4,
    ),
    ("srms-tangential", "soft-matched"): MotionReference(
        {10.0: (2.164240, 9.794106, -42.364754)}, (0.00286, 0.00152), 0.5e-5
    ),
    ("srms-tangential", "hard"): MotionReference(
        {
            1.0: (1.017413, 0.025997, -3.610698),
            5.0: (4.372070, 1.222772, -18.465824),
            10.0: (6.792005, 4.854325, -37.588322),
        },
        (2.1405, 1.9867),
        2e-4,
        -7.5109e-4,
    ),
    ("srms-normal", "soft"): MotionReference({10.0: (7.688189, -11.271104, 3.547640)}, (0.00011, 0.00048), 0.5e-5),
    ("srms-normal", "hard"): MotionReference(
        {
            1.0: (1.879011, -2.891328, 1.232828),
            5.0: (9.231416, -13.904096, 5.545537),
            10.0: (18.486042, -26.539218, 9.688213),
        },
        (2.6921, 2.4054),
        2e-4,
        8.9215e-4,
    ),
}

# Joints braked: largest tip deflection of both booms in 30 s of linear vibration [mm].
BRAKED_TIPS_MM = {"srms-normal": (52.2, 77.6), "srms-tangential": (18.1, 25.9)}
BRAKED_ENERGY = {"srms-normal": -3.442780}  # change at the grasp [J]
