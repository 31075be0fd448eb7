"""Envisat, the largest piece of debris in low Earth orbit, as the client of a capture.

Sources. Mass and inertia about the centre of mass: ESA's values for the e.Deorbit studies, given in Envisat's own axes.
Distance of the grasped launch-adapter ring from the centre of mass, 2.9 m, and the spin of -2.5 deg/s about the major
axis, which the paper calls y: relative dynamics for hardware-in-the-loop simulation of on-orbit missions (2021).
Assumed here:

- Axes: x = x_E, y = z_E, z = -y_E, so that y is next to the major axis (4.55 deg from it: the free motion nutates).
- Direction of the ring from the centre of mass: +x, perpendicular to the spin.
- Shapes (bus, ring, antenna, one solar array): a sketch for pictures, sizes plausible.
"""

from __future__ import annotations

import numpy as np

from freefloat.model import Spacecraft, State
from freefloat.model.shapes import Box, Shape
from freefloat.spatial import Pose

ENVISAT_SPIN_DEG_S = -2.5  # about y
_MASS = 7827.867  # [kg]
_INERTIA_E = np.array(  # about the centre of mass, Envisat's own axes [kg m2]
    [[17023.3, 397.1, -2171.4], [397.1, 124825.7, 344.2], [-2171.4, 344.2, 129112.2]]
)
_R_TE = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # rows: our x, y, z in Envisat's own axes
# z of the ring points into Envisat, as z of a tool does that reaches for it.
_RING = Pose(position=(2.9, 0.0, 0.0), rotation=((0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0)))
_PANELS, _PANEL, _GAP = 5, 2.7, 0.1  # of the array; lengths [m]
_SHAPES = (
    Shape(Box((6.6, 2.6, 2.6)), (-0.7, 0.0, 0.0), colour="bus"),
    Shape.tube((2.6, 0.0, 0.0), (2.75, 0.0, 0.0), 1.05, "joint"),  # foot of the ring
    Shape.tube((2.75, 0.0, 0.0), (2.9, 0.0, 0.0), 0.95, "target"),  # launch-adapter ring
    Shape(Box((9.0, 0.12, 1.3)), (-1.0, 1.5, 0.0), colour="antenna"),  # radar
    Shape.tube((-1.5, 0.0, -1.3), (-1.5, 0.0, -3.0), 0.1, "joint"),  # arm of the array
)


def envisat() -> Spacecraft:
    """Envisat (7827.867 kg) as one rigid body, its base frame at the centre of mass; frame `ring` where it is grasped.

    z of `ring` points into Envisat: a tool frame that coincides with it holds it.
    """
    craft = Spacecraft.from_base("envisat", mass=_MASS, inertia=_R_TE @ _INERTIA_E @ _R_TE.T)
    panels = (
        Shape(Box((4.97, 0.05, _PANEL)), (-1.5, 0.0, -3.0 - 0.5 * _PANEL - k * (_PANEL + _GAP)), colour="panel")
        for k in range(_PANELS)
    )
    return craft.with_frame("ring", body="base", at=_RING).with_shapes("base", *_SHAPES, *panels)


def envisat_start(*, spin_deg_s: float = ENVISAT_SPIN_DEG_S) -> State:
    """State of Envisat at the inertial origin, spinning about y."""
    return envisat().in_motion(rate_deg_s=(0.0, spin_deg_s, 0.0))
