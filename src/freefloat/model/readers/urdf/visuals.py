"""What a URDF says about looks: `<visual>` boxes, cylinders, spheres, and meshes in STL, OBJ or COLLADA.

Looks never make a file unusable: what cannot be drawn is a warning, and the body gets a default shape.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from freefloat.model.readers.mesh_files import MeshError, read_mesh
from freefloat.model.readers.urdf.bodies import Cluster
from freefloat.model.readers.urdf.findings import Findings
from freefloat.model.readers.urdf.xml import Part
from freefloat.model.shapes import Box, Cylinder, Ellipsoid, Mesh, Shape, Solid, triple
from freefloat.model.spacecraft import Spacecraft
from freefloat.spatial import Pose

_SIZES = {"box": {"size": 3}, "cylinder": {"radius": 1, "length": 1}, "sphere": {"radius": 1}}


def with_visuals(
    craft: Spacecraft, root: ET.Element, clusters: list[Cluster], folder: Path | None, findings: Findings
) -> Spacecraft:
    """The spacecraft with the looks of its links; `folder` is where mesh files are looked for."""
    links = {link.get("name", "").strip(): link for link in root.findall("link")}
    materials = {m.get("name", ""): _rgba(m) for m in root.findall("material")}
    for cluster in clusters:
        shapes = [
            _move_shape(shape, X_HL)
            for name, X_HL in cluster.placements.items()
            for shape in _shapes(links[name], name, materials, folder, findings)
        ]
        if shapes:
            craft = craft.with_shapes(cluster.name, *shapes)
    return craft


def _shapes(
    link: ET.Element, name: str, materials: dict[str, str], folder: Path | None, findings: Findings
) -> Iterator[Shape]:
    for visual in link.findall("visual"):
        # Faults of looks are collected apart and handed on as warnings.
        faults = Findings()
        part = Part(visual, f"link '{name}'", faults)
        pose, solid = part.origin(), None
        geometry = visual.find("geometry")
        try:
            solid = _solid(part, geometry, folder) if geometry is not None and len(geometry) else None
        except MeshError as fault:
            faults.error(part.name, str(fault))
        for fault in faults.errors:
            findings.warn(part.name, f"<visual> is not drawn: {fault.text}", minor=True)
        if solid is not None and not faults.errors:
            material = visual.find("material")
            colour = "tank"
            if material is not None:
                colour = _rgba(material) or materials.get(material.get("name", ""), "") or colour
            yield Shape(solid, triple(pose.p), _rows(pose.R), colour)


def _solid(part: Part, geometry: ET.Element, folder: Path | None) -> Solid | None:
    element = geometry[0]
    stated = Part(element, part.name, part.findings)
    if element.tag in _SIZES:
        sizes = np.concatenate([stated.numbers(name, count) for name, count in _SIZES[element.tag].items()])
        if np.any(sizes <= 0.0):
            part.findings.error(part.name, f"<{element.tag}> has a size that is not positive. Give positive numbers.")
            return None
        return {
            "box": lambda: Box(triple(sizes)),
            "cylinder": lambda: Cylinder(*sizes.tolist()),
            "sphere": lambda: Ellipsoid(triple(sizes.repeat(3))),
        }[element.tag]()
    if element.tag == "mesh":
        scale = stated.numbers("scale", 3, (1.0, 1.0, 1.0))
        vertices, faces = read_mesh(_find_mesh(element.get("filename", ""), folder))
        return Mesh(vertices * scale, faces)
    part.findings.error(part.name, f"<{element.tag}> is no shape. Shapes: box, cylinder, sphere, mesh.")
    return None


def _find_mesh(name: str, folder: Path | None) -> Path:
    """A mesh file by its URI: a path, `file://`, or `package://` looked for in the URDF's folder and above."""
    plain = name.removeprefix("file://")
    if Path(plain).is_absolute():
        return Path(plain)
    if folder is None:
        raise MeshError(f"'{name}' is relative, but the URDF came as text. Read it from its file.")
    inside = plain.removeprefix("package://")
    ways = [inside, inside.partition("/")[2]] if plain != inside else [plain]
    for place in (folder, *folder.parents):
        for way in filter(None, ways):
            if (place / way).is_file():
                return place / way
        if plain == inside:
            break  # a relative path is relative to the URDF only
    raise MeshError(f"there is no file '{name}'. Put it beside the URDF.")


def _rgba(material: ET.Element) -> str:
    colour = material.find("color")
    try:
        numbers = [float(x) for x in (colour.get("rgba", "") if colour is not None else "").split()][:3]
    except ValueError:
        return ""
    return "#" + "".join(f"{round(255 * min(max(x, 0.0), 1.0)):02x}" for x in numbers) if len(numbers) == 3 else ""


def _move_shape(shape: Shape, X_HL: Pose) -> Shape:
    R, p = np.asarray(X_HL.R), np.asarray(X_HL.p)
    return Shape(
        shape.solid, triple(R @ np.array(shape.position) + p), _rows(R @ np.array(shape.rotation)), shape.colour
    )


def _rows(R: object) -> tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]:
    x, y, z = np.asarray(R)
    return triple(x), triple(y), triple(z)
