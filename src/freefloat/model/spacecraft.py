"""The spacecraft: a tree of bodies with joints, wheels and named frames, grown one part at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from freefloat.model.errors import ModelError, unknown_name
from freefloat.model.layout import Layout, layout_of
from freefloat.model.modal import ModalBody, modal_faults
from freefloat.model.parts import Frame, Joint, JointKind, JointLimits, RigidBody, Wheel
from freefloat.model.physical import is_traced, require_physical, require_rotation, unit_axis
from freefloat.model.shapes import Shape
from freefloat.model.state import State
from freefloat.spatial import Pose, record, static

Numbers = Sequence[float] | np.ndarray
HERE = Pose()


def _array(value: Any) -> Any:
    return np.asarray(value, dtype=float) if isinstance(value, (list, tuple, int, float, np.ndarray)) else value


@record
class Spacecraft:
    """Bodies in tree order: `bodies[0]` is the base, `joints[i]` carries `bodies[i + 1]`, parents come first.

    Every `with_...` returns a new spacecraft; nothing is changed in place.
    """

    name: str = static()
    bodies: tuple[RigidBody | ModalBody, ...]
    joints: tuple[Joint, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    frames: tuple[Frame, ...] = ()

    # ---- growing

    @staticmethod
    def from_base(name: str, *, mass: float, inertia: Numbers, com: Numbers = (0.0, 0.0, 0.0)) -> Spacecraft:
        """A spacecraft that is one free body, called `base`; inertia about the centre of mass [kg m2]."""
        return Spacecraft(name=name, bodies=(_rigid_body("base", mass, com, inertia),))

    def with_link(
        self,
        name: str,
        *,
        parent: str,
        joint: JointKind,
        mass: float,
        inertia: Numbers,
        com: Numbers = (0.0, 0.0, 0.0),
        at: Pose = HERE,
        axis: Numbers = (0.0, 0.0, 1.0),
        damping: float = 0.0,
        limits: JointLimits | None = None,
        joint_name: str | None = None,
    ) -> Spacecraft:
        """Add a rigid link on a joint of its own; `at` places the joint in the parent's frame."""
        body = _rigid_body(name, mass, com, inertia)
        connection = Joint(
            name=joint_name or name,
            kind=joint,
            parent=parent,
            X_PJ=at,
            axis=unit_axis(f"Joint '{joint_name or name}' of spacecraft '{self.name}'", _array(axis)),
            damping=damping,
            limits=limits or JointLimits(),
        )
        return self.with_body(body, connection)

    def with_body(self, body: RigidBody | ModalBody, joint: Joint) -> Spacecraft:
        """Add a body that exists already on a joint that exists already."""
        owner = f"Joint '{joint.name}' of spacecraft '{self.name}'"
        if joint.kind not in ("revolute", "prismatic", "fixed", "rail"):
            raise ModelError(f"{owner}: unknown kind '{joint.kind}'. Kinds: revolute, prismatic, fixed, rail.")
        if joint.parent not in self.body_names:
            raise unknown_name(self.name, "body", joint.parent, self.body_names)
        self._refuse_taken("body or frame", body.name, self.frame_names)
        self._refuse_taken("base, joint or wheel", joint.name, tuple(self.layout.velocities))
        self._check_mount(owner, joint)
        if isinstance(body, ModalBody) and not is_traced(body) and (faults := modal_faults(body)):
            raise ModelError(f"Flexible body '{body.name}': " + "; ".join(faults) + ".")
        require_rotation(owner, joint.X_PJ.R)  # pyright: ignore[reportArgumentType]
        joint = dataclasses.replace(joint, axis=unit_axis(owner, joint.axis))  # pyright: ignore[reportArgumentType]
        return dataclasses.replace(self, bodies=(*self.bodies, body), joints=(*self.joints, joint))

    def with_wheel(
        self,
        name: str,
        *,
        body: str = "base",
        axis: Numbers,
        inertia: float,
        max_torque: float = np.inf,
        max_momentum: float = np.inf,
    ) -> Spacecraft:
        """Add a reaction wheel; its mass and locked inertia are already part of the body that carries it."""
        owner = f"Wheel '{name}' of spacecraft '{self.name}'"
        if isinstance(self.body(body), ModalBody):
            raise ModelError(f"{owner}: '{body}' is flexible. Mount the wheel on a rigid body at one of its nodes.")
        if not inertia > 0.0 or not np.isfinite(inertia):
            raise ModelError(f"{owner}: inertia about the spin axis must be positive, got {inertia:g} kg m2.")
        spin = unit_axis(owner, _array(axis))
        locked = np.asarray(self.body(body).inertia)
        carried = sum((w.inertia * np.outer(w.axis, w.axis) for w in self.wheels_on(body)), np.zeros((3, 3)))
        if np.linalg.eigvalsh(locked - carried - inertia * np.outer(spin, spin))[0] <= 0.0:
            along, others = float(spin @ locked @ spin), float(spin @ carried @ spin)
            raise ModelError(
                f"{owner}: its {inertia:g} kg m2, with the {others:g} kg m2 of the other wheels, exceed the "
                f"{along:g} kg m2 that '{body}' has about the spin axis. "
                "The body's inertia includes its wheels, locked."
            )
        wheel = Wheel(
            name=name, body=body, axis=spin, inertia=inertia, max_torque=max_torque, max_momentum=max_momentum
        )
        return self.with_existing_wheel(wheel)

    def with_existing_wheel(self, wheel: Wheel) -> Spacecraft:
        """Add a wheel that exists already."""
        self.body(wheel.body)
        self._refuse_taken("base, joint or wheel", wheel.name, tuple(self.layout.velocities))
        return dataclasses.replace(self, wheels=(*self.wheels, wheel))

    def with_frame(self, name: str, *, body: str, at: Pose = HERE, node: str = "") -> Spacecraft:
        """Add a named frame fixed to a body, or to a node of a flexible one."""
        self._node(body, node)
        self._refuse_taken("body or frame", name, self.frame_names)
        require_rotation(f"Frame '{name}'", at.R)  # pyright: ignore[reportArgumentType]
        return dataclasses.replace(self, frames=(*self.frames, Frame(name=name, body=body, X_BF=at, node=node)))

    def with_shapes(self, body: str, *shapes: Shape) -> Spacecraft:
        """Say what a body looks like; replaces what was said before."""
        index = self.body_index(body)
        if isinstance(self.bodies[index], ModalBody):
            raise ModelError(f"Body '{body}' of '{self.name}' is flexible: it is drawn by its nodes or rail.")
        drawn = dataclasses.replace(self.bodies[index], shapes=shapes)
        return dataclasses.replace(self, bodies=(*self.bodies[:index], drawn, *self.bodies[index + 1 :]))

    def attach(
        self,
        other: Spacecraft | RigidBody | ModalBody,
        *,
        name: str,
        to: str = "base",
        at: Pose = HERE,
        joint: JointKind = "fixed",
        axis: Numbers = (0.0, 0.0, 1.0),
    ) -> Spacecraft:
        """Mount a body, or a spacecraft by its base, on a body, frame or node of this one: rigidly or on a joint."""
        from freefloat.model import composition

        return composition.attach(self, other, name=name, to=to, at=at, joint=joint, axis=axis)

    def grasp(self, payload: Spacecraft, *, name: str, hand: str, grip: str = "base") -> Spacecraft:
        """Hold a payload so that its frame `grip` coincides with our frame `hand`."""
        from freefloat.model import composition

        return composition.grasp(self, payload, name=name, hand=hand, grip=grip)

    def detach(self, body: str) -> tuple[Spacecraft, Spacecraft]:
        """Let go of a body and all it carries: what remains, and what left as a spacecraft of its own."""
        from freefloat.model import composition

        return composition.detach(self, body)

    def with_value(self, path: str, value: Any) -> Spacecraft:
        """Replace one number by its dotted path, for example `base.mass` or `arm.2.inertia`."""
        from freefloat.model import paths

        return paths.replace(self, path, value)

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
        """Where each joint and wheel stands in q and v."""
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

    def body(self, name: str) -> RigidBody | ModalBody:
        """The body of that name."""
        return self.bodies[self.body_index(name)]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if name not in self.joint_names:
            raise unknown_name(self.name, "joint", name, self.joint_names)
        return self.joints[self.joint_names.index(name)]

    def frame(self, name: str) -> Frame:
        """The frame of that name; every body's own frame is one too, and every node of a flexible body, `panel.tip`."""
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

    def at_rest(self, q: Numbers | None = None) -> State:
        """Base at the inertial origin, aligned, nothing moving; joints at q [rad, m] or at zero."""
        state = State(
            p_NB=np.zeros(3),
            quat_NB=np.array([1.0, 0.0, 0.0, 0.0]),
            q=np.zeros(self.layout.nq) if q is None else np.asarray(q, dtype=float),
            v=np.zeros(self.layout.nv),
        )
        return self.checked(state)

    def checked(self, state: State) -> State:
        """The state, if its arrays have this spacecraft's sizes and a unit quaternion; an error otherwise."""
        sizes = {"p_NB": 3, "quat_NB": 4, "q": self.layout.nq, "v": self.layout.nv}
        for field, size in sizes.items():
            shape = np.shape(getattr(state, field))
            if shape != (size,):
                raise ModelError(
                    f"State of spacecraft '{self.name}': {field} must have {size} numbers, got shape {shape}. "
                    f"Order: {', '.join(self.layout.order(field)) or 'none'}."
                )
        return state

    def _node(self, body: str, node: str) -> None:
        """Refuse a node that is not there."""
        carrier = self.body(body)
        if node and not isinstance(carrier, ModalBody):
            raise ModelError(f"Body '{body}' of spacecraft '{self.name}' is rigid: it has no node '{node}'.")
        if node and isinstance(carrier, ModalBody):
            carrier.node(node)

    def _check_mount(self, owner: str, joint: Joint) -> None:
        """A joint on a flexible body needs a node, a carriage needs a rail."""
        parent = self.body(joint.parent)
        self._node(joint.parent, joint.node)
        if joint.kind == "rail":
            if joint.node:
                raise ModelError(
                    f"{owner}: a carriage rides the rail of '{joint.parent}', not its node '{joint.node}'."
                )
            if not isinstance(parent, ModalBody) or parent.rail is None:
                raise ModelError(f"{owner}: a rail joint needs a parent with a rail; '{joint.parent}' has none.")
        elif isinstance(parent, ModalBody) and parent.modes and not joint.node:
            known = ", ".join(f"{joint.parent}.{n}" for n in parent.node_names) or "none"
            raise ModelError(
                f"{owner}: '{joint.parent}' is flexible, so the joint must sit at one of its nodes, which move with "
                f"it. Nodes: {known}."
            )

    def _refuse_taken(self, kind: str, name: str, taken: Sequence[str]) -> None:
        if not name:
            raise ModelError(f"Spacecraft '{self.name}': a {kind} needs a name.")
        if name in taken:
            raise ModelError(f"Spacecraft '{self.name}' already has a {kind} '{name}'. Choose another name.")


def _rigid_body(name: str, mass: float, com: Numbers, inertia: Numbers) -> RigidBody:
    com, inertia = _array(com), _array(inertia)
    if np.shape(inertia) == (3,):
        inertia = np.diag(inertia)
    if np.shape(com) != (3,):
        raise ModelError(f"Body '{name}': com must be three numbers, got shape {np.shape(com)}.")
    if np.shape(inertia) != (3, 3):
        raise ModelError(
            f"Body '{name}': inertia must be 3x3 or three principal moments, got shape {np.shape(inertia)}."
        )
    mass = float(mass) if isinstance(mass, int) else mass
    require_physical(f"Body '{name}'", mass, com, inertia)  # pyright: ignore[reportArgumentType]
    return RigidBody(name=name, mass=mass, com=com, inertia=inertia)  # pyright: ignore[reportArgumentType]
