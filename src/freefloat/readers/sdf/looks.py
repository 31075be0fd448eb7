"""Shapes from an SDF: `<visual>` boxes, cylinders, spheres, and meshes in STL, OBJ or COLLADA."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from freefloat.model.shapes import Shape, Solid
from freefloat.readers import solids
from freefloat.readers.elements import XmlPart
from freefloat.readers.findings import Findings
from freefloat.readers.sdf.values import child_numbers, child_text, pose_of


def link_shapes(link: ET.Element, name: str, folder: Path | None, findings: Findings) -> Iterator[Shape]:
    """Shapes of one link, in its own frame."""
    for visual in link.findall("visual"):

        def draw(faults: Findings, visual: ET.Element = visual) -> Shape | None:
            return _shape(XmlPart(visual, f"link '{name}'", faults), folder)

        yield from solids.draw_or_warn(f"link '{name}'", draw, findings)


def _shape(part: XmlPart, folder: Path | None) -> Shape | None:
    pose, geometry = pose_of(part), part.element.find("geometry")
    solid = (
        _solid(XmlPart(geometry[0], part.name, part.findings), folder)
        if geometry is not None and len(geometry)
        else None
    )
    if solid is None:
        return None
    material, colour = part.child("material"), ""
    if material is not None:
        colour = solids.colour_of(child_text(material, "diffuse") or child_text(material, "ambient"))
    return solids.place_solid(solid, pose.X, colour or "tank")


def _solid(part: XmlPart, folder: Path | None) -> Solid | None:
    tag = part.element.tag
    if tag in solids.SIZES:
        sizes = [child_numbers(part, name, (np.nan,) * count) for name, count in solids.SIZES[tag].items()]
        if np.any(np.isnan(np.concatenate(sizes))):
            part.findings.error(part.name, f"<{tag}> needs {' and '.join(solids.SIZES[tag])}.")
            return None
        return solids.simple_solid(part, tag, np.concatenate(sizes))
    if tag == "mesh":
        return solids.mesh_solid(child_text(part, "uri"), child_numbers(part, "scale", (1.0, 1.0, 1.0)), folder, "SDF")
    return solids.report_unknown_solid(part, tag)
