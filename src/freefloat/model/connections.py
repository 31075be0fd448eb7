"""Constraints that hold spacecraft together or keep them apart: connections that latch, joint brakes, contacts.

They belong to a world. Frames are named as `client.ring`; a frame that stands still in space is `N`, or a pose in it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from freefloat.spatial import Pose
from freefloat.values import record, static
from freefloat.values.arrays import Numeric
from freefloat.values.checks import require_number, set_fields
from freefloat.values.errors import ModelError, require_name

Holds = Literal["all", "point", "hinge"]
ROWS: dict[str, int] = {"all": 6, "point": 3, "hinge": 5}  # number of directions that each way of holding constrains
INERTIAL = "N"


@record
class Place:
    """A frame of a spacecraft, or one that stands still in space."""

    craft: str = static()  # name of the spacecraft; empty: none, the frame stands still
    frame: str = static()
    X_NF: Pose | None = None  # where it stands still

    @property
    def title(self) -> str:
        """Name of the frame in messages."""
        return f"{self.craft}.{self.frame}" if self.craft else INERTIAL


@record
class Connection:
    """Two frames that are held together while it is on.

    It holds `all` six directions, a `point` (the origins stay together) or a `hinge` (free about z of frame a). Reach
    is counted from the pose `at`; frames that latch in a run are held in the pose of that instant: nothing jumps.
    """

    name: str = static()
    a: Place
    b: Place
    holds: Holds = static(default="all")
    on: bool = static(default=False)  # from the start
    automatic: bool = static(default=False)  # latches by itself when the frames come closer than the reach
    reach: Numeric | tuple[float, float] = (0.05, 0.1)  # how far from `at` they may be when it latches [m], [rad]
    at: Pose = Pose()  # of frame b in frame a, as it is meant
    held_outside: bool = static(
        default=False
    )  # by a facility: it latches and releases, but has no constraint force here

    def __post_init__(self) -> None:
        owner = f"Connection '{self.name}'"
        require_name("A connection", self.name)
        if self.holds not in ROWS:
            raise ModelError(f"{owner} cannot hold {self.holds!r}. It holds one of: {', '.join(ROWS)}.")
        if self.a.title == self.b.title and self.a.craft:
            raise ModelError(f"{owner} would connect '{self.a.title}' with itself. Name two frames.")
        if not self.a.craft and not self.b.craft:
            raise ModelError(f"{owner} connects nothing that moves. Name a frame of a spacecraft.")
        if np.shape(self.reach) != (2,):
            raise ModelError(f"{owner}: reach must be two numbers, (m, rad), got {self.reach!r}.")
        reach = [
            require_number(f"{owner}: reach", x, unit, above=0.0, allow_infinite=True)
            for x, unit in zip(self.reach, ("m", "rad"), strict=True)
        ]
        set_fields(self, reach=tuple(reach))

    @property
    def rows(self) -> int:
        """Number of directions that the connection holds."""
        return ROWS[self.holds]


@record
class JointBrake:
    """A brake on a joint. On, it holds the joint; above its slip torque the joint slips, against that torque."""

    craft: str = static()
    joint: str = static()
    slip_torque: Numeric | float | None = None  # [N m, N]; None: it never slips
    on: bool = static(default=False)  # from the start

    def __post_init__(self) -> None:
        if self.slip_torque is not None:
            require_number(f"Brake of '{self.joint}': slip_torque", self.slip_torque, "N m", above=0.0)

    @property
    def slips(self) -> bool:
        """True if the brake has a slip torque."""
        return self.slip_torque is not None


@record
class Contact:
    """A sphere (a point, if its radius is zero) at frame a that touches a plane at frame b.

    The plane is that of x and y of frame b, and z points out of it. The sphere bounces by the restitution; when the
    bounces end it rests, held by a normal force that pushes and never pulls.
    """

    name: str = static()
    a: Place
    b: Place
    radius: Numeric | float = 0.0  # of the sphere at frame a [m]
    restitution: Numeric | float = 0.0  # 0 to 1
    friction: Numeric | float = 0.0  # Coulomb's coefficient at an impact

    def __post_init__(self) -> None:
        owner = f"Contact '{self.name}'"
        require_name("A contact", self.name)
        if self.a.title == self.b.title and self.a.craft:
            raise ModelError(f"{owner} would let '{self.a.title}' touch itself. Name two frames.")
        if not self.a.craft:
            raise ModelError(f"{owner}: frame a must be that of a spacecraft; what it touches may stand still.")
        require_number(f"{owner}: radius", self.radius, "m", least=0.0)
        require_number(f"{owner}: restitution", self.restitution, "1", least=0.0, most=1.0)
        require_number(f"{owner}: friction", self.friction, "1", least=0.0)
