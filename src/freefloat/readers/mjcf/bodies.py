"""The document of links, joints and rotors from MuJoCo's model."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from freefloat.model.parts import JointLimits
from freefloat.readers.findings import Findings
from freefloat.readers.mjcf.compiling import CompiledModel
from freefloat.readers.mjcf.couplings import read_couplings, reject_tendons
from freefloat.readers.mjcf.looks import body_shapes
from freefloat.readers.mjcf.motors import motor_inertia, motor_limit, note_motors
from freefloat.readers.parsed import (
    Document,
    MassPoint,
    StatedJoint,
    StatedLink,
    StatedMimic,
    require_losses,
    require_spring,
    unused_name,
)
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_about, rotation_matrix

_FREE, _BALL, _SLIDE, _HINGE = range(4)  # of mjtJoint


def read_document(compiled: CompiledModel, findings: Findings, *, repair: bool) -> Document:
    """Document with every body as a link, in MuJoCo's order, which has parents first."""
    model, names = compiled.model, _Names(compiled.model)
    couplings = read_couplings(model, names.joints, findings, repair=repair)
    reject_tendons(model, findings, repair=repair)
    note_motors(model, findings)
    start = _first_link(model, names, findings)
    links = [StatedLink(name, *_contents(compiled, body)) for body, name in enumerate(names.bodies) if body >= start]
    joints: list[StatedJoint] = []
    for body in range(start + 1, model.nbody):
        chain = _Chain(model, names, body)
        joints += chain.joints(couplings, findings)
        links += [StatedLink(name, None) for name in chain.made]
    for site in range(model.nsite):
        body = int(model.site_bodyid[site])
        if model.site(site).name and body >= start:
            name = names.unused_link_name(model.site(site).name, findings)
            links.append(StatedLink(name, None))
            joints.append(
                _fixed_joint(names, names.bodies[body], name, _pose(model.site_pos[site], model.site_quat[site]))
            )
    rotors = {names.joints[joint]: motor_inertia(model, joint) for joint in range(model.njnt)}
    for name, inertia in rotors.items():
        if inertia < 0.0:
            findings.error(f"joint '{name}'", f"its armature, with its motors', is {inertia:g}. Give zero or more.")
    return Document(
        name=str(model.names[: model.names.find(b"\x00")], "utf-8").removeprefix("MuJoCo Model"),
        links={link.name: link for link in links},
        joints=tuple(joints),
        rotors={name: inertia for name, inertia in rotors.items() if inertia},
    )


class _Names:
    """Names of bodies and joints; unnamed ones get a name, and the names of links are unique."""

    def __init__(self, model: Any) -> None:
        self.bodies = [model.body(body).name or f"body_{body}" for body in range(model.nbody)]
        self.joints: list[str] = []
        for joint in range(model.njnt):
            name = model.joint(joint).name or f"{self.bodies[model.jnt_bodyid[joint]]}.joint"
            self.joints.append(unused_name(name, self.joints))
        self.links, self.fixed = set(self.bodies), set(self.joints)

    def unused_link_name(self, name: str, findings: Findings) -> str:
        new = unused_name(name, self.links)
        if new != name:
            findings.note(f"site '{name}'", f"it is called '{new}' here, because a body has its name.")
        self.links.add(new)
        return new

    def new_link_name(self, joint: str) -> str:
        name = unused_name(f"{joint}.body", self.links)
        self.links.add(name)
        return name

    def fixed_joint_name(self, child: str) -> str:
        name = unused_name(child, self.fixed)
        self.fixed.add(name)
        return name


def _first_link(model: Any, names: _Names, findings: Findings) -> int:
    """Index of the root: MuJoCo's world, or the only body on it if that is fixed or free."""
    first = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
    if len(first) != 1:
        return 0
    kinds = [int(model.jnt_type[model.body_jntadr[first[0]] + k]) for k in range(model.body_jntnum[first[0]])]
    if not kinds:
        findings.note(f"body '{names.bodies[first[0]]}'", "it was held to the ground; here it is the base, and floats.")
    return first[0] if not kinds or kinds == [_FREE] else 0


def _contents(compiled: CompiledModel, body: int) -> tuple[MassPoint | None, Any]:
    model, looks = compiled.model, partial(body_shapes, compiled.model, body)
    if body in compiled.masses:
        return compiled.masses[body], looks
    mass, inertia = float(model.body_mass[body]), np.diag(model.body_inertia[body])
    if body == 0 or (mass == 0.0 and not np.any(inertia)):
        return None, looks
    return MassPoint(mass, np.zeros(3), inertia).to_A(_pose(model.body_ipos[body], model.body_iquat[body])), looks


def _pose(position: np.ndarray, quat: np.ndarray) -> Pose:
    if np.array_equal(quat, [1.0, 0.0, 0.0, 0.0]):
        return Pose(position=np.array(position))
    return Pose(position=np.array(position), rotation=np.asarray(rotation_matrix(np.array(quat))))


def _fixed_joint(names: _Names, parent: str, child: str, X: Pose) -> StatedJoint:
    return StatedJoint(names.fixed_joint_name(child), "fixed", parent, child, X)


class _Chain:
    """The joints between a body and the one that carries it, one after the other.

    Joint k turns about the point r_k of the body. So the link after it sits at r_k, and the next joint, or the body
    itself, is placed from there.
    """

    def __init__(self, model: Any, names: _Names, body: int) -> None:
        self.model, self.names, self.body = model, names, body
        self.indices = [int(model.body_jntadr[body]) + k for k in range(model.body_jntnum[body])]
        self.made: list[str] = []

    def joints(self, couplings: dict[str, StatedMimic], findings: Findings) -> list[StatedJoint]:
        """Joints from the parent to the body."""
        model, name = self.model, self.names.bodies[self.body]
        parent = self.names.bodies[model.body_parentid[self.body]]
        X = _pose(model.body_pos[self.body], model.body_quat[self.body])
        if not self.indices:
            return [_fixed_joint(self.names, parent, name, X)]
        joints, at = [], np.zeros(3)
        for index in self.indices:
            kind, joint = int(model.jnt_type[index]), self.names.joints[index]
            point = np.array(model.jnt_pos[index]) if kind == _HINGE else np.zeros(3)
            last = index == self.indices[-1] and not np.any(point)
            child = name if last else self.names.new_link_name(joint)
            self.made += [] if last else [child]
            X_PJ = X @ Pose(position=point - at) @ _reference(model, index)
            joints.append(self._joint(index, joint, kind, parent, child, X_PJ, couplings.get(joint), findings))
            parent, X, at = child, Pose(), point
        if parent != name:
            joints.append(_fixed_joint(self.names, parent, name, Pose(position=-at)))
        return joints

    def _joint(
        self, index: int, name: str, kind: int, parent: str, child: str, X_PJ: Pose, mimic: Any, findings: Findings
    ) -> StatedJoint:
        model, owner, dof = self.model, f"joint '{name}'", int(self.model.jnt_dofadr[index])
        if kind == _FREE:
            return StatedJoint(name, "floating", parent, child, X_PJ)
        if kind == _BALL:
            findings.error(owner, "ball joints are not modelled. Write it as three hinges, with bodies between them.")
            return StatedJoint(name, "fixed", parent, child, X_PJ)
        damping, friction = float(model.dof_damping[dof]), float(model.dof_frictionloss[dof])
        require_losses(owner, damping, friction, findings)
        _require_linear(model, index, dof, owner, findings)
        require_spring(owner, float(model.jnt_stiffness[index]), findings)
        return StatedJoint(
            name,
            "revolute" if kind == _HINGE else "prismatic",
            parent,
            child,
            X_PJ,
            axis=np.array(model.jnt_axis[index]),
            damping=damping,
            friction=friction,
            limits=_limits(model, index, owner, findings),
            mimic=mimic,
            stiffness=float(model.jnt_stiffness[index]),
            rest=float(model.qpos_spring[model.jnt_qposadr[index]]),
        )


def _reference(model: Any, index: int) -> Pose:
    """Pose that moves the zero of a joint from MuJoCo's `ref`, where the file places the joint, to q = 0."""
    kind, axis = int(model.jnt_type[index]), np.array(model.jnt_axis[index])
    at = np.float64(model.qpos0[model.jnt_qposadr[index]])
    if kind == _HINGE and at:
        return Pose(position=np.zeros(3), rotation=np.asarray(rotation_about(axis, -at)))
    return Pose(position=-at * axis) if kind == _SLIDE and at else Pose()


def _require_linear(model: Any, index: int, dof: int, owner: str, findings: Findings) -> None:
    for field, place, what in (("dof_dampingpoly", dof, "damping"), ("jnt_stiffnesspoly", index, "stiffness")):
        numbers = getattr(model, field, None)
        if numbers is not None and np.any(numbers[place]):
            findings.error(owner, f"its {what} is not linear, which is not modelled. Give one number.")


def _limits(model: Any, index: int, owner: str, findings: Findings) -> JointLimits:
    lower, upper = (float(x) for x in model.jnt_range[index]) if model.jnt_limited[index] else (-np.inf, np.inf)
    if lower > upper:
        findings.error(owner, f"its range has lower {lower:g} above upper {upper:g}. Exchange them.")
        return JointLimits()
    return JointLimits(lower=lower, upper=upper, effort=motor_limit(model, index))
