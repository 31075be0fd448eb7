"""Joining and separating spacecraft: mount an appendage or an arm, grasp a payload, detach it."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from freefloat.model.modal import ModalBody
from freefloat.model.parts import Follow, Frame, Joint, RigidBody, Wheel
from freefloat.model.placement import require_pose
from freefloat.model.spacecraft import Spacecraft
from freefloat.spatial import PoseLike
from freefloat.values.arrays import is_traced
from freefloat.values.errors import ModelError


def mount(
    host: Spacecraft, other: Spacecraft | RigidBody | ModalBody, *, name: str, to: str, at: PoseLike, **motion: Any
) -> Spacecraft:
    """Mount `other` on a body, frame or node of `host`; its base becomes the body `name`, its parts `name.part`.

    `motion` describes the joint in between: kind (`joint`), axis, damping, friction, rotor inertia, limits.
    """
    carrier = host.frame(to)
    if not isinstance(other, (Spacecraft, RigidBody, ModalBody)):
        raise ModelError(f"Only a Spacecraft, a RigidBody or a flexible body can be mounted, got {other!r}.")
    if not isinstance(other, Spacecraft):
        other = Spacecraft(name=name, bodies=(dataclasses.replace(other, name="base"),))
    rename = {b: name if b == "base" else f"{name}.{b}" for b in other.body_names}
    connection = Joint(
        name=name,
        kind=motion.pop("joint", "fixed"),
        parent=carrier.body,
        X_PJ=carrier.X_BF @ require_pose(f"Joint '{name}'", at),
        axis=motion.pop("axis", (0.0, 0.0, 1.0)),
        node=carrier.node,
        **motion,
    )
    _reject_fixed_motion(connection)
    joined = host.with_body(dataclasses.replace(other.bodies[0], name=name), connection)
    for body, link in zip(other.bodies[1:], other.joints, strict=True):
        joined = joined.with_body(
            dataclasses.replace(body, name=rename[body.name]),
            dataclasses.replace(
                link,
                name=f"{name}.{link.name}",
                parent=rename[link.parent],
                follows=_rename_leader(link, lambda leader: f"{name}.{leader}"),
            ),
        )
    for wheel in other.wheels:
        joined = joined.with_existing_wheel(
            dataclasses.replace(wheel, name=f"{name}.{wheel.name}", body=rename[wheel.body])
        )
    for frame in other.frames:
        joined = joined.with_frame(f"{name}.{frame.name}", body=rename[frame.body], at=frame.X_BF, node=frame.node)
    return joined


def grasp(host: Spacecraft, payload: Spacecraft, *, name: str, hand: str, grip: str) -> Spacecraft:
    """Attach a payload so that its frame `grip`, on its base, coincides with the host's frame `hand`."""
    if not isinstance(payload, Spacecraft):
        raise ModelError(f"Only a Spacecraft can be grasped, got {payload!r}. Mount a body instead.")
    held = payload.frame(grip)
    if held.body != "base":
        raise ModelError(
            f"Grasping '{payload.name}' by '{grip}' would re-root its tree: that frame is on '{held.body}'. "
            "Grasp it by a frame of its base."
        )
    return mount(host, payload, name=name, to=hand, at=held.X_BF.inverse())


def detach(craft: Spacecraft, body: str) -> tuple[Spacecraft, Spacecraft]:
    """Cut the tree above a body: the spacecraft that remains, and the one that leaves, with that body as its base."""
    root = craft.body_index(body)
    if root == 0:
        raise ModelError(f"Spacecraft '{craft.name}': the base cannot be detached from itself.")
    gone = {root}
    for index, parent in enumerate(craft.parents):
        if parent in gone:
            gone.add(index)
    leaving = {craft.body_names[i] for i in gone}
    _reject_cut_couplings(craft, root, gone)
    stays = [i for i in range(len(craft.bodies)) if i not in gone]
    remaining = dataclasses.replace(
        craft,
        bodies=tuple(craft.bodies[i] for i in stays),
        joints=tuple(craft.joints[i - 1] for i in stays if i),
        wheels=tuple(w for w in craft.wheels if w.body not in leaving),
        frames=tuple(f for f in craft.frames if f.body not in leaving),
    )
    return remaining, _subtree(craft, root, sorted(gone))


def _reject_fixed_motion(joint: Joint) -> None:
    """Raise an error for a fixed joint with damping, friction or a rotor: the kind of joint was left out."""
    if joint.kind != "fixed" or is_traced(joint):
        return
    if given := [name for name in ("damping", "friction", "rotor_inertia") if np.any(getattr(joint, name))]:
        raise ModelError(f"Joint '{joint.name}' is fixed: it has no {given[0]}. Say joint='revolute' and its axis.")


def _rename_leader(joint: Joint, rename: Callable[[str], str]) -> Follow | None:
    """The leader of a joint after all joints were renamed; None if the joint follows none."""
    follows = joint.follows
    return None if follows is None else dataclasses.replace(follows, leader=rename(follows.leader))


def _reject_cut_couplings(craft: Spacecraft, root: int, gone: set[int]) -> None:
    """Raise an error if a cut separates joints that share a coordinate; the joint at the cut disappears."""
    fates = {
        name: "is cut" if i == root else "leaves" if i in gone else "stays"
        for i, name in enumerate(craft.joint_names, start=1)
    }
    for joint in craft.joints:
        if joint.follows is None or fates[joint.name] in ("is cut", fates[joint.follows.leader]):
            continue
        raise ModelError(
            f"Spacecraft '{craft.name}': detaching '{craft.body_names[root]}' would part joint '{joint.name}' from "
            f"'{joint.follows.leader}', which it follows. Detach a body that carries both or neither."
        )


def _subtree(craft: Spacecraft, root: int, indices: list[int]) -> Spacecraft:
    """The subtree below a body as a spacecraft; names `name.part` lose the prefix that mounting gives them."""
    prefix = craft.body_names[root] + "."

    def strip_prefix(name: str) -> str:
        return "base" if name == craft.body_names[root] else name.removeprefix(prefix)

    def rename_part(part: Wheel | Frame) -> Wheel | Frame:
        return dataclasses.replace(part, name=part.name.removeprefix(prefix), body=strip_prefix(part.body))

    names = {craft.body_names[i] for i in indices}
    return Spacecraft(
        name=craft.body_names[root],
        bodies=tuple(dataclasses.replace(craft.bodies[i], name=strip_prefix(craft.body_names[i])) for i in indices),
        joints=tuple(
            dataclasses.replace(
                j,
                name=j.name.removeprefix(prefix),
                parent=strip_prefix(j.parent),
                follows=_rename_leader(j, lambda leader: leader.removeprefix(prefix)),
            )
            for j in (craft.joints[i - 1] for i in indices if i != root)
        ),
        wheels=tuple(rename_part(w) for w in craft.wheels if w.body in names),  # pyright: ignore[reportArgumentType]
        frames=tuple(rename_part(f) for f in craft.frames if f.body in names),  # pyright: ignore[reportArgumentType]
    )
