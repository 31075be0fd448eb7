"""A servicer with a light-weight arm of seven joints, like the one of the OOS-Sim facility.

Sources. Joint axes, offsets, masses and inertias of the links: a public model of the DLR/KUKA light-weight robot (LWR).
Assumed here: base of 850 kg and its inertia, where the arm is mounted (on +x, its z along +x), gripper and tool frame.
The paper that it is used for (relative dynamics for hardware-in-the-loop simulation, 2021) gives none of these numbers.
Shapes are a sketch for pictures, sizes plausible.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.dynamics import frame_pose
from freefloat.library.envisat import envisat
from freefloat.model import Spacecraft, State
from freefloat.model.shapes import Box, Shape
from freefloat.spatial import Pose, angular, linear

SERVICER_FOLDED = (0.0, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0)  # [rad]; the tool points away from a client ahead
SERVICER_CAPTURE = (0.0, 0.6, 0.0, 1.2, 0.0, 0.6, 0.0)  # [rad]; z of the tool along +x of the base
ARM_MOUNT = Pose(position=(0.9, 0.0, 0.0), rotation=((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)))  # [m]
ARM_LINK_MASS = 2.0  # [kg] each
_UPPER = (0.0136666666667, 0.0118666666667, 0.003)  # about the centre of mass [kg m2]
ARM_LINKS = (  # along z from the joint before [m], axis, centre of mass [m], inertia about it [kg m2]
    (0.11, (0.0, 0.0, 1.0), (0.0, 0.04, 0.13), _UPPER),
    (0.20, (0.0, -1.0, 0.0), (0.0, -0.04, 0.07), _UPPER),
    (0.20, (0.0, 0.0, 1.0), (0.0, -0.04, 0.13), _UPPER),
    (0.20, (0.0, 1.0, 0.0), (0.0, 0.04, 0.07), _UPPER),
    (0.20, (0.0, 0.0, 1.0), (0.0, 0.02, 0.124), (0.0126506666667, 0.0108506666667, 0.003)),
    (0.19, (0.0, -1.0, 0.0), (0.0, 0.0, 0.0), (0.00520833333333, 0.00520833333333, 0.00520833333333)),
    (0.078, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.000833333333333, 0.000833333333333, 0.000833333333333)),
)
GRIPPER_MASS, GRIPPER_COM, GRIPPER_INERTIA = 3.0, (0.0, 0.0, 0.1), (0.02, 0.02, 0.015)  # [kg], [m], [kg m2]
TOOL_HEIGHT = 0.05  # [m], the tool frame above joint 7
_R_TB = np.diag([-1.0, -1.0, 1.0])  # base +x towards the client's -x: face to face
_BUS = (
    Shape(Box((1.8, 1.4, 1.4)), colour="bus"),
    Shape.tube((0.88, 0.0, 0.0), (0.93, 0.0, 0.0), 0.12, "joint"),  # foot of the arm
    *(Shape(Box((1.2, 2.6, 0.04)), (-0.2, side * 2.2, 0.0), colour="panel") for side in (1.0, -1.0)),
    *(Shape.tube((-0.2, side * 0.7, 0.0), (-0.2, side * 0.9, 0.0), 0.04, "joint") for side in (1.0, -1.0)),
)
_GRIPPER = (
    Shape(Box((0.06, 0.14, 0.06)), (0.0, 0.0, 0.02), colour="hand"),
    *(Shape(Box((0.04, 0.02, 0.08)), (0.0, y, 0.06), colour="hand") for y in (-0.06, 0.06)),
)


def servicer() -> Spacecraft:
    """Servicer with a 7-joint arm (867 kg); base frame at the centre of mass of the base, +x ahead.

    Bodies `base`, `arm.1` .. `arm.7`, `gripper`; frame `tool`, z out of the gripper.
    """
    craft = Spacecraft.from_base("servicer", mass=850.0, inertia=(362.0, 604.0, 560.0))  # [kg], [kg m2]
    parent, place = "base", ARM_MOUNT
    for number, (offset, axis, com, inertia) in enumerate(ARM_LINKS, start=1):
        craft = craft.with_link(
            f"arm.{number}",
            parent=parent,
            joint="revolute",
            at=place @ Pose(position=np.array([0.0, 0.0, offset])),
            axis=axis,
            mass=ARM_LINK_MASS,
            com=com,
            inertia=inertia,
        )
        parent, place = f"arm.{number}", Pose()
    craft = craft.with_link(
        "gripper", parent=parent, joint="fixed", mass=GRIPPER_MASS, com=GRIPPER_COM, inertia=GRIPPER_INERTIA
    )
    return _with_shapes(craft.with_frame("tool", body="gripper", at=Pose(position=(0.0, 0.0, TOOL_HEIGHT))))


def _with_shapes(craft: Spacecraft) -> Spacecraft:
    """The servicer with bus, two panels and gripper; drums at the joints, tubes from joint to joint."""
    craft = craft.with_shapes("base", *_BUS).with_shapes("gripper", *_GRIPPER)
    moving = craft.joints[:7]
    for joint, following in zip(moving, (*moving[1:], None), strict=True):
        axis = np.asarray(joint.axis, dtype=float)
        shapes = [Shape.tube(-0.06 * axis, 0.06 * axis, 0.055, "joint")]
        if following is not None:
            shapes.append(Shape.tube(np.zeros(3), np.asarray(following.X_PJ.p), 0.045))
        craft = craft.with_shapes(joint.name, *shapes)
    return craft


def servicer_start(client: State, *, joints: Sequence[float] = SERVICER_FOLDED, gap: float = 0.15) -> State:
    """State face to face with Envisat, turning with it as if both were one body; the tool is a gap [m] off its ring.

    `joints` [rad]: folded as at the start of the paper's run, or `SERVICER_CAPTURE`, ready to reach out.
    """
    craft, p_TG = servicer(), np.asarray(envisat().frame("ring").X_BF.p)
    start = craft.at_rest(np.array(joints, dtype=float))
    p_BE = np.asarray(frame_pose(craft, start.q, "tool").p)
    X_TB = Pose(position=p_TG + np.array([gap, 0.0, 0.0]) - _R_TB @ p_BE, rotation=_R_TB)
    X_NB, V_NB = client.X_NB @ X_TB, X_TB.twist_to_B(client.V_NB)
    placed = craft.at_rest(start.q, at=Pose(position=np.asarray(X_NB.p), rotation=np.asarray(X_NB.R)))
    return craft.in_motion(placed, velocity=np.asarray(linear(V_NB)), rate=np.asarray(angular(V_NB)))
