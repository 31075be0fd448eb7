"""Triangle meshes from STL (text and binary), Wavefront OBJ and COLLADA."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.parsers.expat import ExpatError

import numpy as np

from freefloat.readers.collada_files import read_collada

Triangles = tuple[np.ndarray, np.ndarray]  # vertices (n, 3), faces (m, 3)
_MOST = 200_000  # triangles; more would make every page heavy


class MeshError(ValueError):
    """A mesh file cannot be drawn; the message says why."""


def read_mesh(path: Path) -> Triangles:
    """Vertices and triangles of a mesh file."""
    readers = {".stl": _read_stl, ".obj": _read_obj, ".dae": lambda data: read_collada(data, _MOST)}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise MeshError(f"'{path.name}' is no STL, OBJ or DAE file, which are the formats that are read. Convert it.")
    try:
        with np.errstate(all="ignore"):  # numbers that are not finite are found below
            vertices, faces = reader(path.read_bytes())
    except (KeyError, StopIteration) as fault:
        raise MeshError(f"'{path.name}' lacks a part that it refers to: {fault}. Export it again.") from None
    except (OSError, ValueError, IndexError, ExpatError, SyntaxError) as fault:
        raise MeshError(f"'{path.name}' cannot be read: {fault}.") from None
    if not len(faces) or not np.isfinite(vertices).all() or faces.max() >= len(vertices) or faces.min() < 0:
        raise MeshError(f"'{path.name}' has no sound triangles. Export it again.")
    if len(faces) > _MOST:
        raise MeshError(f"'{path.name}' has {len(faces)} triangles, more than {_MOST}. Simplify it.")
    return vertices, faces


def _read_stl(data: bytes) -> Triangles:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else 0
    if len(data) >= 84 and len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, record, count, 84)["corners"].astype(float).reshape(-1, 3)
    else:
        lines = data.decode("utf-8", errors="replace").splitlines()
        rows = [line.split()[1:4] for line in lines if line.lstrip().startswith("vertex")]
        corners = np.array(rows, dtype=float).reshape(-1, 3)
    vertices, indices = np.unique(corners, axis=0, return_inverse=True)
    return vertices, indices.reshape(-1, 3)


def _read_obj(data: bytes) -> Triangles:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in data.decode("utf-8", errors="replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            # Indices count from one, or from the end when negative; a polygon becomes a fan.
            corners = [int(word.split("/")[0]) for word in words[1:]]
            corners = [i - 1 if i > 0 else len(vertices) + i for i in corners]
            faces += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    return np.array(vertices, dtype=float).reshape(-1, 3), np.array(faces, dtype=int).reshape(-1, 3)
