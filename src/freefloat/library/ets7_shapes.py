"""What ETS-VII looks like: bus, two solar paddles, antennas and the arm. A sketch for pictures, sizes plausible."""

import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.shapes import Box, Cone, Cylinder, Shape

_HALF_TURN_ABOUT_Y = ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0))
_Z_TO_X = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))

_BUS = (
    Shape(Box((2.3, 2.2, 2.5)), (0.0, 0.0, -0.3), colour="bus"),
    Shape(Box((2.36, 2.26, 0.12)), (0.0, 0.0, 0.94), colour="joint"),  # the deck that carries the arm
    Shape(Cylinder(0.55, 0.25), (1.25, 0.0, -0.3), _Z_TO_X, "joint"),  # docking ring
    Shape(Cylinder(0.16, 0.3), (-0.79, -0.29, 0.95), colour="joint"),  # foot of the arm
    Shape(Cone(0.55, 0.28), (-0.4, 0.0, -1.85), _HALF_TURN_ABOUT_Y, "antenna"),
    Shape.tube((-0.4, 0.0, -1.5), (-0.4, 0.0, -1.9), 0.05, "joint"),
)
_SEGMENTS, _SEGMENT, _GAP, _YOKE = 4, 1.7, 0.06, 1.0  # of a paddle; lengths [m]


def _paddle(side: float) -> tuple[Shape, ...]:
    root = 1.1 + _YOKE
    yoke = Shape.tube((0.0, side * 1.1, -0.3), (0.0, side * root, -0.3), 0.05, "joint")
    centres = [root + _SEGMENT / 2 + n * (_SEGMENT + _GAP) for n in range(_SEGMENTS)]
    return (yoke, *(Shape(Box((2.2, _SEGMENT, 0.04)), (0.0, side * y, -0.3), colour="panel") for y in centres))


def with_ets7_shapes(craft: Spacecraft) -> Spacecraft:
    """ETS-VII with shapes on every body; joint drums sit at the joints, tubes run from joint to joint."""
    craft = craft.with_shapes("base", *_BUS, *_paddle(1.0), *_paddle(-1.0))
    for number, joint in enumerate(craft.joints[:6], start=1):
        axis = np.asarray(joint.axis, dtype=float)
        ahead = craft.joints[number].X_PJ.p if number < 6 else craft.frame("hand").X_BF.p
        ahead = np.asarray(ahead, dtype=float)
        elbow = axis * (axis @ ahead)  # along the joint axis first, then across
        drum = Shape.tube(-0.11 * axis, 0.11 * axis, 0.1, "joint")
        shapes = [drum]
        if number < 6:
            shapes += [
                Shape.tube(a, b, 0.065)
                for a, b in ((np.zeros(3), elbow), (elbow, ahead))
                if np.linalg.norm(b - a) > 0.05
            ]
        else:
            shapes += _hand(ahead)
        craft = craft.with_shapes(joint.name, *shapes)
    return craft


def _hand(tip: np.ndarray) -> list[Shape]:
    """Wrist, palm and two fingers, up to the hand point along x."""
    palm = tip - np.array([0.16, 0.0, 0.0])
    fingers = [
        Shape(Box((0.16, 0.03, 0.05)), (tip[0] - 0.08, tip[1] + y, tip[2]), colour="hand") for y in (-0.07, 0.07)
    ]
    return [
        Shape.tube((0.0, 0.0, 0.0), palm, 0.06),
        Shape(Box((0.06, 0.2, 0.12)), tuple(palm), colour="hand"),
        *fingers,
    ]
