"""Solids, meshes and colours of robot files. Their faults are only warnings, as shapes do not act on the motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from freefloat.model.shapes import Box, Cylinder, Ellipsoid, Mesh, Shape, Solid, triple
from freefloat.readers.elements import XmlPart
from freefloat.readers.findings import Findings
from freefloat.readers.mesh_files import MeshError, read_mesh
from freefloat.spatial import Pose

SIZES = {"box": {"size": 3}, "cylinder": {"radius": 1, "length": 1}, "sphere": {"radius": 1}}


def visual_shapes(link: XmlPart, shape_of: Callable[[XmlPart], Shape | None], findings: Findings) -> Iterator[Shape]:
    """Shapes of the `<visual>` elements of a link, in its own frame; their faults are reported as warnings."""
    for visual in link.element.findall("visual"):
        part, shape = XmlPart(visual, link.name, Findings()), None
        try:
            shape = shape_of(part)
        except MeshError as fault:
            part.findings.error(link.name, str(fault))
        for fault in part.findings.errors:
            findings.warn(link.name, f"<visual> is not drawn: {fault.text}", minor=True)
        if shape is not None and not part.findings.errors:
            yield shape


def geometry_of(visual: XmlPart) -> XmlPart | None:
    """The element in the `<geometry>` of a `<visual>`; None if there is none."""
    geometry = visual.element.find("geometry")
    return None if geometry is None or not len(geometry) else XmlPart(geometry[0], visual.name, visual.findings)


def simple_solid(part: XmlPart, tag: str, sizes: np.ndarray) -> Solid | None:
    """A box, cylinder or ball from its sizes."""
    if np.any(sizes <= 0.0):
        part.findings.error(part.name, f"<{tag}> has a size that is not positive. Give positive numbers.")
        return None
    if tag == "box":
        return Box(triple(sizes))
    return Cylinder(*sizes.tolist()) if tag == "cylinder" else Ellipsoid(triple(sizes.repeat(3)))


def report_unknown_solid(part: XmlPart, tag: str) -> None:
    """Report that an element is not a shape that can be drawn."""
    part.findings.error(part.name, f"<{tag}> is no shape. Shapes: box, cylinder, sphere, mesh.")


def mesh_solid(name: str, scale: np.ndarray, folder: Path | None, language: str) -> Mesh:
    """Mesh that a URI names; `folder` is that of the robot file, None for XML text."""
    vertices, faces = read_mesh(_find_mesh(name, folder, language))
    return Mesh(vertices * scale, faces)


def _find_mesh(name: str, folder: Path | None, language: str) -> Path:
    """Path of a mesh file from its URI: a path, `file://`, or `package://` and `model://` in folders above."""
    plain = name.removeprefix("file://")
    if Path(plain).is_absolute():
        return Path(plain)
    if folder is None:
        raise MeshError(f"'{name}' is relative, but the {language} came as text. Read it from its file.")
    inside = plain.removeprefix("package://").removeprefix("model://")
    ways = [inside, inside.partition("/")[2]] if plain != inside else [plain]
    for place in (folder, *folder.parents):
        for way in filter(None, ways):
            if _is_file(place / way):
                return place / way
        if plain == inside:
            break  # a relative path is relative to the file only
    raise MeshError(f"there is no file '{name}'. Put it beside the {language}.")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a null character
        return False


def place_solid(solid: Solid, pose: Pose, colour: str) -> Shape:
    """Shape of a solid at a pose."""
    x, y, z = np.asarray(pose.R)
    return Shape(solid, triple(pose.p), (triple(x), triple(y), triple(z)), colour)


def colour_of(text: str) -> str:
    """Colour `#rrggbb` from a text of red, green and blue between 0 and 1; empty if they are not numbers."""
    try:
        numbers = [float(x) for x in text.split()][:3]
    except ValueError:
        return ""
    if len(numbers) < 3 or not np.all(np.isfinite(numbers)):
        return ""
    return "#" + "".join(f"{round(255 * min(max(x, 0.0), 1.0)):02x}" for x in numbers)
