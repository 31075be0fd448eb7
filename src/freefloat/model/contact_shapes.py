"""Shapes for contact forces. Their numbers belong to the model, so that they can be varied; `shapes` has the pictures.

Each has a frame of its own: the docstrings below say along which axis it lies and where its origin is.
"""

from __future__ import annotations

from typing import TypeAlias

from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Numeric, is_traced
from freefloat.values.checks import require_array, require_bounds, require_quantity, set_fields
from freefloat.values.errors import ModelError


@record
class Sphere:
    """A ball around the origin; a point, where its radius is zero."""

    radius: Numeric | float = 0.0  # [m]

    def __post_init__(self) -> None:
        require_bounds(self, {"radius": "m"}, least=0.0)


@record
class Plane:
    """The plane of x and y; z points out of it, and below it everything is solid."""


@record
class Ring:
    """A round bar bent to a circle about z, in the plane of x and y."""

    radius: Numeric | float  # of the circle [m]
    bar: Numeric | float  # radius of the bar [m]
    points: int = static(default=8)  # number of points along it that can touch planes, boxes and other rings

    def __post_init__(self) -> None:
        require_bounds(self, {"radius": "m"}, above=0.0)
        require_bounds(self, {"bar": "m"}, least=0.0)
        if not isinstance(self.points, int) or self.points < 3:
            raise ModelError(f"Ring.points must be a whole number of at least 3, got {self.points!r}.")


@record
class ContactCapsule:
    """A round bar along z with half balls at its ends, centred on the origin."""

    radius: Numeric | float  # [m]
    length: Numeric | float  # between the centres of the end balls [m]

    def __post_init__(self) -> None:
        require_bounds(self, {"radius": "m", "length": "m"}, above=0.0)


@record
class ContactBox:
    """A box centred on the origin."""

    size: ArrayLike  # along x, y, z [m]

    def __post_init__(self) -> None:
        size = require_array("ContactBox.size", self.size, "m", (3,), "three lengths along x, y, z")
        set_fields(self, size=require_quantity("ContactBox.size", size, "m", above=0.0))


@record
class Probe:
    """A ball around the origin on a shaft that comes from -z; it fits into a cone, or through a ring."""

    radius: Numeric | float  # of the ball at its tip [m]
    length: Numeric | float  # of the shaft, from the centre of the ball [m]
    shaft: Numeric | float  # radius of the shaft [m]

    def __post_init__(self) -> None:
        require_bounds(self, {"radius": "m", "length": "m", "shaft": "m"}, above=0.0)


@record
class ContactCone:
    """A hollow cone (a drogue) about z: from its floor at z = 0, as wide as the throat, to its mouth at z = depth.

    Its wall is thin: it touches bodies inside it and bodies outside it.
    """

    mouth: Numeric | float  # radius at the open end [m]
    depth: Numeric | float  # [m]
    throat: Numeric | float = 0.0  # radius of the floor [m]

    def __post_init__(self) -> None:
        require_bounds(self, {"mouth": "m", "depth": "m"}, above=0.0)
        require_bounds(self, {"throat": "m"}, least=0.0)
        if not is_traced(self.mouth, self.throat) and self.throat >= self.mouth:
            raise ModelError(
                f"ContactCone: its throat ({self.throat:g} m) must be narrower than its mouth ({self.mouth:g} m)."
            )


ContactShape: TypeAlias = Sphere | Plane | Ring | ContactCapsule | ContactBox | Probe | ContactCone
