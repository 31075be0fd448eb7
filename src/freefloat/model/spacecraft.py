"""The spacecraft: a tree of bodies with joints, wheels and named frames, grown one part at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from freefloat.model import craft_text
from freefloat.model.flexibility import JointFlexibility
from freefloat.model.following import require_leaders
from freefloat.model.layout import Layout, layout_of
from freefloat.model.modal import ModalBody, require_possible_body
from freefloat.model.motors import Motor, motors_on, require_rotors
from freefloat.model.mounting_checks import require_mountable, require_node
from freefloat.model.parts import Follow, Frame, Joint, JointKind, JointLimits, RigidBody, Wheel
from freefloat.model.physical_checks import require_physical
from freefloat.model.placement import require_pose
from freefloat.model.shapes import Shape
from freefloat.model.start_state import Joints, Speeds, require_sound_state, start_motion, start_positions
from freefloat.model.state import State
from freefloat.spatial import Pose, PoseLike
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Scalar, is_traced
from freefloat.values.errors import ModelError, require_name, unknown_name
from freefloat.values.short_text import TextDisplay

HERE = Pose()


@record
class Spacecraft(TextDisplay):
    """Bodies in tree order: `bodies[0]` is the base, `joints[i]` carries `bodies[i + 1]`, parents come first.

    Every `with_...` returns a new spacecraft; nothing is changed in place.
    """

    name: str = static()
    bodies: tuple[RigidBody | ModalBody, ...]
    joints: tuple[Joint, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    frames: tuple[Frame, ...] = ()

    def __post_init__(self) -> None:
        require_name("Spacecraft", self.name)
        if not self.bodies or len(self.bodies) != len(self.joints) + 1:
            raise ModelError(
                f"Spacecraft '{self.name}' has {len(self.bodies)} bodies and {len(self.joints)} joints, but every body "
                "except the base hangs on one joint. Start with Spacecraft.from_base and add parts by with_link."
            )
        require_leaders(self.name, self.joints)

    # ---- shown to people

    def __repr__(self) -> str:
        return f"<{craft_text.craft_headline(self)}>"

    def __str__(self) -> str:
        return "\n".join(craft_text.craft_lines(self))

    # ---- growing

    @staticmethod
    def from_base(name: str, *, mass: float, inertia: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> Spacecraft:
        """A spacecraft that is one free body, called `base`; inertia about the centre of mass [kg m2]."""
        return Spacecraft(name=name, bodies=(_rigid_body("base", mass, com, inertia),))

    @staticmethod
    def from_body(name: str, body: RigidBody | ModalBody) -> Spacecraft:
        """A spacecraft whose base is a body that exists already, rigid or flexible; it becomes `base`.

        The base frame of a flexible body is where the body is held; `base.modes` move everything else.
        """
        require_possible_body(body)
        return Spacecraft(name=name, bodies=(dataclasses.replace(body, name="base"),))

    def with_link(
        self,
        name: str,
        *,
        parent: str,
        joint: JointKind,
        mass: float,
        inertia: ArrayLike,
        com: ArrayLike = (0.0, 0.0, 0.0),
        at: PoseLike = HERE,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        damping: float = 0.0,
        friction: float = 0.0,
        rotor_inertia: float = 0.0,
        limits: JointLimits | None = None,
        follows: Follow | None = None,
        flexibility: JointFlexibility | None = None,
        joint_name: str | None = None,
    ) -> Spacecraft:
        """Copy with a new rigid link on a joint; `at` places the joint in the parent: a body, frame or node."""
        body, owner = _rigid_body(name, mass, com, inertia), joint_name or name
        carrier = Frame(name=parent, body=parent, X_BF=HERE) if parent in self.body_names else self.frame(parent)
        connection = Joint(
            name=owner,
            kind=joint,
            parent=carrier.body,
            X_PJ=at if carrier.name == carrier.body else carrier.X_BF @ require_pose(f"Joint '{owner}'", at),
            axis=axis,
            damping=damping,
            friction=friction,
            rotor_inertia=rotor_inertia,
            limits=JointLimits() if limits is None else limits,
            follows=follows,
            flexibility=flexibility,
            node=carrier.node,
        )
        return self.with_body(body, connection)

    def with_body(self, body: RigidBody | ModalBody, joint: Joint) -> Spacecraft:
        """Copy with a given body on a given joint."""
        if joint.parent not in self.body_names:
            raise unknown_name(self.name, "body", joint.parent, self.body_names)
        self._reject_taken_name("body or frame", body.name, self.frame_names)
        self._reject_taken_name("base, joint or wheel", joint.name, tuple(self.layout.velocities))
        self._reject_taken_name("base, joint or wheel", joint.motor, tuple(self.layout.velocities))
        require_mountable(self, joint)
        require_possible_body(body)
        grown = dataclasses.replace(self, bodies=(*self.bodies, body), joints=(*self.joints, joint))
        if joint.flexibility is not None:
            require_rotors(grown, joint.parent)
        return grown

    def with_wheel(
        self,
        name: str,
        *,
        body: str = "base",
        axis: ArrayLike,
        inertia: float,
        max_torque: float = np.inf,
        max_momentum: float = np.inf,
    ) -> Spacecraft:
        """Copy with a new reaction wheel; its mass and locked inertia are already part of the body that carries it."""
        wheel = Wheel(
            name=name, body=body, axis=axis, inertia=inertia, max_torque=max_torque, max_momentum=max_momentum
        )
        return self.with_existing_wheel(wheel)

    def with_existing_wheel(self, wheel: Wheel) -> Spacecraft:
        """Copy with a given wheel."""
        if isinstance(self.body(wheel.body), ModalBody):
            raise ModelError(
                f"Wheel '{wheel.name}' of spacecraft '{self.name}': '{wheel.body}' is flexible. "
                "Mount the wheel on a rigid body at one of its nodes."
            )
        self._reject_taken_name("base, joint or wheel", wheel.name, tuple(self.layout.velocities))
        grown = dataclasses.replace(self, wheels=(*self.wheels, wheel))
        require_rotors(grown, wheel.body)
        return grown

    def with_frame(self, name: str, *, body: str, at: PoseLike = HERE, node: str = "") -> Spacecraft:
        """Copy with a named frame fixed to a body, or to a node of a flexible body."""
        require_node(self, body, node)
        self._reject_taken_name("body or frame", name, self.frame_names)
        frame = Frame(name=name, body=body, X_BF=at, node=node)
        return dataclasses.replace(self, frames=(*self.frames, frame))

    def with_shapes(self, body: str, *shapes: Shape) -> Spacecraft:
        """Copy with other shapes of a body, which replace the shapes that it had."""
        index = self.body_index(body)
        if isinstance(self.bodies[index], ModalBody):
            raise ModelError(f"Body '{body}' of '{self.name}' is flexible: it is drawn by its nodes or rail.")
        if junk := [shape for shape in shapes if not isinstance(shape, Shape)]:
            raise ModelError(f"Body '{body}' of '{self.name}' is drawn by Shape(...), got {junk[0]!r}.")
        drawn = dataclasses.replace(self.bodies[index], shapes=shapes)
        return dataclasses.replace(self, bodies=(*self.bodies[:index], drawn, *self.bodies[index + 1 :]))

    def with_point_mass(self, name: str, *, mass: float, to: str = "base", at: PoseLike = HERE) -> Spacecraft:
        """Copy with a point mass [kg] fixed to a body, frame or node: a ballast, a tank, a piece of harness."""
        from freefloat.model import composition

        point = RigidBody(name=name, mass=mass, com=np.zeros(3), inertia=np.zeros(3))
        return composition.mount(self, point, name=name, to=to, at=at)

    def mount(
        self,
        other: Spacecraft | RigidBody | ModalBody,
        *,
        name: str,
        to: str = "base",
        at: PoseLike = HERE,
        joint: JointKind = "fixed",
        axis: ArrayLike = (0.0, 0.0, 1.0),
        damping: float = 0.0,
        friction: float = 0.0,
        rotor_inertia: float = 0.0,
        limits: JointLimits | None = None,
    ) -> Spacecraft:
        """Copy with a robot or a body mounted on a body, frame or node of this one: rigidly, or on a joint `name`.

        The base of the other becomes the body `name`, its parts are named `name.part`.
        """
        from freefloat.model import composition

        motion = {"damping": damping, "friction": friction, "rotor_inertia": rotor_inertia}
        motion |= {"joint": joint, "axis": axis, "limits": JointLimits() if limits is None else limits}
        return composition.mount(self, other, name=name, to=to, at=at, **motion)

    def grasp(self, payload: Spacecraft, *, name: str, hand: str, grip: str = "base") -> Spacecraft:
        """Copy that holds a payload so that the payload's frame `grip` coincides with the frame `hand` of this one."""
        from freefloat.model import composition

        return composition.grasp(self, payload, name=name, hand=hand, grip=grip)

    def detach(self, body: str) -> tuple[Spacecraft, Spacecraft]:
        """Separate a body and all it carries: the spacecraft that remains, and the one that leaves."""
        from freefloat.model import composition

        return composition.detach(self, body)

    def with_value(self, path: str, value: Any) -> Spacecraft:
        """Copy with one number replaced, by its dotted path, for example `base.mass` or `arm.2.inertia`."""
        from freefloat.model import dotted_paths

        return dotted_paths.replace(self, path, value)

    def check(self) -> Spacecraft:
        """This spacecraft; raises an error for impossible numbers, such as JAX may have traced or an optimiser made."""
        from freefloat.model import craft_checks

        craft_checks.require_possible_craft(self)
        return self

    # ---- looking things up

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies in tree order, the base first."""
        return tuple(b.name for b in self.bodies)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in tree order, fixed ones included."""
        return tuple(j.name for j in self.joints)

    @cached_property
    def wheel_names(self) -> tuple[str, ...]:
        """Names of the wheels."""
        return tuple(w.name for w in self.wheels)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Names of every frame: the bodies' own, their nodes' (`panel.tip`) and the added ones."""
        nodes = (f"{b.name}.{n}" for b in self.bodies if isinstance(b, ModalBody) for n in b.node_names)
        return self.body_names + tuple(nodes) + tuple(f.name for f in self.frames)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of each body's parent; -1 for the base."""
        index = {name: i for i, name in enumerate(self.body_names)}
        return (-1, *(index[j.parent] for j in self.joints))

    @cached_property
    def layout(self) -> Layout:
        """Places of all joints, modes and wheels in q and v."""
        return layout_of(self.name, self.bodies, self.joints, self.wheels)

    def body_index(self, name: str) -> int:
        """Position of a body in tree order."""
        if name not in self.body_names:
            raise unknown_name(self.name, "body", name, self.body_names)
        return self.body_names.index(name)

    @cached_property
    def is_rigid(self) -> bool:
        """True if no body is flexible and no carriage travels: then every joint moves along fixed columns."""
        return not any(b.modes for b in self.bodies) and not any(j.kind == "rail" for j in self.joints)

    @cached_property
    def has_followers(self) -> bool:
        """True if some joint shares the coordinate of another."""
        return any(joint.follows is not None for joint in self.joints)

    @property
    def mass(self) -> Scalar | float:
        """Mass of all bodies together [kg]."""
        return sum(body.mass for body in self.bodies)

    def body(self, name: str) -> RigidBody | ModalBody:
        """The body of that name."""
        return self.bodies[self.body_index(name)]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if name not in self.joint_names:
            raise unknown_name(self.name, "joint", name, self.joint_names)
        return self.joints[self.joint_names.index(name)]

    def frame(self, name: str) -> Frame:
        """The frame of that name: an added one, a body's own frame, or a node of a flexible body, `panel.tip`."""
        for frame in self.frames:
            if frame.name == name:
                return frame
        if name in self.body_names:
            return Frame(name=name, body=name, X_BF=HERE)
        for body in self.bodies:
            if isinstance(body, ModalBody) and name.removeprefix(f"{body.name}.") in body.node_names:
                return Frame(name=name, body=body.name, X_BF=HERE, node=name.removeprefix(f"{body.name}."))
        raise unknown_name(self.name, "frame", name, self.frame_names)

    def wheels_on(self, body: str) -> tuple[Wheel, ...]:
        """The wheels that a body carries."""
        return tuple(w for w in self.wheels if w.body == body)

    def motors_on(self, body: str) -> tuple[Motor, ...]:
        """The motors of flexible joints that a body carries."""
        return motors_on(self.joints, body)

    def with_flexible_joint(self, joint: str, flexibility: JointFlexibility) -> Spacecraft:
        """Copy with a flexible gear in a joint, whose motor gets a coordinate of its own."""
        stiff = dataclasses.replace(self.joint(joint), rotor_inertia=0.0, flexibility=flexibility)
        changed = dataclasses.replace(self, joints=tuple(stiff if j.name == joint else j for j in self.joints))
        require_rotors(changed, stiff.parent)
        return changed

    def with_stiff_joints(self) -> Spacecraft:
        """Copy with stiff gears, as a model for software; the rotors become rotor inertia of the joints."""
        joints = tuple(
            j
            if j.flexibility is None
            else dataclasses.replace(j, rotor_inertia=j.flexibility.reflected_inertia, flexibility=None)
            for j in self.joints
        )
        return dataclasses.replace(self, joints=joints) if self.layout.flexible_joints else self

    def rigid(self) -> Spacecraft:
        """Copy without flexibility: no modes and stiff gears, as the model of software that measures neither."""
        from freefloat.model import rigid_model

        return rigid_model.rigid_model(self)

    def at_rest(
        self,
        q: ArrayLike | None = None,
        *,
        joints: Joints | None = None,
        joints_deg: Joints | None = None,
        at: PoseLike = HERE,
    ) -> State:
        """State at rest, with the base at a pose in N and the joints and modes at q [rad, m] or at zero.

        Joints may be given by name instead: `joints={"elbow": 0.5}` [rad, m], or `joints_deg={"elbow": 30.0}`, degrees
        for revolute joints and metres for the others. Those not named are at zero. Or give all of them in order.
        """
        X_NB = require_pose(f"Start of spacecraft '{self.name}': at", at)
        quat_NB = np.array([1.0, 0.0, 0.0, 0.0]) if at is HERE else X_NB.quaternion
        state = State(
            p_NB=X_NB.p,
            quat_NB=quat_NB if is_traced(quat_NB) else np.asarray(quat_NB),
            q=start_positions(self.layout, q, joints, joints_deg),
            v=np.zeros(self.layout.nv),
        )
        return self.require_state(state)

    def in_motion(
        self,
        state: State | None = None,
        *,
        velocity: ArrayLike | None = None,
        rate: ArrayLike | None = None,
        rate_deg_s: ArrayLike | None = None,
        joints: Joints | None = None,
        joints_deg_s: Joints | None = None,
        wheels: Joints | None = None,
    ) -> State:
        """Copy of a state, by default `at_rest()`, with other speeds; speeds that are not named stay unchanged.

        Base velocity [m/s] and rate [rad/s] are in base axes, like the channels `base.velocity` and `base.rate`. Rates
        of joints are by name, or all in order: `joints` [rad/s, m/s], `joints_deg_s` degrees where they turn. Speeds of
        wheels are relative to their body [rad/s].
        """
        speeds = Speeds(velocity, rate, rate_deg_s, joints, joints_deg_s, wheels)
        return self.require_state(start_motion(self.layout, self.at_rest() if state is None else state, speeds))

    def require_state(self, state: State) -> State:
        """The state; raises an error unless its arrays have the right sizes, are finite, and the quaternion is unit."""
        if not isinstance(state, State):
            raise ModelError(f"Spacecraft '{self.name}' needs a State, for example craft.at_rest(), got {state!r}.")
        require_sound_state(self.layout, state)
        return state

    def _reject_taken_name(self, kind: str, name: str, taken: Sequence[str]) -> None:
        require_name(f"Spacecraft '{self.name}': a {kind}", name)
        if name in taken:
            raise ModelError(f"Spacecraft '{self.name}' already has a {kind} '{name}'. Choose another name.")


def _rigid_body(name: str, mass: float, com: ArrayLike, inertia: ArrayLike) -> RigidBody:
    """A rigid body that can exist by itself; a RigidBody of a user may be a part, with an inertia that no body has."""
    body = RigidBody(name=name, mass=mass, com=com, inertia=inertia)
    require_physical(f"Body '{name}'", body.mass, body.inertia)
    return body
