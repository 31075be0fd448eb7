"""What Envisat looks like: bus, ring, antenna and one solar array. A sketch for pictures, sizes plausible."""

from freefloat.model import Spacecraft
from freefloat.model.shapes import Box, Shape

_PANELS, _PANEL, _GAP = 5, 2.7, 0.1  # of the array; lengths [m]
_SHAPES = (
    Shape(Box((6.6, 2.6, 2.6)), (-0.7, 0.0, 0.0), colour="bus"),
    Shape.tube((2.6, 0.0, 0.0), (2.75, 0.0, 0.0), 1.05, "joint"),  # foot of the ring
    Shape.tube((2.75, 0.0, 0.0), (2.9, 0.0, 0.0), 0.95, "target"),  # launch-adapter ring
    Shape(Box((9.0, 0.12, 1.3)), (-1.0, 1.5, 0.0), colour="antenna"),  # radar
    Shape.tube((-1.5, 0.0, -1.3), (-1.5, 0.0, -3.0), 0.1, "joint"),  # arm of the array
)


def with_envisat_shapes(craft: Spacecraft) -> Spacecraft:
    """The spacecraft with its base drawn as Envisat."""
    panels = tuple(
        Shape(Box((4.97, 0.05, _PANEL)), (-1.5, 0.0, -3.0 - 0.5 * _PANEL - k * (_PANEL + _GAP)), colour="panel")
        for k in range(_PANELS)
    )
    return craft.with_shapes("base", *_SHAPES, *panels)
