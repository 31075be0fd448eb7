"""What the orbiter and the payload of the Shuttle arm look like. A sketch for pictures, sizes plausible."""

from freefloat.model import Spacecraft
from freefloat.model.shapes import Box, Cylinder, Ellipsoid, Shape

_Z_TO_Y = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
# Name of the solid, its sizes and its place along x (forward), y (side) and z (up), as for the spatial arm [m].
_ORBITER = (
    (Box, (26.0, 5.0, 4.4), (-4.0, 0.0, 0.0), "tank"),  # hull
    (Ellipsoid, (4.5, 2.5, 2.2), (9.0, 0.0, 0.0), "tank"),  # nose
    (Box, (13.0, 22.0, 0.5), (-9.0, 0.0, -1.8), "joint"),  # wings
    (Box, (4.5, 0.5, 7.0), (-15.0, 0.0, 5.0), "joint"),  # fin
    (Box, (18.0, 4.0, 0.2), (-3.0, 0.0, 2.2), "panel"),  # bay
    (Box, (1.0, 1.0, 0.7), (10.0, 0.0, 2.15), "joint"),  # foot of the arm
)


def with_orbiter_shapes(craft: Spacecraft, *, planar: bool) -> Spacecraft:
    """The base drawn as an orbiter; the plane of the planar arm is the orbiter's plane of symmetry."""
    shapes = []
    for solid, (a, b, c), (x, y, z), colour in _ORBITER:
        size, place = ((a, c, b), (x, z, -y)) if planar else ((a, b, c), (x, y, z))
        shapes.append(Shape(solid(size), place, colour=colour))
    return craft.with_shapes("base", *shapes)


def with_payload_shapes(craft: Spacecraft, radius: float, length: float, *, planar: bool) -> Spacecraft:
    """The payload drawn as a cylinder across the plane, with a pin where it is grasped."""
    cylinder = Cylinder(radius, length)
    hull = Shape(cylinder, colour="target") if planar else Shape(cylinder, rotation=_Z_TO_Y, colour="target")
    pin = Shape.tube((-radius - 0.1, 0.0, 0.0), (-radius + 0.1, 0.0, 0.0), 0.15, "hand")
    return craft.with_shapes("base", hull, pin)
