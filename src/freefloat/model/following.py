"""Joints that follow others: which joints may lead, and position and rate of a joint with or without a coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from freefloat.model.parts import Joint
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.errors import ModelError

if TYPE_CHECKING:
    from freefloat.model.spacecraft import Spacecraft


def require_leaders(owner: str, joints: Sequence[Joint]) -> None:
    """Raise an error for a joint that follows no earlier joint, or a joint without a coordinate of its own."""
    before: dict[str, Joint] = {}
    for joint in joints:
        if joint.follows is not None:
            _require_leader(owner, joint, joint.follows.leader, before, joints)
        before[joint.name] = joint


def _require_leader(owner: str, joint: Joint, name: str, before: dict[str, Joint], joints: Sequence[Joint]) -> None:
    leader, start = before.get(name), f"Joint '{joint.name}' of spacecraft '{owner}' cannot follow '{name}'"
    if name == joint.name:
        raise ModelError(f"{start}: that is itself. Leave follows out, or name another joint.")
    if leader is None and any(other.name == name for other in joints):
        raise ModelError(f"{start}, which comes after it. Add '{name}' first, or let it follow '{joint.name}'.")
    if leader is None:
        raise ModelError(f"{start}: there is no joint '{name}'. {_possible_leaders(before)}")
    if leader.follows is not None:
        raise ModelError(
            f"{start}, which itself follows '{leader.follows.leader}'. Follow that one. {_possible_leaders(before)}"
        )
    if leader.dofs != 1 or leader.kind == "rail":
        raise ModelError(f"{start}, which is {leader.kind}. {_possible_leaders(before)}")


def _possible_leaders(before: dict[str, Joint]) -> str:
    able = [joint.name for joint in before.values() if joint.dofs and joint.kind != "rail"]
    return f"Joints that can lead: {', '.join(able) or 'none'}."


def joint_place(craft: Spacecraft, joint: str) -> tuple[int, Numeric | float | None]:
    """Index into v of the rate that moves a joint, and the joint's rate per unit of it; None: the rate is its own."""
    follows = craft.joint(joint).follows
    if follows is None:
        return craft.layout.velocity(joint).start, None
    return craft.layout.velocity(follows.leader).start, follows.ratio


def joint_position(craft: Spacecraft, q: Vector, joint: str) -> Scalar:
    """Position of a moving joint [rad, m], from its own coordinate or from that of its leader."""
    follows = craft.joint(joint).follows
    if follows is None:
        return q[craft.layout.position(joint).start]
    return follows.ratio * q[craft.layout.position(follows.leader).start] + follows.offset
