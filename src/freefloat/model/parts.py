"""The parts of a spacecraft. Numbers are leaves that can be varied, differentiated, identified; names are static."""

from typing import Literal

import numpy as np

from freefloat.model.shapes import Shape
from freefloat.spatial import Pose, SpatialInertia, record, six, static
from freefloat.spatial.arrays import Mat3, Numeric, Scalar, Vec3, Vec6
from freefloat.spatial.rotations import rotation_about

JointKind = Literal["revolute", "prismatic", "fixed", "rail"]


@record
class RigidBody:
    """A rigid body; its frame sits where the joint that carries it puts it (the base's: anywhere)."""

    name: str = static()
    mass: Scalar | float  # [kg]
    com: Vec3  # centre of mass in the body frame [m]
    inertia: Mat3  # about the centre of mass, body axes [kg m2]
    shapes: tuple[Shape, ...] = static(default=())  # what it looks like

    @property
    def modes(self) -> int:
        """A rigid body has no modes."""
        return 0

    def spatial_inertia(self) -> SpatialInertia:
        """Inertia about the origin of the body frame."""
        return SpatialInertia.from_com(self.mass, self.com, self.inertia)


@record
class JointLimits:
    """What a joint may do; infinite where nothing is said. For laws and checks, never for the equations of motion."""

    lower: Numeric | float = -np.inf  # [rad or m]
    upper: Numeric | float = np.inf  # [rad or m]
    rate: Numeric | float = np.inf  # [rad/s or m/s]
    effort: Numeric | float = np.inf  # [N m or N]


@record
class Joint:
    """What connects a body to its parent: the child frame coincides with the joint frame, moved along the axis.

    On a flexible parent the joint sits at one of its nodes and `X_PJ` is its placement in that node's frame. A rail
    joint's coordinate is the station of a carriage on the parent's rail [m].
    """

    name: str = static()
    kind: JointKind = static()
    parent: str = static()  # name of the parent body
    X_PJ: Pose  # joint frame in the parent body's frame at zero joint position
    axis: Vec3  # unit vector in the joint frame
    damping: Numeric | float = 0.0  # viscous [N m s/rad or N s/m]
    limits: JointLimits = JointLimits()
    node: str = static(default="")  # of a flexible parent; empty: the parent's own frame

    @property
    def dofs(self) -> int:
        """How many coordinates the joint has."""
        return 0 if self.kind == "fixed" else 1

    def column(self) -> Vec6:
        """Twist of the child per unit joint rate, in child axes."""
        zero = np.zeros(3)
        return six(zero, self.axis) if self.kind == "revolute" else six(self.axis, zero)

    def placement(self, q: Scalar) -> Pose:
        """X_PB of the child body in its parent's frame at joint position q."""
        if self.kind in ("fixed", "rail"):
            return self.X_PJ
        if self.kind == "revolute":
            return Pose(position=self.X_PJ.p, rotation=self.X_PJ.R @ rotation_about(self.axis, q))
        return Pose(position=self.X_PJ.p + self.X_PJ.R @ (q * self.axis), rotation=self.X_PJ.R)


@record
class Wheel:
    """A reaction wheel: its mass and locked inertia belong to the body that carries it; its angle is no coordinate."""

    name: str = static()
    body: str = static()
    axis: Vec3  # spin axis, unit, in the body frame
    inertia: Scalar | float  # about the spin axis [kg m2]
    max_torque: Numeric | float = np.inf  # of the motor [N m]
    max_momentum: Numeric | float = np.inf  # of the spin relative to the body [N m s]


@record
class Frame:
    """A named frame fixed to a body, or to a node of a flexible one: a hand, a camera, a grasp point."""

    name: str = static()
    body: str = static()
    X_BF: Pose  # in the body's frame, or in that of its node
    node: str = static(default="")  # of a flexible body; empty: the body's own frame
