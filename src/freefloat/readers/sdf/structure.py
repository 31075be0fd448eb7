"""Structure of a `<model>`: joints and frames between its links, from poses in the model's frame."""

from __future__ import annotations

import dataclasses

import numpy as np

from freefloat.readers.elements import XmlPart, named_parts
from freefloat.readers.findings import name_list
from freefloat.readers.parsed import Document, StatedJoint, StatedLink, unused_name
from freefloat.readers.sdf.frames import MODEL, PlacedPart, carrying_link, model_poses
from freefloat.readers.sdf.joints import read_joint
from freefloat.readers.sdf.values import StatedPose, child_text, pose_of
from freefloat.spatial import Pose

_COINCIDE = 1e-15  # [m and rotation entries]: frames this near are the same


class ModelStructure:
    """The links of a model, with the joints and frames that are placed relative to them."""

    def __init__(
        self,
        model: XmlPart,
        links: dict[str, StatedLink],
        placed: dict[str, tuple[str, StatedPose]],
        *,
        in_model_axes: bool,
    ) -> None:
        self.model, self.findings, self.links = model, model.findings, dict(links)
        self.placed = {name: PlacedPart(owner, pose, MODEL) for name, (owner, pose) in placed.items()}
        self.in_model_axes = in_model_axes

    def document(self) -> Document:
        """Document of the links, joints and frames, in the form of every reader."""
        stated, frames = named_parts(self.model, "joint"), named_parts(self.model, "frame")
        for part in stated:
            self._place(part, child_text(part, "child"), child_text(part, "child"))
        for part in frames:
            part.expect(("name", "attached_to"), ("pose",))
            given = (part.element.get("attached_to") or "").strip()
            self._place(part, given or self._canonical_link(), given or MODEL)
        poses, count = model_poses(self.placed, self.findings), len(self.links)
        joints = [joint for part in stated for joint in self._joint(part, poses)]
        read = {joint.name for joint in joints}
        whole = all(part.stated_name in read for part in stated) and len(stated) == len(
            self.model.element.findall("joint")
        )
        joints += [joint for part in frames for joint in self._frame(part, poses)]
        return Document(
            name=self.model.element.get("name", "").strip(),
            links=self.links,
            joints=tuple(joints),
            whole=whole and count == len(self.model.element.findall("link")),
        )

    def _canonical_link(self) -> str:
        """The link that the model's own frame moves with."""
        return (self.model.element.get("canonical_link") or "").strip() or next(iter(self.links), "")

    def _place(self, part: XmlPart, attached_to: str, relative_to: str) -> None:
        name = part.stated_name
        if name in self.placed:
            self.findings.error(part.name, f"{self.placed[name].owner} has its name. Rename one of them.")
        else:
            self.placed[name] = PlacedPart(part.name, pose_of(part), relative_to, attached_to)

    def _end_link(self, part: XmlPart, tag: str) -> str | None:
        """The link that `<parent>` or `<child>` names, directly or by a frame of it."""
        stated = child_text(part, tag)
        if stated == "world" and tag == "parent" and "world" not in self.placed:
            self.links.setdefault("world", StatedLink("world", None))
            return "world"
        link = carrying_link(stated, self.placed, self.links)
        if not stated:
            self.findings.error(part.name, f"it has no <{tag}>. Add <{tag}>...</{tag}>.")
        elif link is None:
            known = name_list(self.links)
            self.findings.error(part.name, f"its {tag} link '{stated}' does not exist. Links: {known}.")
        return link

    def _joint(self, part: XmlPart, poses: dict[str, Pose]) -> list[StatedJoint]:
        """The joint; if its frame is not that of the child link, also a body at the joint that carries the link."""
        parent, child, name = self._end_link(part, "parent"), self._end_link(part, "child"), part.stated_name
        if parent is None or child is None or name not in poses:
            return []
        X_MP, X_MC, X_MJ = poses[parent], poses[child], poses[name]
        stated = read_joint(part, poses, X_MJ, in_model_axes=self.in_model_axes)
        if stated is None:
            return []
        X_PJ, X_JC = X_MP.inverse() @ X_MJ, X_MJ.inverse() @ X_MC
        if stated.kind == "fixed":
            return [dataclasses.replace(stated, parent=parent, child=child, X_PJ=X_MP.inverse() @ X_MC)]
        if _coincide(X_JC):
            return [dataclasses.replace(stated, parent=parent, child=child, X_PJ=X_PJ)]
        made = unused_name(f"{name}.body", {*self.links, *self.placed})
        self.links[made] = StatedLink(made, None)
        carried = StatedJoint(unused_name(child, set(self.placed) - set(self.links)), "fixed", made, child, X_JC)
        return [dataclasses.replace(stated, parent=parent, child=made, X_PJ=X_PJ), carried]

    def _frame(self, part: XmlPart, poses: dict[str, Pose]) -> list[StatedJoint]:
        """Fixed joint of a frame, which is a link without mass; empty after a report."""
        name = part.stated_name
        if name in self.links or self.placed[name].owner != part.name:
            return []  # already reported
        link = carrying_link(name, self.placed, self.links)
        if link is None:
            given = self.placed[name].attached_to
            self.findings.error(part.name, f"it moves with '{given}', which does not exist. Correct attached_to.")
            return []
        self.links[name] = StatedLink(name, None)
        return [StatedJoint(name, "fixed", link, name, poses[link].inverse() @ poses[name])]


def _coincide(X: Pose) -> bool:
    return bool(
        np.max(np.abs(np.asarray(X.p))) <= _COINCIDE and np.max(np.abs(np.asarray(X.R) - np.eye(3))) <= _COINCIDE
    )
