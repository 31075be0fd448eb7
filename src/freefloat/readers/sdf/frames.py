"""Poses of links, joints and frames of a model: given relative to one another, resolved to the model's frame."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from freefloat.readers.findings import Findings, name_list
from freefloat.readers.sdf.values import StatedPose
from freefloat.spatial import Pose

MODEL = "__model__"


@dataclass(frozen=True)
class PlacedPart:
    """A link, joint or frame with its pose, and the part that it moves with."""

    owner: str  # for messages: "link 'arm'"
    pose: StatedPose
    default: str  # frame that the pose is relative to by default
    attached_to: str = ""  # a link, joint or frame; empty for links, which move by themselves


def model_poses(placed: dict[str, PlacedPart], findings: Findings) -> dict[str, Pose]:
    """Poses of all parts in the model's frame; a part that cannot be placed is reported, and gets the model's frame."""
    poses = {MODEL: Pose(), "world": Pose()}
    for name in placed:
        chain, seen = [], set[str]()
        at = name
        while at not in poses:
            if at not in placed or at in seen:
                why = "which does not exist" if at not in placed else "which is relative to it in turn"
                known = f" There are: {name_list(placed)}." if at not in placed else ""
                child = chain[-1] if chain else name
                findings.error(placed[child].owner, f"its <pose> is relative to '{at}', {why}. Correct it.{known}")
                poses[at] = Pose()
                break
            seen.add(at)
            chain.append(at)
            at = placed[at].pose.relative_to or placed[at].default
        for link in reversed(chain):
            to = placed[link].pose.relative_to or placed[link].default
            poses[link] = poses.get(to, Pose()) @ placed[link].pose.X
    return poses


def carrying_link(name: str, placed: dict[str, PlacedPart], links: Collection[str]) -> str | None:
    """Name of the link that a link, joint or frame moves with; None if there is none."""
    seen = set[str]()
    while name not in links:
        if name in seen or name not in placed:
            return None
        seen.add(name)
        name = placed[name].attached_to
    return name
