"""Shapes from an SDF: `<visual>` boxes, cylinders, spheres, and meshes in STL, OBJ or COLLADA."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from freefloat.model.shapes import Shape, Solid
from freefloat.readers import solids
from freefloat.readers.elements import XmlPart
from freefloat.readers.sdf.values import child_numbers, child_text, pose_of


def shape_of(part: XmlPart, folder: Path | None) -> Shape | None:
    """Shape of one `<visual>`, in the frame of its link; None after a fault."""
    pose, geometry = pose_of(part), solids.geometry_of(part)
    solid = None if geometry is None else _solid(geometry, folder)
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
