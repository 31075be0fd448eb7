"""One `<joint>` of an SDF: its kind, axis, limits and losses."""

from __future__ import annotations

import numpy as np

from freefloat.model.parts import JointLimits
from freefloat.readers.elements import XmlPart
from freefloat.readers.findings import name_list
from freefloat.readers.parsed import StatedJoint, StatedMimic, require_losses, require_spring
from freefloat.readers.sdf.values import child_number, child_numbers, child_text
from freefloat.spatial import Pose

_KINDS = ("revolute", "continuous", "prismatic", "fixed")
_UNLIMITED = 1e16  # the specification's number for none
_SPLIT = "Write it as revolute joints with links between them."
_REMEDIES = {"ball": _SPLIT, "universal": _SPLIT, "revolute2": _SPLIT}


def read_joint(part: XmlPart, poses: dict[str, Pose], X_MJ: Pose, *, in_model_axes: bool) -> StatedJoint | None:
    """The joint, with its links not yet named; `in_model_axes`: an axis without a frame is in the model's axes."""
    part.expect(
        ("name", "type"),
        ("pose", "parent", "child", "axis", "axis2", "physics", "sensor", "gearbox_ratio", "thread_pitch"),
    )
    name, kind = part.stated_name, part.text("type")
    if kind is not None and kind not in _KINDS:
        remedy = _REMEDIES.get(kind, f"Types: {', '.join(_KINDS)}.")
        part.findings.error(part.name, f"type '{kind}' is not modelled. {remedy}")
        kind = "fixed"  # a stand-in, so that the tree can be checked too
    if kind is None:
        return None
    axis = part.child("axis")
    if kind == "fixed":
        return StatedJoint(name, "fixed", "", "", Pose())
    if axis is None:
        part.findings.error(part.name, "it has no <axis>. Add <axis><xyz>0 0 1</xyz></axis>.")
        return None
    axis.expect((), ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", "initial_position"))
    return StatedJoint(
        name,
        kind,  # pyright: ignore[reportArgumentType]
        "",
        "",
        Pose(),
        axis=_direction(axis, poses, X_MJ, in_model_axes=in_model_axes),
        limits=_limits(axis, kind),
        mimic=_mimic(axis),
        **_dynamics(axis),
    )


def _direction(axis: XmlPart, poses: dict[str, Pose], X_MJ: Pose, *, in_model_axes: bool) -> np.ndarray:
    """Direction of the axis in the joint's own frame, from any frame that it is expressed in."""
    xyz, default = child_numbers(axis, "xyz", (0.0, 0.0, 1.0)), np.array([0.0, 0.0, 1.0])
    if np.any(np.isnan(xyz)):
        return default
    if float(np.linalg.norm(xyz)) < 1e-12:
        axis.findings.error(axis.name, "<axis><xyz> is zero. Give a direction, for example '0 0 1'.")
        return default
    element = axis.element.find("xyz")
    frame = "" if element is None else (element.get("expressed_in") or "").strip()
    if child_text(axis, "use_parent_model_frame").lower() in ("true", "1") or (in_model_axes and not frame):
        frame = "__model__"
    if not frame:
        return xyz
    if frame not in poses:
        axis.findings.error(axis.name, f"<xyz> is expressed in '{frame}', which does not exist: {name_list(poses)}.")
        return xyz
    return np.asarray(X_MJ.R).T @ np.asarray(poses[frame].R) @ xyz


def _dynamics(axis: XmlPart) -> dict[str, float]:
    """Damping, dry friction and spring of a joint, by field name."""
    dynamics = axis.child("dynamics")
    if dynamics is None:
        return {}
    dynamics.expect((), ("damping", "friction", "spring_stiffness", "spring_reference"))
    damping, friction = child_number(dynamics, "damping", 0.0), child_number(dynamics, "friction", 0.0)
    require_losses(axis.name, damping, friction, axis.findings)
    stiffness, rest = child_number(dynamics, "spring_stiffness", 0.0), child_number(dynamics, "spring_reference", 0.0)
    require_spring(axis.name, stiffness, axis.findings)
    return {"damping": damping, "friction": friction, "stiffness": stiffness, "rest": rest}


def _limits(axis: XmlPart, kind: str) -> JointLimits:
    limit = axis.child("limit")
    if limit is None:
        return JointLimits()
    limit.expect((), ("lower", "upper", "effort", "velocity", "stiffness", "dissipation"))
    lower, upper = child_number(limit, "lower", -np.inf), child_number(limit, "upper", np.inf)
    rate, effort = child_number(limit, "velocity", np.inf), child_number(limit, "effort", np.inf)
    if np.any(np.isnan([lower, upper, rate, effort])):
        return JointLimits()  # a stand-in: the faults are noted
    # A negative value means no limit, by the specification.
    rate, effort = (np.inf if bound < 0.0 else bound for bound in (rate, effort))
    lower, upper = (np.sign(x) * np.inf if abs(x) >= _UNLIMITED else x for x in (lower, upper))
    if kind == "continuous":
        lower, upper = -np.inf, np.inf
    if lower > upper:
        axis.findings.error(axis.name, f"<limit> has lower {lower:g} above upper {upper:g}. Exchange them.")
        return JointLimits()
    return JointLimits(lower=float(lower), upper=float(upper), rate=float(rate), effort=float(effort))


def _mimic(axis: XmlPart) -> StatedMimic | None:
    """Coupling of a joint. SDF: q = multiplier (leader - reference) + offset."""
    mimic = axis.child("mimic")
    if mimic is None:
        return None
    mimic.expect(("joint", "axis"), ("multiplier", "offset", "reference"))
    leader = mimic.text("joint")
    ratio, offset, reference = (child_number(mimic, tag, 0.0) for tag in ("multiplier", "offset", "reference"))
    if leader is None or np.any(np.isnan([ratio, offset, reference])):
        return None
    return StatedMimic(leader, ratio, offset - ratio * reference)
