"""Checks of where a joint or a frame sits: on a rigid body, at a node of a flexible body, on its rail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freefloat.model.modal import ModalBody
from freefloat.model.parts import Joint
from freefloat.values.errors import ModelError

if TYPE_CHECKING:
    from freefloat.model.spacecraft import Spacecraft


def require_node(craft: Spacecraft, body: str, node: str) -> None:
    """Raise an error if the body has no such node."""
    carrier = craft.body(body)
    if node and not isinstance(carrier, ModalBody):
        raise ModelError(f"Body '{body}' of spacecraft '{craft.name}' is rigid: it has no node '{node}'.")
    if node and isinstance(carrier, ModalBody):
        carrier.node(node)


def require_mountable(craft: Spacecraft, joint: Joint) -> None:
    """Raise an error for a joint on a flexible body without a node, or a carriage without a rail."""
    owner, parent = f"Joint '{joint.name}' of spacecraft '{craft.name}'", craft.body(joint.parent)
    require_node(craft, joint.parent, joint.node)
    if joint.kind == "rail":
        if joint.node:
            raise ModelError(f"{owner}: a carriage rides the rail of '{joint.parent}', not its node '{joint.node}'.")
        if not isinstance(parent, ModalBody) or parent.rail is None:
            raise ModelError(f"{owner}: a rail joint needs a parent with a rail; '{joint.parent}' has none.")
    elif isinstance(parent, ModalBody) and parent.modes and not joint.node:
        known = ", ".join(f"{joint.parent}.{n}" for n in parent.node_names) or "none"
        raise ModelError(
            f"{owner}: '{joint.parent}' is flexible, so the joint must sit at one of its nodes, which move with "
            f"it. Nodes: {known}."
        )
