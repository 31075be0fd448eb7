"""Poses from `<origin xyz rpy>` of a URDF."""

import numpy as np

from freefloat.readers.elements import XmlPart
from freefloat.spatial import Pose
from freefloat.spatial.rotations import from_roll_pitch_yaw


def origin_of(part: XmlPart) -> Pose:
    """Pose from `<origin xyz rpy>`; the identity if it is missing."""
    origin = part.child("origin")
    if origin is None:
        return Pose()
    position = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    rpy = origin.numbers("rpy", 3, (0.0, 0.0, 0.0))
    if np.any(np.isnan([position, rpy])):
        return Pose()  # a stand-in: the fault is noted
    if not np.any(rpy):
        return Pose(position=position)
    warn_of_rounded_angles(origin, "<origin rpy>", rpy)
    return Pose(position=position, rotation=np.asarray(from_roll_pitch_yaw(rpy)))


def warn_of_rounded_angles(part: XmlPart, where: str, rpy: np.ndarray) -> None:
    """Warn of right angles that were written with few digits."""
    turns = np.round(rpy / (np.pi / 2.0)) * (np.pi / 2.0)
    for angle, exact in zip(rpy.tolist(), turns.tolist(), strict=True):
        if exact and 1e-12 < abs(angle - exact) < 1e-3:
            part.findings.warn(
                part.name,
                f"{where}: {angle!r} is {abs(angle - exact):.2g} rad away from {exact!r}. "
                "Write all digits if a right angle is meant.",
                minor=True,
            )
