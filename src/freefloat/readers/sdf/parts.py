"""Links as an SDF states them, each checked by itself, and the one model that holds them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import numpy as np

from freefloat.readers.elements import XmlPart, named_parts
from freefloat.readers.findings import Findings, name_list
from freefloat.readers.parsed import Document, MassPoint, StatedLink, stated_mass
from freefloat.readers.sdf.looks import shape_of
from freefloat.readers.sdf.structure import ModelStructure
from freefloat.readers.sdf.values import child_number, child_text, pose_of
from freefloat.readers.solids import visual_shapes

_LINK = (
    *("pose", "inertial", "visual", "collision", "gravity", "self_collide", "kinematic", "enable_wind", "sensor"),
    *("velocity_decay", "must_be_base_link", "light", "audio_sink", "audio_source", "battery", "projector"),
)
_MODEL = (
    *("pose", "link", "joint", "frame", "static", "self_collide", "allow_auto_disable", "enable_wind", "plugin"),
    *("model", "include", "gripper"),
)


def read_document(root: ET.Element, folder: Path | None, findings: Findings) -> Document | None:
    """Document of the file's only model; None, with findings, if there is not exactly one."""
    found = [*root.findall("model"), *root.findall("world/model")]
    if len(found) != 1:
        names = name_list([model.get("name", "?") for model in found])
        findings.error("sdf", f"it has {len(found)} models ({names}). Give a file with one <model>.")
        return None
    model = XmlPart(found[0], "model", findings)
    model.expect(("name", "canonical_link", "placement_frame"), _MODEL)
    for tag in ("model", "include"):
        for inner in found[0].findall(tag):
            what = inner.get("name") or child_text(XmlPart(inner, "model", findings), "uri")
            findings.error("model", f"it has a <{tag}> ('{what}'). Nested models are not read: write one model.")
    parts = named_parts(model, "link")
    links = {part.stated_name: _link(part, folder) for part in parts}
    placed = {part.stated_name: (part.name, pose_of(part)) for part in parts}
    return ModelStructure(model, links, placed, in_model_axes=_version(root) < (1, 5)).document()


def _version(root: ET.Element) -> tuple[int, ...]:
    """Version of the SDF format; before 1.5 an axis was in the model's axes."""
    words = (root.get("version") or "1.9").strip().split(".")
    return tuple(int(word) for word in words[:2]) if all(w.isdecimal() and len(w) < 6 for w in words[:2]) else (1, 9)


def _link(part: XmlPart, folder: Path | None) -> StatedLink:
    part.expect(("name",), _LINK)
    looks = partial(visual_shapes, part, partial(shape_of, folder=folder))
    return StatedLink(part.stated_name, _inertial(part), looks)


def _inertial(link: XmlPart) -> MassPoint | None:
    """Mass of a link; by the specification 1 kg and 1 kg m2 where nothing is stated."""
    part = link.child("inertial")
    if part is None:
        link.findings.note(link.name, "it has no <inertial>, which in SDF means 1 kg and 1 kg m2.")
        return MassPoint(1.0, np.zeros(3), np.eye(3))
    if part.element.get("auto", "false").strip().lower() in ("true", "1"):
        part.findings.error(part.name, "<inertial auto> leaves the mass to the simulator. State mass and inertia.")
        return None
    part.expect(("auto",), ("pose", "mass", "inertia", "density", "fluid_added_mass"))
    stated, kg, inertia = pose_of(part), child_number(part, "mass", 1.0), part.child("inertia")
    if stated.relative_to:
        part.findings.error(part.name, "<pose> of <inertial> is relative to its link. Remove relative_to.")
    if part.child("fluid_added_mass") is not None:
        part.findings.error(part.name, "<fluid_added_mass> is not modelled. Remove it.")
    matrix = np.eye(3)
    if inertia is not None:
        inertia.expect((), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        xx, yy, zz = (child_number(inertia, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
        xy, xz, yz = (child_number(inertia, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return stated_mass(part.name, kg, matrix, stated.X, part.findings)
