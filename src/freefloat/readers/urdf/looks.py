"""Shapes from a URDF: `<visual>` boxes, cylinders, spheres, and meshes in STL, OBJ or COLLADA."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freefloat.model.shapes import Shape, Solid
from freefloat.readers import solids
from freefloat.readers.elements import XmlPart
from freefloat.readers.urdf.origins import origin_of


@dataclass(frozen=True)
class VisualContext:
    """Materials and mesh folder that the shapes of all links of a file share."""

    materials: dict[str, str]  # name -> colour
    folder: Path | None  # where mesh files are looked for

    @staticmethod
    def of(root: ET.Element, folder: Path | None) -> VisualContext:
        """Materials and mesh folder of a `<robot>` element."""
        return VisualContext({m.get("name", ""): _rgba(m) for m in root.findall("material")}, folder)

    def shape(self, part: XmlPart) -> Shape | None:
        """Shape of one `<visual>`, in the frame of its link; None after a fault."""
        pose, geometry = origin_of(part), solids.geometry_of(part)
        solid = None if geometry is None else self._solid(geometry)
        if solid is None:
            return None
        material, colour = part.element.find("material"), "tank"
        if material is not None:
            colour = _rgba(material) or self.materials.get(material.get("name", ""), "") or colour
        return solids.place_solid(solid, pose, colour)

    def _solid(self, part: XmlPart) -> Solid | None:
        tag = part.element.tag
        if tag in solids.SIZES:
            sizes = np.concatenate([part.numbers(name, count) for name, count in solids.SIZES[tag].items()])
            return solids.simple_solid(part, tag, sizes)
        if tag == "mesh":
            scale = part.numbers("scale", 3, (1.0, 1.0, 1.0))
            return solids.mesh_solid(part.element.get("filename", ""), scale, self.folder, "URDF")
        return solids.report_unknown_solid(part, tag)


def _rgba(material: ET.Element) -> str:
    colour = material.find("color")
    return "" if colour is None else solids.colour_of(colour.get("rgba", ""))
