"""What the servicer looks like: bus, two panels, the arm and its gripper. A sketch for pictures, sizes plausible."""

import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.shapes import Box, Shape

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


def with_servicer_shapes(craft: Spacecraft) -> Spacecraft:
    """The servicer with shapes: drums at the joints, tubes from joint to joint."""
    craft = craft.with_shapes("base", *_BUS).with_shapes("gripper", *_GRIPPER)
    moving = craft.joints[:7]
    for joint, following in zip(moving, (*moving[1:], None), strict=True):
        axis = np.asarray(joint.axis, dtype=float)
        shapes = [Shape.tube(-0.06 * axis, 0.06 * axis, 0.055, "joint")]
        if following is not None:
            shapes.append(Shape.tube(np.zeros(3), np.asarray(following.X_PJ.p), 0.045))
        craft = craft.with_shapes(joint.name, *shapes)
    return craft
