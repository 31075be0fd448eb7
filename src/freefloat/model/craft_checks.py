"""Checks of the numbers of a whole spacecraft: bodies that are fixed together are checked as one body.

Traced numbers are unknown and pass: check again when they are known.
"""

import numpy as np

from freefloat.model.modal import ModalBody, require_possible_body
from freefloat.model.motors import require_rotors
from freefloat.model.physical_checks import require_physical
from freefloat.model.spacecraft import Spacecraft
from freefloat.spatial import Pose
from freefloat.values.arrays import is_traced
from freefloat.values.errors import ModelError


def require_possible_craft(craft: Spacecraft) -> None:
    """Raise an error for impossible bodies or wheels, and for numbers that are not finite."""
    if is_traced(craft):
        return
    for part in (*craft.bodies, *craft.joints, *craft.wheels, *craft.frames):
        require_possible_body(part)
    for joint in craft.joints:
        if not np.all(np.isfinite(joint.X_PJ.p)) or not abs(np.linalg.norm(joint.axis) - 1.0) < 1e-9:
            raise ModelError(f"Joint '{joint.name}' of spacecraft '{craft.name}': its axis must be a unit vector.")
        if min(float(joint.damping), float(joint.rotor_inertia)) < 0.0:
            raise ModelError(f"Joint '{joint.name}' of spacecraft '{craft.name}': its damping or rotor is negative.")
    for body in craft.body_names:
        require_possible_group(craft, body)
        require_rotors(craft, body)


def require_possible_group(craft: Spacecraft, body: str) -> None:
    """Raise an error for a rigid body that cannot exist together with the bodies that are fixed to it."""
    if is_traced(craft) or isinstance(craft.body(body), ModalBody):
        return
    root = _root(craft, craft.body_index(body))
    carried = craft.bodies[craft.parents[root]] if root else None
    group = [(craft.bodies[i], X) for i, X in _fixed_to(craft, root).items()]
    _require_outboard_mass(craft, body)
    for member, _ in group:
        if not float(member.mass) > 0.0 and not getattr(member, "massless", False):
            raise ModelError(f"Body '{member.name}': mass must be positive, got {float(member.mass):g} kg.")
    if root and craft.joints[root - 1].kind == "fixed" and isinstance(carried, ModalBody):
        return  # a part of a flexible body, which has inertia of its own
    mass = sum(float(member.mass) for member, _ in group)
    only_translates = root and craft.joints[root - 1].kind in ("prismatic", "rail")
    if mass == 0.0 or (only_translates and not any(np.any(member.inertia) for member, _ in group)):
        return  # the bodies that carry it, or that it carries, have the inertia; a point mass may slide
    com = sum(float(member.mass) * np.asarray(X.apply(member.com)) for member, X in group) / mass
    inertia = np.zeros((3, 3))
    for member, X in group:
        arm, R = np.asarray(X.apply(member.com)) - com, np.asarray(X.R)
        parallel = float(member.mass) * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        inertia += R @ np.asarray(member.inertia) @ R.T + parallel
    names = [f"'{member.name}'" for member, _ in group]
    owner = f"Body {names[0]}" if len(names) == 1 else f"Bodies {', '.join(names)}, fixed together"
    require_physical(owner, mass, inertia)


def _require_outboard_mass(craft: Spacecraft, body: str) -> None:
    """Raise an error for a massless link that carries no mass: any force would move it without bound."""
    index = craft.body_index(body)
    if not getattr(craft.bodies[index], "massless", False):
        return
    carried = {index}
    for other, parent in enumerate(craft.parents):
        carried |= {other} if parent in carried else set()
    if index == 0 or not any(float(craft.bodies[i].mass) > 0.0 for i in carried):
        raise ModelError(f"Body '{body}' is massless and carries no mass. Give it some, or hang a body on it.")


def _root(craft: Spacecraft, index: int) -> int:
    """The body that carries a group of rigid bodies that are fixed together."""
    while (
        index
        and craft.joints[index - 1].kind == "fixed"
        and not isinstance(craft.bodies[craft.parents[index]], ModalBody)
    ):
        index = craft.parents[index]
    return index


def _fixed_to(craft: Spacecraft, root: int) -> dict[int, Pose]:
    """The rigid bodies of a group with their poses in the frame of the first."""
    found = {root: Pose()}
    for index, joint in enumerate(craft.joints, start=1):
        parent = craft.parents[index]
        if parent in found and joint.kind == "fixed" and not isinstance(craft.bodies[index], ModalBody):
            found[index] = found[parent] @ joint.X_PJ
    return found
