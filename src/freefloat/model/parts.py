"""The parts of a spacecraft. Numbers are leaves that can be varied, differentiated, identified; names are static.

An impossible part raises an error with its name when it is built.
"""

from typing import Literal

import numpy as np

from freefloat.model.flexibility import JointFlexibility
from freefloat.model.physical_checks import require_rotation, unit_axis
from freefloat.model.placement import require_pose
from freefloat.model.shapes import Shape
from freefloat.spatial import Pose, PoseLike, SpatialInertia, six
from freefloat.spatial.rotations import rotation_about
from freefloat.values import quiet, record, static
from freefloat.values.arrays import ArrayLike, Numeric, Scalar, Vec6, is_traced
from freefloat.values.checks import require_array, require_number, require_tensor, set_fields
from freefloat.values.errors import ModelError

JointKind = Literal["revolute", "prismatic", "fixed", "rail"]
_KINDS = ("revolute", "prismatic", "fixed", "rail")


@record
class RigidBody:
    """A rigid body; its frame sits where the joint that carries it puts it (the base's: anywhere)."""

    name: str = static()
    mass: Scalar | float  # [kg]
    com: ArrayLike  # (3,) centre of mass in the body frame [m]
    inertia: ArrayLike  # (3, 3), or (3,) principal moments, about the centre of mass, body axes [kg m2]
    shapes: tuple[Shape, ...] = quiet(default=())  # what it looks like
    massless: bool = static(default=False)  # only connects two joints: no mass, no inertia

    def __post_init__(self) -> None:
        owner = f"Body '{self.name}'"
        set_fields(
            self,
            mass=require_number(f"{owner}: mass", self.mass, "kg", **_mass_bounds(self.massless)),
            com=require_array(f"{owner}: com", self.com, "m", (3,), "three numbers"),
            inertia=require_tensor(f"{owner}: inertia", self.inertia, "kg m2"),
        )
        if self.massless and not is_traced(self.inertia) and np.any(self.inertia):
            raise ModelError(f"{owner} is massless but has an inertia. Give it none, or leave massless out.")

    @staticmethod
    def without_mass(name: str) -> "RigidBody":
        """A massless link, for two joints at one place; the bodies that it carries must have mass."""
        return RigidBody(name=name, mass=0.0, com=np.zeros(3), inertia=np.zeros(3), massless=True)

    @property
    def modes(self) -> int:
        """A rigid body has no modes."""
        return 0

    def spatial_inertia(self) -> SpatialInertia:
        """Inertia about the origin of the body frame."""
        return SpatialInertia.from_com(self.mass, self.com, self.inertia)


def _mass_bounds(massless: bool) -> dict[str, float]:
    return {"least": 0.0, "most": 0.0} if massless else {"above": 0.0}


@record
class JointLimits:
    """Limits of a joint; infinite if not given. For software and checks, not for the equations of motion."""

    lower: Numeric | float = -np.inf  # [rad or m]
    upper: Numeric | float = np.inf  # [rad or m]
    rate: Numeric | float = np.inf  # [rad/s or m/s]
    effort: Numeric | float = np.inf  # [N m or N]

    def __post_init__(self) -> None:
        units = {"lower": "rad or m", "upper": "rad or m", "rate": "rad/s or m/s", "effort": "N m or N"}
        for name, unit in units.items():
            least = 0.0 if name in ("rate", "effort") else None
            value = require_number(f"JointLimits.{name}", getattr(self, name), unit, least=least, allow_infinite=True)
            set_fields(self, **{name: value})
        if not is_traced(self.lower, self.upper) and self.lower > self.upper:
            raise ModelError(f"JointLimits: lower {self.lower:g} is above upper {self.upper:g}. Exchange them.")


@record
class Follow:
    """Coupled joints: the follower stands at `ratio` times its leader's position, plus `offset`."""

    leader: str = static()  # name of the joint whose coordinate is shared
    ratio: Numeric | float = 1.0  # [follower's rad or m per leader's rad or m]
    offset: Numeric | float = 0.0  # [rad or m]

    def __post_init__(self) -> None:
        owner = f"Follow of joint '{self.leader}'"
        set_fields(
            self,
            ratio=require_number(f"{owner}: ratio", self.ratio, "follower's unit per leader's"),
            offset=require_number(f"{owner}: offset", self.offset, "rad or m"),
        )


@record
class Joint:
    """The connection of a body to its parent: the child frame coincides with the joint frame, moved along the axis.

    On a flexible parent the joint sits at one of its nodes and `X_PJ` is its placement in that node's frame. A rail
    joint's coordinate is the station of a carriage on the parent's rail [m]. A joint that follows another has no
    coordinate of its own: it moves with its leader's. Dry friction is a property that an effect may use, as are the
    limits.
    The rotor inertia is that of motor rotor and gear times the gear ratio squared: it resists the joint's acceleration,
    while what the fast rotor adds to the momentum of the spacecraft is left out. A joint with a flexibility has a motor
    with a coordinate of its own instead, `elbow.motor`, whose momentum is not left out.
    """

    name: str = static()
    kind: JointKind = static()
    parent: str = static()  # name of the parent body
    X_PJ: PoseLike  # joint frame in the parent body's frame at zero joint position
    axis: ArrayLike  # (3,) in the joint frame; it becomes a unit vector
    damping: Numeric | float = 0.0  # viscous [N m s/rad or N s/m]
    friction: Numeric | float = 0.0  # dry [N m or N]
    rotor_inertia: Numeric | float = 0.0  # of motor rotor and gear, seen at the joint [kg m2 or kg]
    limits: JointLimits = JointLimits()
    follows: Follow | None = None
    node: str = static(default="")  # of a flexible parent; empty: the parent's own frame
    flexibility: JointFlexibility | None = None  # of the gear between motor and joint; None: stiff

    def __post_init__(self) -> None:
        owner = f"Joint '{self.name}'"
        if self.kind not in _KINDS:
            raise ModelError(f"{owner}: unknown kind '{self.kind}'. Kinds: {', '.join(_KINDS)}.")
        if not isinstance(self.limits, JointLimits):
            raise ModelError(f"{owner}: limits must be JointLimits(lower=..., upper=...), got {self.limits!r}.")
        set_fields(
            self,
            X_PJ=require_pose(owner, self.X_PJ),
            axis=unit_axis(f"{owner}: axis", self.axis),
            damping=require_number(f"{owner}: damping", self.damping, "N m s/rad or N s/m", least=0.0),
            friction=require_number(f"{owner}: friction", self.friction, "N m or N", least=0.0),
            rotor_inertia=require_number(f"{owner}: rotor_inertia", self.rotor_inertia, "kg m2 or kg", least=0.0),
        )
        if self.follows is not None and not isinstance(self.follows, Follow):
            raise ModelError(f"{owner}: follows must be Follow(leader, ratio=..., offset=...), got {self.follows!r}.")
        if self.follows is not None and self.kind not in ("revolute", "prismatic"):
            raise ModelError(f"{owner} is {self.kind}, so it cannot follow '{self.follows.leader}'. Leave follows out.")
        require_rotation(owner, self.X_PJ.R)
        self._check_flexibility(owner)

    def _check_flexibility(self, owner: str) -> None:
        if self.flexibility is None:
            return
        if not isinstance(self.flexibility, JointFlexibility):
            raise ModelError(f"{owner}: flexibility must be JointFlexibility(...), got {self.flexibility!r}.")
        if self.kind not in ("revolute", "prismatic"):
            raise ModelError(f"{owner} is {self.kind}, so it has no motor that could wind up. Leave flexibility out.")
        if self.follows is not None:
            raise ModelError(
                f"{owner} follows '{self.follows.leader}', which has the motor. Give '{self.follows.leader}' the "
                "flexibility."
            )
        if not is_traced(self.rotor_inertia) and float(self.rotor_inertia) != 0.0:
            raise ModelError(
                f"{owner} has a rotor_inertia and a flexibility with a motor_inertia. Give its rotor once: leave "
                "rotor_inertia out."
            )

    @property
    def motor(self) -> str:
        """Name of the motor's coordinate where the joint is flexible, else of the joint's own."""
        return self.name if self.flexibility is None else motor_name(self.name)

    @property
    def dofs(self) -> int:
        """Number of the joint's own coordinates."""
        return 0 if self.kind == "fixed" or self.follows is not None else 1

    def column(self) -> Vec6:
        """Twist of the child per unit joint rate, in child axes."""
        zero = np.zeros(3)
        return six(zero, self.axis) if self.kind == "revolute" else six(self.axis, zero)

    def placement(self, q: Scalar) -> Pose:
        """Pose X_PB of the child body in its parent's frame at joint position q."""
        if self.kind in ("fixed", "rail"):
            return self.X_PJ
        if self.kind == "revolute":
            return Pose(position=self.X_PJ.p, rotation=self.X_PJ.R @ rotation_about(self.axis, q))
        return Pose(position=self.X_PJ.p + self.X_PJ.R @ (q * self.axis), rotation=self.X_PJ.R)


def motor_name(joint: str) -> str:
    """Name of the coordinate of a flexible joint's motor."""
    return f"{joint}.motor"


@record
class Wheel:
    """A reaction wheel: its mass and locked inertia belong to the body that carries it; its angle is no coordinate."""

    name: str = static()
    body: str = static()
    axis: ArrayLike  # (3,) spin axis in the body frame; it becomes a unit vector
    inertia: Scalar | float  # about the spin axis [kg m2]
    max_torque: Numeric | float = np.inf  # of the motor [N m]
    max_momentum: Numeric | float = np.inf  # of the spin relative to the body [N m s]

    def __post_init__(self) -> None:
        owner = f"Wheel '{self.name}'"
        set_fields(
            self,
            axis=unit_axis(f"{owner}: axis", self.axis),
            inertia=require_number(f"{owner}: inertia about the spin axis", self.inertia, "kg m2", above=0.0),
            max_torque=require_number(f"{owner}: max_torque", self.max_torque, "N m", least=0.0, allow_infinite=True),
            max_momentum=require_number(
                f"{owner}: max_momentum", self.max_momentum, "N m s", least=0.0, allow_infinite=True
            ),
        )


@record
class Frame:
    """A named frame fixed to a body, or to a node of a flexible one: a hand, a camera, a grasp point."""

    name: str = static()
    body: str = static()
    X_BF: PoseLike  # in the body's frame, or in that of its node
    node: str = static(default="")  # of a flexible body; empty: the body's own frame

    def __post_init__(self) -> None:
        set_fields(self, X_BF=require_pose(f"Frame '{self.name}'", self.X_BF))
        require_rotation(f"Frame '{self.name}'", self.X_BF.R)
