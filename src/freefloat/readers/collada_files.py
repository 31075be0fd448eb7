"""Triangle meshes from the visual scene of COLLADA files (.dae), in metres.

The reader takes positions of triangles, polygon lists and polygons, placed by the nodes of the visual scene. It applies
the unit of the file but not its up axis: in URDF a mesh is in the axes of the link, and other readers do the same.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np

from freefloat.readers.safe_xml import parse_xml
from freefloat.spatial.rotations import rotation_about

Triangles = tuple[np.ndarray, np.ndarray]
_MOST_NODES = 10_000  # instances of instances can multiply without bound


def read_collada(data: bytes, most: int) -> Triangles:
    """Vertices and faces of the scene; reading stops beyond `most` faces."""
    root = parse_xml(data)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    unit = root.find("asset/unit")
    scale = float(unit.get("meter", "1")) if unit is not None else 1.0
    meshes = {g.get("id", ""): _mesh(g) for g in root.findall("library_geometries/geometry")}
    placed = _placed_geometries(root) or [(name, np.eye(4)) for name in meshes]
    vertices, faces, points, count = [], [], 0, 0
    for name, X in placed:
        own, triangles = meshes[name]
        vertices.append((own @ X[:3, :3].T + X[:3, 3]) * scale)
        faces.append(triangles + points)
        points, count = points + len(own), count + len(triangles)
        if count > most:
            break
    return np.concatenate([np.zeros((0, 3)), *vertices]), np.concatenate([np.zeros((0, 3), dtype=int), *faces])


def _placed_geometries(root: ET.Element) -> list[tuple[str, np.ndarray]]:
    """Every geometry that the scene shows, with its 4x4 transformation."""
    shared = {node.get("id", ""): node for node in root.iter("node")}
    waiting = [(node, np.eye(4)) for scene in root.findall("library_visual_scenes/visual_scene") for node in scene]
    found, visited = [], 0
    while waiting:
        node, X = waiting.pop()
        visited += 1
        if visited > _MOST_NODES:
            raise ValueError(f"its scene has more than {_MOST_NODES} nodes")
        if node.tag == "instance_geometry":
            found.append((node.get("url", "").removeprefix("#"), X))
        elif node.tag == "instance_node":
            waiting.append((shared[node.get("url", "").removeprefix("#")], X))
        elif node.tag == "node":
            X = X @ _transformation(node)
            waiting += [(child, X) for child in node]
    return found


def _transformation(node: ET.Element) -> np.ndarray:
    """The product of a node's own transformations, in the order of the file."""
    X = np.eye(4)
    for element in node:
        step = np.eye(4)
        if element.tag == "matrix":
            step = _numbers(element).reshape(4, 4)
        elif element.tag == "translate":
            step[:3, 3] = _numbers(element)
        elif element.tag == "scale":
            step[:3, :3] = np.diag(_numbers(element))
        elif element.tag == "rotate":
            *axis, angle = _numbers(element)
            length = float(np.linalg.norm(axis))
            if length > 0.0:
                step[:3, :3] = np.asarray(rotation_about(np.array(axis) / length, np.deg2rad(angle)))
        X = X @ step
    return X


def _mesh(geometry: ET.Element) -> Triangles:
    """Positions and triangles of one geometry; empty without a mesh."""
    mesh = geometry.find("mesh")
    if mesh is None:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=int)
    positions = next(i for i in mesh.findall("vertices/input") if i.get("semantic") == "POSITION").get("source", "")
    source = next(s for s in mesh.findall("source") if s.get("id") == positions.removeprefix("#"))
    accessor, array = source.find("technique_common/accessor"), source.find("float_array")
    stride = int(accessor.get("stride", "3")) if accessor is not None else 3
    vertices = _numbers(array).reshape(-1, stride)[:, :3]
    faces = [_faces(part) for part in mesh if part.tag in ("triangles", "polylist", "polygons")]
    return vertices, np.concatenate([np.zeros((0, 3), dtype=int), *faces])


def _faces(part: ET.Element) -> np.ndarray:
    """Triangles of one primitive, as indices of vertices; a polygon becomes a fan."""
    inputs = part.findall("input")
    stride = 1 + max(int(i.get("offset", "0")) for i in inputs)
    offset = next(int(i.get("offset", "0")) for i in inputs if i.get("semantic") == "VERTEX")
    corners = [_numbers(p, int)[offset::stride] for p in part.findall("p")]
    if part.tag == "triangles":
        return np.concatenate([np.zeros(0, dtype=int), *corners]).reshape(-1, 3)
    if part.tag == "polylist":
        ends = np.cumsum(_numbers(part.find("vcount"), int))
        corners = np.split(np.concatenate([np.zeros(0, dtype=int), *corners]), ends)[:-1]
    fans = [(c[0], a, b) for c in corners if len(c) > 2 for a, b in pairwise(c[1:].tolist())]
    return np.array(fans, dtype=int).reshape(-1, 3)


def _numbers(element: ET.Element | None, kind: type = float) -> np.ndarray:
    text = "" if element is None or element.text is None else element.text
    return np.array(text.split(), dtype=kind)
