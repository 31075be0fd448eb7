"""Values of an SDF: numbers and texts between tags, not in attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.readers.elements import XmlPart
from freefloat.spatial import Pose
from freefloat.spatial.rotations import from_roll_pitch_yaw, rotation_matrix


@dataclass(frozen=True)
class StatedPose:
    """A `<pose>`, and the frame it is relative to; empty if the file does not name one."""

    X: Pose
    relative_to: str = ""


def child_numbers(part: XmlPart, tag: str, default: tuple[float, ...]) -> np.ndarray:
    """Numbers between `<tag>` and `</tag>`; the default if there is no such child, NaN after a fault."""
    child = part.child(tag)
    if child is None:
        return np.array(default)
    return child.checked_numbers(f"<{part.element.tag}><{tag}>", child.element.text or "", len(default))


def child_number(part: XmlPart, tag: str, default: float) -> float:
    """One number between `<tag>` and `</tag>`."""
    return float(child_numbers(part, tag, (default,))[0])


def child_text(part: XmlPart, tag: str) -> str:
    """Text between `<tag>` and `</tag>`; empty if there is none."""
    child = part.child(tag)
    return "" if child is None else (child.element.text or "").strip()


def pose_of(part: XmlPart) -> StatedPose:
    """Pose of `<pose relative_to="...">x y z roll pitch yaw</pose>`, or with degrees, or a quaternion x y z w."""
    pose = part.child("pose")
    if pose is None:
        return StatedPose(Pose())
    relative_to = (pose.element.get("relative_to") or pose.element.get("frame") or "").strip()
    if pose.element.get("rotation_format", "euler_rpy").strip() == "quat_xyzw":
        numbers = pose.checked_numbers("<pose>", pose.element.text or "", 7)
        x, y, z, w = numbers[3:]
        length = float(np.linalg.norm(numbers[3:]))
        if not length > 1e-12:
            if not np.any(np.isnan(numbers)):
                part.findings.error(part.name, "<pose> has a quaternion that is zero. Give a unit quaternion.")
            return StatedPose(Pose(), relative_to)
        R = np.asarray(rotation_matrix(np.array([w, x, y, z]) / length))
        return StatedPose(Pose(position=numbers[:3], rotation=R), relative_to)
    if not (pose.element.text or "").strip():
        return StatedPose(Pose(), relative_to)
    numbers = pose.checked_numbers("<pose>", pose.element.text, 6)
    if np.any(np.isnan(numbers)):
        return StatedPose(Pose(), relative_to)  # a stand-in: the fault is noted
    rpy = numbers[3:]
    if pose.element.get("degrees", "false").strip().lower() in ("true", "1"):
        rpy = np.deg2rad(rpy)
    if not np.any(rpy):
        return StatedPose(Pose(position=numbers[:3]), relative_to)
    return StatedPose(Pose(position=numbers[:3], rotation=np.asarray(from_roll_pitch_yaw(rpy))), relative_to)
