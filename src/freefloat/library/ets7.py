"""ETS-VII, the free-flying robot of NASDA's 1997-1999 experiments (Yoshida 2003).

Sources. Base mass and inertia, link masses, lengths and the moment about each joint axis: Yoshida, "Engineering
Test Satellite VII flight experiments for space robot dynamics and control" (2003), Table 1. Joint axes, offset
directions, centres of mass and transverse moments: two public models of ETS-VII that agree with Table 1 and with
each other up to frame conventions. Chosen where they differ:

- Base products of inertia are taken as matrix elements, as both public models do.
- Link 2, Ixx: the public 3.378 violates the triangle inequality, 3.660 is used (changes the first experiment by
  less than 1e-6 deg). Arm products of inertia are dropped (1e-5 deg).
- The hand is 0.53 m along joint 6, as Table 1 has it.
- Wheels: three along the body axes. Their inertia and limits are not published; 0.1 kg m2 is assumed.
- Shapes are a sketch for pictures, sizes plausible.
"""

from dataclasses import dataclass

import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.shapes import Box, Cone, Cylinder, Shape
from freefloat.spatial import Pose

_X, _Y, _Z = np.eye(3)


@dataclass(frozen=True)
class _Link:
    axis: np.ndarray  # at zero joint angle, base axes
    joint: tuple[float, float, float]  # joint point in base axes at zero joint angles [m]
    com: tuple[float, float, float]  # centre of mass from the joint point [m]
    mass: float  # [kg]
    inertia: tuple[float, float, float]  # principal moments about the centre of mass, base axes [kg m2]


_BASE_INERTIA = np.array(  # about the base centre of mass [kg m2]
    [[6200.0, 48.2, 78.5], [48.2, 3540.0, -29.2], [78.5, -29.2, 7090.0]]
)
_LINKS = (
    _Link(_Z, (-0.79, -0.29, 1.00), (0.0, 0.0, 0.175), 35.0, (1.218, 0.5132, 1.692)),
    _Link(_Y, (-0.79, -0.01, 1.35), (0.0, 0.0, 0.435), 22.5, (3.660, 3.752, 0.102)),
    _Link(_Y, (-0.79, -0.01, 2.22), (0.315, 0.0, 0.0), 21.9, (0.4327, 2.528, 2.266)),
    _Link(_Y, (-0.16, -0.01, 2.22), (0.0, -0.13, 0.0), 16.5, (0.3963, 0.07271, 0.3878)),
    _Link(_Z, (-0.16, -0.27, 2.22), (0.0, 0.0, 0.14), 26.0, (0.5727, 0.5987, 0.1290)),
    _Link(_X, (-0.16, -0.27, 2.50), (0.265, 0.0, 0.0), 18.5, (0.2590, 0.2410, 0.1650)),
)
_HAND = np.array([0.37, -0.27, 2.50])  # hand point in base axes at zero joint angles [m]
_WHEEL_INERTIA = 0.1  # assumed [kg m2]
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


def ets7(*, wheels: bool = False) -> Spacecraft:
    """ETS-VII with its 6-joint arm (2690.4 kg). Base frame at the base's centre of mass: z nadir, x flight direction.

    Bodies `base`, `arm.1` .. `arm.6`; frame `hand`. With `wheels` also `wheel.x`, `wheel.y`, `wheel.z`.
    """
    craft = Spacecraft.from_base("ets7", mass=2550.0, inertia=_BASE_INERTIA)  # [kg]
    parent, origin = "base", np.zeros(3)
    for number, link in enumerate(_LINKS, start=1):
        joint = np.array(link.joint)
        craft = craft.with_link(
            f"arm.{number}",
            parent=parent,
            joint="revolute",
            at=Pose(position=joint - origin),
            axis=link.axis,
            mass=link.mass,
            com=link.com,
            inertia=link.inertia,
        )
        parent, origin = f"arm.{number}", joint
    craft = _with_shapes(craft.with_frame("hand", body=parent, at=Pose(position=_HAND - origin)))
    if wheels:
        for letter, axis in zip("xyz", np.eye(3), strict=True):
            craft = craft.with_wheel(f"wheel.{letter}", axis=axis, inertia=_WHEEL_INERTIA)
    return craft


def _paddle(side: float) -> tuple[Shape, ...]:
    root = 1.1 + _YOKE
    yoke = Shape.tube((0.0, side * 1.1, -0.3), (0.0, side * root, -0.3), 0.05, "joint")
    centres = [root + _SEGMENT / 2 + n * (_SEGMENT + _GAP) for n in range(_SEGMENTS)]
    return (yoke, *(Shape(Box((2.2, _SEGMENT, 0.04)), (0.0, side * y, -0.3), colour="panel") for y in centres))


def _with_shapes(craft: Spacecraft) -> Spacecraft:
    """ETS-VII with bus, solar paddles and antennas; joint drums sit at the joints, tubes run from joint to joint."""
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
